package act_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

func openOwner(t *testing.T, keys string, now *time.Time) *act.Owner {
	t.Helper()
	o, err := act.OpenOwner(keys, func() time.Time { return *now })
	if err != nil {
		t.Fatal(err)
	}
	o.Rounds = 1000 // nobody guesses here
	return o
}

func TestOwner(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	o := openOwner(t, keys, &now)
	if o.Set() || o.Fingerprint() != nil || hearken.CodeOf(o.Check("482916")) != hearken.Unauthorized {
		t.Error("there is an owner before there is one")
	}
	for _, bad := range []string{"", "12345", "111111", "123456", "987654", "aaaaaaa", "121212", "123123", "000001"} {
		if err := o.SetPIN("", bad); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("PIN %q: %v", bad, err)
		}
	}
	if err := o.SetPIN("", "482916"); err != nil {
		t.Fatal(err)
	}
	if err := o.Check("482916"); err != nil {
		t.Error(err)
	}
	if err := o.SetPIN("000000", "739164"); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("changed without the old one: %v", err)
	}
	if err := o.SetPIN("482916", "739164"); err != nil {
		t.Error(err)
	}
	o = openOwner(t, keys, &now)
	if err := o.Check("739164"); err != nil || !o.Set() || len(o.Fingerprint()) != 32 {
		t.Errorf("after a restart: %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(keys, "owner.json"))
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(filepath.Join(keys, "owner.json")); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if len(raw) == 0 {
		t.Error("nothing is kept")
	}
}

// Guesses become slow, and a restart does not make them fast again.
func TestOwner_Guesses(t *testing.T) {
	keys := t.TempDir()
	now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	o := openOwner(t, keys, &now)
	if err := o.SetPIN("", "482916"); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := o.Check("999998"); hearken.CodeOf(err) != hearken.Unauthorized {
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	o = openOwner(t, keys, &now)
	if err := o.Check("482916"); hearken.CodeOf(err) != hearken.RateLimited {
		t.Errorf("the right one at once after five wrong ones: %v", err)
	}
	now = now.Add(29 * time.Second)
	if err := o.Check("482916"); hearken.CodeOf(err) != hearken.RateLimited {
		t.Errorf("too early: %v", err)
	}
	now = now.Add(time.Second)
	if err := o.Check("999998"); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("the sixth: %v", err)
	}
	now = now.Add(59 * time.Second)
	if err := o.Check("482916"); hearken.CodeOf(err) != hearken.RateLimited {
		t.Errorf("the wait did not grow: %v", err)
	}
	now = now.Add(time.Second)
	if err := o.Check("482916"); err != nil {
		t.Errorf("the right one in time: %v", err)
	}
	if err := o.Check("999998"); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("the count did not begin anew: %v", err)
	}
}

// A clock that was wrong for a while locks nobody out for years.
func TestOwner_Clock(t *testing.T) {
	now := time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
	o := openOwner(t, t.TempDir(), &now)
	if err := o.SetPIN("", "482916"); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		o.Check("999998")
	}
	now = now.AddDate(-10, 0, 0)
	if err := o.Check("482916"); hearken.CodeOf(err) != hearken.RateLimited {
		t.Errorf("at once: %v", err)
	}
	now = now.Add(time.Hour)
	if err := o.Check("482916"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// Every PIN has its own fingerprint, and who keeps it is told of a new one.
func TestOwner_Fingerprint(t *testing.T) {
	now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	o := openOwner(t, t.TempDir(), &now)
	var kept [][]byte
	o.Changed = func(fingerprint []byte) error {
		kept = append(kept, fingerprint)
		return nil
	}
	if err := o.SetPIN("", "482916"); err != nil {
		t.Fatal(err)
	}
	if err := o.SetPIN("482916", "482916"); err != nil { // with another salt
		t.Fatal(err)
	}
	if len(kept) != 2 || bytes.Equal(kept[0], kept[1]) || !bytes.Equal(kept[1], o.Fingerprint()) {
		t.Errorf("%x", kept)
	}
}

// A damaged file keeps everybody from approving, and nothing else from working.
func TestOwner_Damaged(t *testing.T) {
	keys := t.TempDir()
	now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	if err := openOwner(t, keys, &now).SetPIN("", "482916"); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"", "{", "{}"} {
		if err := os.WriteFile(filepath.Join(keys, "owner.json"), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		o := openOwner(t, keys, &now)
		if !o.Set() || o.Damaged() == nil || hearken.CodeOf(o.Check("482916")) != hearken.RepositoryError || hearken.CodeOf(o.SetPIN("", "739164")) != hearken.RepositoryError {
			t.Errorf("%q: set %v, %v", damage, o.Set(), o.Check("482916"))
		}
	}
}
