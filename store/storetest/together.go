package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

var togetherTests = []test{
	{"ManyWriters", func(t *testing.T, store hearken.Store) {
		const writers, rounds = 8, 12
		shared := session(100)
		save(t, store, shared)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				own := session(w + 1)
				for line := 1; line <= rounds; line++ {
					g := said(own, line, fmt.Sprintf("apple number %d", line))
					if err := store.Save(t.Context(), own, []hearken.Segment{g}); err != nil {
						t.Errorf("save: %v", err)
					}
					// Everybody saves the same lines of this one.
					if err := store.Save(t.Context(), shared, []hearken.Segment{said(shared, line, "pear")}); err != nil {
						t.Errorf("save: %v", err)
					}
				}
			})
			all.Go(func() {
				for range rounds {
					if _, err := store.Search(t.Context(), hearken.Query{Text: "apple number"}); err != nil {
						t.Errorf("search: %v", err)
					}
					list, err := store.Sessions(t.Context(), hearken.SessionFilter{})
					if err != nil {
						t.Errorf("sessions: %v", err)
					}
					for _, s := range list {
						if _, err := store.Segments(t.Context(), s.ID, 1, 100, true); err != nil {
							t.Errorf("segments: %v", err)
						}
					}
				}
			})
		}
		all.Wait()
		for w := range writers {
			equal(t, rounds, len(segments(t, store, id(w+1), 1, 100, false)))
		}
		equal(t, rounds, len(segments(t, store, shared.ID, 1, 100, false)))
		equal(t, writers*rounds, len(search(t, store, hearken.Query{Text: "apple", Limit: 1000})))
		equal(t, rounds, len(search(t, store, hearken.Query{Text: "pear", Limit: 1000})))
	}},
	{"Race", func(t *testing.T, store hearken.Store) { Race(t, store) }},
	{"Actions", func(t *testing.T, store hearken.Store) {
		const writers, rounds = 8, 10
		var all sync.WaitGroup
		var forgotten atomic.Int64
		for w := range writers {
			all.Go(func() {
				for n := range rounds {
					a := message(w*rounds + n + 1)
					a.Evidence = []hearken.Evidence{{Arg: "text"}}
					for _, state := range []hearken.ActionState{hearken.ActionPending, hearken.ActionApproved, hearken.ActionDone} {
						a.State = state
						if state.Final() {
							a.EndedAt = new(noon.Add(time.Duration(n%2) * time.Hour))
						}
						if saved, err := store.SaveAction(t.Context(), a); err != nil || !saved {
							t.Errorf("save action: %t, %v", saved, err)
						}
					}
					c := &hearken.Contact{ID: fmt.Sprint(w, n), Name: "Anna", Emails: []string{"anna@example.com"}}
					if err := store.SaveContact(t.Context(), c); err != nil {
						t.Errorf("save contact: %v", err)
					}
					g := &hearken.Grant{ID: fmt.Sprint(w, n), CreatedAt: noon}
					if err := store.SaveGrant(t.Context(), g); err != nil {
						t.Errorf("save grant: %v", err)
					}
				}
			})
			all.Go(func() {
				for n := range rounds {
					found, err := store.Actions(t.Context(), hearken.ActionFilter{})
					if err != nil {
						t.Errorf("actions: %v", err)
					}
					for i := range found {
						found[i].Evidence[0].Quote = "mine" // what was read is the reader's
					}
					_, err1 := store.Alarms(t.Context(), time.Time{})
					_, err2 := store.Grants(t.Context())
					_, err3 := store.Contacts(t.Context())
					if err := errors.Join(err1, err2, err3); err != nil {
						t.Errorf("list: %v", err)
					}
					if w == 0 && n%3 == 0 {
						n, err := store.ForgetActions(t.Context(), noon.Add(time.Minute))
						if err != nil {
							t.Errorf("forget: %v", err)
						}
						forgotten.Add(int64(n))
					}
				}
			})
		}
		all.Wait()
		n, err := store.ForgetActions(t.Context(), noon.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, writers*rounds/2, int(forgotten.Load())+n)
		found, err := store.Actions(t.Context(), hearken.ActionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, writers*rounds/2, len(found))
		for _, a := range found {
			if a.Version != 3 || a.State != hearken.ActionDone || a.Evidence[0].Quote != "" {
				t.Errorf("%+v", a)
			}
		}
	}},
	{"DeleteWhileSaving", func(t *testing.T, store hearken.Store) {
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				s := session(n + 1)
				for line := 1; line <= 8; line++ {
					if err := store.Save(t.Context(), s, []hearken.Segment{said(s, line, "apple")}); err != nil {
						t.Errorf("save: %v", err)
					}
				}
				if err := store.Delete(t.Context(), s.ID); err != nil {
					t.Errorf("delete: %v", err)
				}
			})
		}
		all.Wait()
		equal(t, 0, len(search(t, store, hearken.Query{Text: "apple"})))
	}},
	{"CallerGone", func(t *testing.T, store hearken.Store) {
		s := transcript(t, store, 1, "one")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := store.Save(gone, s, []hearken.Segment{said(s, 2, "two")}); err == nil {
			t.Error("saved for nobody")
		}
		if _, err := store.Search(gone, hearken.Query{Text: "one"}); err == nil {
			t.Error("searched for nobody")
		}
		save(t, store, s, said(s, 2, "two"))
		equal(t, "1 2", lines(segments(t, store, s.ID, 1, 10, false)))
	}},
}
