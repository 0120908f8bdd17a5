package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// Durable holds a store to keeping what it was given. Each call of open opens
// the same data, empty at first, beside the stores that are open already: one
// that finds there what another has just written finds it after a crash as
// well.
func Durable(t *testing.T, open func() hearken.Store) {
	first := open()
	a, alarm := fullAction(), &hearken.Alarm{Action: actionID("rem_", 1), Next: noon, Firing: ptr(noon)}
	grant := &hearken.Grant{ID: "grant 1", Principal: "key_1", PerDay: 5, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}
	contact := &hearken.Contact{ID: "contact 1", Name: "Anna", Emails: []string{"anna@example.com"}}
	key := &hearken.Key{ID: "key_1", Hash: []byte{1}, CreatedAt: noon, Approver: hearken.ApproverClient}
	saveAction(t, first, a)
	saveAction(t, first, a)
	saveAlarm(t, first, alarm)
	for _, err := range []error{
		first.SaveGrant(t.Context(), grant), first.SaveContact(t.Context(), contact), first.SaveKey(t.Context(), key),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	look := func(store hearken.Store) {
		t.Helper()
		equal(t, a, findAction(t, store, a.ID))
		equal(t, []hearken.Alarm{*alarm}, alarms(t, store, noon))
		grants, err := store.Grants(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, []hearken.Grant{*grant}, grants)
		contacts, err := store.Contacts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, []hearken.Contact{*contact}, contacts)
		keys, err := store.Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, []hearken.Key{*key}, keys)
	}
	second := open()
	look(second)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	third := open()
	look(third)
	// Versions count on.
	stale := fullAction()
	stale.Version = 1
	if saved, err := third.SaveAction(t.Context(), stale); err != nil || saved {
		t.Errorf("an old version was saved: %t, %v", saved, err)
	}
	saveAction(t, third, a)
	saveAlarm(t, third, alarm)
	look(third)
}

// LeavesNoByte holds a store to forgetting actions and contacts thoroughly.
// Look returns all that the store's files hold.
func LeavesNoByte(t *testing.T, store hearken.Store, look func() string) {
	const going, staying = 120, 40
	old, late := noon, noon.Add(time.Hour)
	texts := func(n int) (short, long string) {
		mark := fmt.Sprintf("qz%03dzq", n)
		return mark, strings.Repeat(mark+" ", 1+n*n%1500) // over several pages of a database, sometimes
	}
	// Written in turns, each several times, with texts that differ in length.
	for round := range 3 {
		for n := range going + staying {
			short, long := texts(n)
			a := message(n + 1)
			a.Version = round
			a.Message.Text, a.Target, a.Same, a.Principal = long, short+"@example.com", short, short
			a.Evidence = []hearken.Evidence{{Arg: "text", Quote: strings.Repeat(short+"_", 1+(n+round)%40)}}
			a.State, a.EndedAt = hearken.ActionDone, &old
			if n >= going {
				a.EndedAt = &late
			}
			if round == 0 {
				a.State, a.EndedAt, a.Message.Text = hearken.ActionPending, nil, short+" "+short
			}
			saveAction(t, store, a)
			saveAlarm(t, store, &hearken.Alarm{Action: a.ID, Version: round, Error: short + strings.Repeat(" "+short, n%9)})
			err := store.SaveContact(t.Context(), &hearken.Contact{
				ID: short, Name: "Anna " + short, Aliases: strings.Fields(long)[:1+(n+round)%30%len(strings.Fields(long))],
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	left := func() (marks []int) {
		all := strings.ToLower(look())
		for n := range going + staying {
			if short, _ := texts(n); strings.Contains(all, short) {
				marks = append(marks, n)
			}
		}
		return marks
	}
	equal(t, going+staying, len(left()))
	n, err := store.ForgetActions(t.Context(), late)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, going, n)
	equal(t, going+staying, len(left())) // as contacts
	for n := range going {
		short, _ := texts(n)
		if err := store.DeleteContact(t.Context(), short); err != nil {
			t.Fatal(err)
		}
	}
	marks := left()
	equal(t, staying, len(marks))
	if len(marks) > 0 && marks[0] < going {
		t.Errorf("there are traces of %v", marks)
	}
	// Those that stay are whole.
	for n := going; n < going+staying; n++ {
		_, long := texts(n)
		if got := findAction(t, store, message(n+1).ID); got.Message.Text != long {
			t.Errorf("action %d says %.20q", n, got.Message.Text)
		}
	}
	if n, err = store.ForgetActions(t.Context(), late.Add(1)); err != nil || n != staying {
		t.Errorf("%d forgotten, %v", n, err)
	}
}

// Migrated holds a store to having made room for actions in data that was
// written before there were any, with one key, key_1, that is named Laptop.
func Migrated(t *testing.T, store hearken.Store) {
	t.Helper()
	keys, err := store.Keys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].ID != "key_1" || keys[0].Name != "Laptop" || keys[0].Approver != "" {
		t.Fatalf("keys %+v, %v", keys, err)
	}
	keys[0].Approver = hearken.ApproverClient
	if err := store.SaveKey(t.Context(), &keys[0]); err != nil {
		t.Fatal(err)
	}
	again, err := store.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, keys, again)
	equal(t, "", actionNumbers(t, store, hearken.ActionFilter{}))
	equal(t, "", alarmNumbers(t, store, time.Time{}))
	saveAction(t, store, message(1))
	saveAlarm(t, store, &hearken.Alarm{Action: message(1).ID, Next: noon})
	equal(t, "1", actionNumbers(t, store, hearken.ActionFilter{}))
	equal(t, "1", alarmNumbers(t, store, time.Time{}))
	grants, err := store.Grants(t.Context())
	if err != nil || len(grants) != 0 {
		t.Errorf("grants %v, %v", grants, err)
	}
	contacts, err := store.Contacts(t.Context())
	if err != nil || len(contacts) != 0 {
		t.Errorf("contacts %v, %v", contacts, err)
	}
}
