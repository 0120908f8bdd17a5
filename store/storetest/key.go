package storetest

import (
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

var keyTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		keys, err := store.Keys(t.Context())
		if err != nil || len(keys) != 0 {
			t.Errorf("an empty store has the keys %v, %v", keys, err)
		}
		first := hearken.Key{ID: "key_1", Name: "Laptop", Hash: []byte{0, 1, 0xff}, CreatedAt: noon}
		second := hearken.Key{ID: "key_2", Name: "電話", Hash: make([]byte, 32), CreatedAt: noon.Add(1e9), Toolsets: []string{"read", "scribe"}, Approver: hearken.ApproverClient}
		for _, k := range []*hearken.Key{&second, &first} {
			if err := store.SaveKey(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		first.RevokedAt, first.Name = new(noon.Add(2e9)), "Old laptop"
		if err := store.SaveKey(t.Context(), &first); err != nil {
			t.Fatal(err)
		}
		keys, err = store.Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, []hearken.Key{first, second}, keys)
		// The approver can change.
		first.Approver, second.Approver = hearken.ApproverClient, ""
		for _, k := range []*hearken.Key{&second, &first} {
			if err := store.SaveKey(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		if keys, err = store.Keys(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, []hearken.Key{first, second}, keys)
	}},
}

var ownerTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		_, err := store.Owner(t.Context())
		wantCode(t, err, hearken.NotFound)
		for _, want := range []*hearken.StoreOwner{
			{DataDir: "MARK /home/ann/数据", SavedAt: noon},
			{DataDir: "MARK /home/ann/数据", PIN: []byte{0, 1, 0xff}, SavedAt: noon.Add(time.Hour)},
			{DataDir: "OTHER /srv/hearken", PIN: make([]byte, 32), SavedAt: noon},
			{SavedAt: noon},
		} {
			saveOwner(t, store, want)
			equal(t, want, findOwner(t, store))
		}
	}},
	{"TimesOfOtherZones", func(t *testing.T, store hearken.Store) {
		at := time.Date(2026, 3, 14, 21, 0, 0, 123456789, time.FixedZone("", 9*3600))
		saveOwner(t, store, &hearken.StoreOwner{SavedAt: at})
		if got, want := findOwner(t, store).SavedAt, at.Truncate(time.Microsecond).UTC(); got != want {
			t.Errorf("saved at %v, want %v", got, want)
		}
	}},
	{"NoKey", func(t *testing.T, store hearken.Store) { // the owner is none of the keys
		owner := &hearken.StoreOwner{DataDir: "MARK /data", PIN: []byte{1}, SavedAt: noon}
		key := hearken.Key{ID: "owner", Name: "a key of this name", Hash: []byte{2}, CreatedAt: noon}
		saveOwner(t, store, owner)
		if keys, err := store.Keys(t.Context()); err != nil || len(keys) != 0 {
			t.Errorf("keys %v, %v", keys, err)
		}
		if err := store.SaveKey(t.Context(), &key); err != nil {
			t.Fatal(err)
		}
		equal(t, owner, findOwner(t, store))
	}},
	{"Own", func(t *testing.T, store hearken.Store) { // nothing is shared with the caller
		owner := &hearken.StoreOwner{PIN: []byte{1}, SavedAt: noon}
		saveOwner(t, store, owner)
		owner.PIN[0] = 2
		findOwner(t, store).PIN[0] = 3
		equal(t, []byte{1}, findOwner(t, store).PIN)
	}},
}

func saveOwner(t *testing.T, store hearken.Store, o *hearken.StoreOwner) {
	t.Helper()
	if err := store.SaveOwner(t.Context(), o); err != nil {
		t.Fatalf("save owner: %v", err)
	}
}

func findOwner(t *testing.T, store hearken.Store) *hearken.StoreOwner {
	t.Helper()
	o, err := store.Owner(t.Context())
	if err != nil {
		t.Fatalf("owner: %v", err)
	}
	return o
}

var exposureTests = []test{
	{"None", func(t *testing.T, store hearken.Store) {
		equal(t, map[string]time.Time{}, exposures(t, store))
	}},
	{"Latest", func(t *testing.T, store hearken.Store) { // an earlier time never replaces a later one
		for _, e := range []struct {
			principal string
			at        time.Time
		}{{"key_1", noon}, {"local", noon}, {"key_1", noon.Add(time.Minute)}, {"local", noon.Add(-time.Hour)}} {
			if err := store.SaveExposure(t.Context(), e.principal, e.at); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, map[string]time.Time{"key_1": noon.Add(time.Minute), "local": noon}, exposures(t, store))
	}},
}

func exposures(t *testing.T, store hearken.Store) map[string]time.Time {
	t.Helper()
	found, err := store.Exposures(t.Context())
	if err != nil {
		t.Fatalf("exposures: %v", err)
	}
	return found
}
