package storetest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

func saveAlarm(t *testing.T, store hearken.ActionStore, a *hearken.Alarm) {
	t.Helper()
	if saved, err := store.SaveAlarm(t.Context(), a); err != nil || !saved {
		t.Fatalf("save alarm: %t, %v", saved, err)
	}
}

func alarms(t *testing.T, store hearken.ActionStore, before time.Time) []hearken.Alarm {
	t.Helper()
	found, err := store.Alarms(t.Context(), before)
	if err != nil {
		t.Fatalf("alarms: %v", err)
	}
	return found
}

// alarmNumbers lists alarms by the numbers of their actions.
func alarmNumbers(t *testing.T, store hearken.ActionStore, before time.Time) string {
	t.Helper()
	var numbers []string
	for _, a := range alarms(t, store, before) {
		numbers = append(numbers, number(a.Action))
	}
	return strings.Join(numbers, " ")
}

var alarmTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		full := &hearken.Alarm{
			Action: actionID("rem_", 1), Version: 1, Next: noon.Add(time.Hour), Firing: new(noon),
			Fired: new(noon.Add(-time.Hour)), Code: hearken.OutcomeUnknown, Error: "no way to reach the owner",
		}
		wantFull(t, reflect.ValueOf(full), "alarm")
		full.Version = 0
		saveAlarm(t, store, full)
		equal(t, []hearken.Alarm{*full}, alarms(t, store, time.Time{}))
		equal(t, 1, full.Version)
		full.Next, full.Firing, full.Code, full.Error = time.Time{}, nil, "", ""
		saveAlarm(t, store, full)
		got := alarms(t, store, time.Time{})
		equal(t, []hearken.Alarm{*full}, got)
		if !got[0].Next.IsZero() {
			t.Errorf("no time came back as %v", got[0].Next)
		}
	}},
	{"TimesOfOtherZones", func(t *testing.T, store hearken.Store) {
		at := time.Date(2026, 3, 14, 21, 0, 0, 123456789, time.FixedZone("", 9*3600))
		saveAlarm(t, store, &hearken.Alarm{Action: actionID("rem_", 1), Next: at, Firing: &at, Fired: &at})
		got, want := alarms(t, store, time.Time{})[0], at.Truncate(time.Microsecond).UTC()
		if got.Next != want || *got.Firing != want || *got.Fired != want {
			t.Errorf("%v, %v and %v, want %v", got.Next, got.Firing, got.Fired, want)
		}
	}},
	{"Version", func(t *testing.T, store hearken.Store) {
		try := func(version int, reason string, want bool) {
			t.Helper()
			a := &hearken.Alarm{Action: actionID("rem_", 1), Version: version, Next: noon, Error: reason}
			saved, err := store.SaveAlarm(t.Context(), a)
			if err != nil || saved != want {
				t.Errorf("version %d: %t, %v", version, saved, err)
			}
			if want {
				version++
			}
			equal(t, version, a.Version)
		}
		try(1, "there is none", false)
		equal(t, 0, len(alarms(t, store, time.Time{})))
		try(0, "first", true)
		try(0, "again", false)
		try(1, "second", true)
		try(1, "late", false)
		if got := alarms(t, store, time.Time{})[0]; got.Error != "second" || got.Version != 2 {
			t.Errorf("%q of version %d is stored", got.Error, got.Version)
		}
	}},
	{"List", func(t *testing.T, store hearken.Store) {
		equal(t, "", alarmNumbers(t, store, time.Time{}))
		equal(t, "", alarmNumbers(t, store, noon))
		at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
		for _, tt := range []struct{ n, next, firing int }{ // minutes; 0 for none
			{4, 40, 0},
			{2, 20, 0},
			{5, 0, 0},
			{3, 20, 0}, // in the same moment as the second; the id decides
			{1, 10, 0},
			{6, 50, 30},
			{7, 0, 15}, // its last time
		} {
			a := &hearken.Alarm{Action: actionID("rem_", tt.n)}
			if tt.next > 0 {
				a.Next = at(tt.next)
			}
			if tt.firing > 0 {
				a.Firing = new(at(tt.firing))
			}
			saveAlarm(t, store, a)
		}
		for _, tt := range []struct {
			before time.Time
			want   string
		}{
			{time.Time{}, "1 7 2 3 6 4 5"},
			{at(10), "7 6"},
			{at(10).Add(1), "1 7 6"},
			{at(20), "1 7 6"},
			{at(21), "1 7 2 3 6"},
			{at(60), "1 7 2 3 6 4"},
			{at(-60), "7 6"},
		} {
			if got := alarmNumbers(t, store, tt.before); got != tt.want {
				t.Errorf("before %v: %s, want %s", tt.before, got, tt.want)
			}
		}
	}},
}

var grantTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		grants := func() []hearken.Grant {
			t.Helper()
			all, err := store.Grants(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		equal(t, 0, len(grants()))
		full := hearken.Grant{
			ID: "grant 1/../x", Principal: "key_1", Tool: hearken.MessageSend, Target: "ännä@example.com", PerDay: 5,
			CreatedAt: noon, ExpiresAt: noon.Add(time.Hour), From: message(1).ID, RevokedAt: new(noon.Add(1e9)),
		}
		wantFull(t, reflect.ValueOf(full), "grant")
		older := hearken.Grant{ID: "z", CreatedAt: noon.Add(-1e9), ExpiresAt: noon}
		twin := hearken.Grant{ID: "a", CreatedAt: noon.Add(-1e9), ExpiresAt: noon}
		revoked := full.RevokedAt
		full.RevokedAt = nil
		for _, g := range []*hearken.Grant{&full, &older, &twin} {
			if err := store.SaveGrant(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, []hearken.Grant{twin, older, full}, grants())
		full.RevokedAt, full.PerDay = revoked, 6
		if err := store.SaveGrant(t.Context(), &full); err != nil {
			t.Fatal(err)
		}
		equal(t, []hearken.Grant{twin, older, full}, grants())
		zone := time.FixedZone("", 9*3600)
		odd := hearken.Grant{ID: "b", CreatedAt: noon.Add(789).In(zone), ExpiresAt: noon.Add(789).In(zone), RevokedAt: new(noon.Add(789).In(zone))}
		if err := store.SaveGrant(t.Context(), &odd); err != nil {
			t.Fatal(err)
		}
		if got := grants()[2]; got.CreatedAt != noon || got.ExpiresAt != noon || *got.RevokedAt != noon {
			t.Errorf("times of other zones: %+v", got)
		}
	}},
}

var contactTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		want := func(all ...hearken.Contact) {
			t.Helper()
			got, err := store.Contacts(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			equal(t, all, got)
		}
		want()
		full := hearken.Contact{
			ID: "urn:uuid:1/../../x", Name: "Åsa \"Å\" Berg", Aliases: []string{"Åsa", "the boss"},
			Emails: []string{"asa@example.com", "a@example.org"}, Phones: []string{"+46700000001"}, Prefer: "email", Me: true,
		}
		wantFull(t, reflect.ValueOf(full), "contact")
		anna, bob, twin := hearken.Contact{ID: "1", Name: "anna"}, hearken.Contact{ID: "3", Name: "Bob"}, hearken.Contact{ID: "2", Name: "Bob"}
		for _, c := range []*hearken.Contact{&full, &bob, &anna, &twin} {
			if err := store.SaveContact(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		want(anna, twin, bob, full)
		anna.Name, anna.Phones = "Čeněk", []string{"+420700000001"}
		if err := store.SaveContact(t.Context(), &anna); err != nil {
			t.Fatal(err)
		}
		want(twin, bob, full, anna)
		for _, gone := range []string{full.ID, bob.ID} {
			if err := store.DeleteContact(t.Context(), gone); err != nil {
				t.Fatal(err)
			}
		}
		want(twin, anna)
		for _, none := range []string{full.ID, "", "%", "..", "x\x00"} {
			wantCode(t, store.DeleteContact(t.Context(), none), hearken.NotFound)
		}
		want(twin, anna)
	}},
}
