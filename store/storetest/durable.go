package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// Durable checks that what was saved is on disk. Each call of open opens the same
// data, empty at first, beside the stores that are already open. If another
// store finds there what was just written, it is also there after a crash.
func Durable(t *testing.T, open func() hearken.Store) {
	first := open()
	a, alarm := fullAction(), &hearken.Alarm{Action: actionID("rem_", 1), Next: noon, Firing: new(noon)}
	grant := &hearken.Grant{ID: "grant 1", Principal: "key_1", PerDay: 5, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}
	contact := &hearken.Contact{ID: "contact 1", Name: "Anna", Emails: []string{"anna@example.com"}}
	key := &hearken.Key{ID: "key_1", Hash: []byte{1}, CreatedAt: noon, Approver: hearken.ApproverClient}
	owner := &hearken.StoreOwner{DataDir: "MARK /data", PIN: []byte{1}, SavedAt: noon}
	head := &hearken.AuditHead{Name: "audit", Key: "k", Checkpoint: "c", SavedAt: noon}
	saveAction(t, first, a)
	saveAction(t, first, a)
	saveAlarm(t, first, alarm)
	for _, err := range []error{
		first.SaveGrant(t.Context(), grant), first.SaveContact(t.Context(), contact), first.SaveKey(t.Context(), key),
		first.SaveOwner(t.Context(), owner), first.SaveExposure(t.Context(), "key_1", noon), first.SaveAuditHead(t.Context(), head),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(store hearken.Store) {
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
		equal(t, owner, findOwner(t, store))
		equal(t, map[string]time.Time{"key_1": noon}, exposures(t, store))
		equal(t, []hearken.AuditHead{*head}, auditHeads(t, store))
	}
	second := open()
	check(second)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	third := open()
	check(third)
	// Versions continue.
	stale := fullAction()
	stale.Version = 1
	if saved, err := third.SaveAction(t.Context(), stale); err != nil || saved {
		t.Errorf("an old version was saved: %t, %v", saved, err)
	}
	saveAction(t, third, a)
	saveAlarm(t, third, alarm)
	check(third)
}

// LeavesNoByte checks that no byte remains of deleted actions and contacts, in
// whatever order they are deleted. The function content returns all that the
// store's files contain.
func LeavesNoByte(t *testing.T, store hearken.Store, content func() string) {
	const count, steps = 120, 12
	mark := func(n int) string { return fmt.Sprintf("qz%03dzq", n) }
	// fill is a text that grows, so that a database has to move it, and that
	// sometimes fills several pages.
	fill := func(n, round int) string {
		words := 1 + n*n%20 + round*(n%50)
		if n%9 == 0 {
			words += 1000
		}
		return strings.Repeat(mark(n)+" ", words)
	}
	step := func(n int) int { return n * 7 % steps }
	end := func(step int) time.Time { return noon.Add(time.Duration(step) * time.Hour) }
	// traces reports whose marks remain.
	traces := func() (left [count]bool) {
		all := strings.ToLower(content())
		for n := range count {
			left[n] = strings.Contains(all, mark(n))
		}
		return left
	}
	// removeAll removes some at each step and checks that no byte of them remains.
	removeAll := func(remove func(step int)) {
		t.Helper()
		if !traces()[0] {
			t.Fatal("the scan finds nothing")
		}
		for now := range steps {
			remove(now)
			for n, left := range traces() {
				if want := step(n) > now; left != want {
					t.Fatalf("after step %d there are traces of %d: %t, want %t", now, n, left, want)
				}
			}
		}
	}

	for round := range 3 { // in turns, so that their rows are mixed
		for n := range count {
			a := message(n + 1)
			a.Version = round
			a.Message.Text, a.Target, a.IdempotencyKey, a.Principal = fill(n, round), mark(n)+"@example.com", fmt.Sprint(n*37%count, mark(n)), mark(n)
			a.Evidence = []hearken.Evidence{{Arg: "text", Quote: strings.Repeat(mark(n)+"_", 1+(n+round)%40)}}
			if round == 2 {
				a.State, a.EndedAt = hearken.ActionDone, new(end(step(n)))
			}
			saveAction(t, store, a)
			saveAlarm(t, store, &hearken.Alarm{Action: a.ID, Version: round, Error: strings.Repeat(mark(n)+"-", 1+(n*11+round*29)%60)})
		}
	}
	removeAll(func(now int) {
		if n, err := store.ForgetActions(t.Context(), end(now).Add(1)); err != nil || n != count/steps {
			t.Fatalf("forgot %d actions, %v", n, err)
		}
		for n := range count {
			if step(n) > now {
				equal(t, fill(n, 2), findAction(t, store, message(n+1).ID).Message.Text)
			}
		}
	})

	for round := range 3 {
		for n := range count {
			c := &hearken.Contact{ID: mark(n), Name: mark(n), Aliases: strings.Fields(fill(n, round))}
			if err := store.SaveContact(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	removeAll(func(now int) {
		for n := range count {
			if step(n) == now {
				if err := store.DeleteContact(t.Context(), mark(n)); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// Migrated checks a store whose data was written before there were actions. It
// holds one key, key_1, named Laptop, and among the keys the owner of the data
// directory "MARK /data" with the fingerprint 1, saved at the start of 2026.
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
	equal(t, &hearken.StoreOwner{DataDir: "MARK /data", PIN: []byte("1"), SavedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, findOwner(t, store))
	equal(t, []hearken.AuditHead{}, auditHeads(t, store))
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
