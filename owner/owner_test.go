package owner_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/owner"
	"github.com/hearken-dev/hearken/store/storetest"
)

// A hub is an owner with its data directory and its store.
type hub struct {
	cfg owner.Config
	now time.Time
}

func newHub(t *testing.T) *hub {
	t.Helper()
	return &hub{
		cfg: owner.Config{
			KeyDir: filepath.Join(t.TempDir(), "keys"), DataDir: t.TempDir(),
			Store: storetest.NewMemory(), StoreName: "hearken.db",
			Rounds: 1000, // nobody guesses here
		},
		now: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC),
	}
}

// open opens the owner, as every start of the hub does.
func (h *hub) open(t *testing.T) *owner.Owner {
	t.Helper()
	h.cfg.Now = func() time.Time { return h.now }
	o, err := owner.Open(h.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// pin is the fingerprint that the store holds; nil if it has no owner.
func (h *hub) pin(t *testing.T) []byte {
	t.Helper()
	record, err := h.cfg.Store.Owner(t.Context())
	if hearken.CodeOf(err) == hearken.NotFound {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return record.PIN
}

func setPIN(t *testing.T, o *owner.Owner, old, pin string) {
	t.Helper()
	if err := o.SetPIN(old, pin); err != nil {
		t.Fatal(err)
	}
}

func TestOwner(t *testing.T) {
	h := newHub(t)
	o := h.open(t)
	if o.HasPIN() || h.pin(t) != nil || hearken.CodeOf(o.Check("482916")) != hearken.Unauthorized {
		t.Error("there is a PIN before one is set")
	}
	for _, bad := range []string{"", "12345", "111111", "123456", "987654", "aaaaaaa", "121212", "123123", "000001", strings.Repeat("a few words ", 20)} {
		if err := o.SetPIN("", bad); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("PIN %q: %v", bad, err)
		}
	}
	setPIN(t, o, "", "482916")
	if err := o.Check("482916"); err != nil {
		t.Error(err)
	}
	if err := o.SetPIN("000000", "739164"); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("changed without the old one: %v", err)
	}
	if err := o.SetPIN("482916", "739164"); err != nil {
		t.Error(err)
	}
	o = h.open(t)
	if err := o.Check("739164"); err != nil || !o.HasPIN() || len(h.pin(t)) != 32 {
		t.Errorf("after a restart: %v", err)
	}
	info, err := os.Stat(filepath.Join(h.cfg.KeyDir, "owner.json"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("mode %v, %d bytes", info.Mode(), info.Size())
	}
}

// Guesses become slow, and a restart does not make them fast again.
func TestOwner_Guesses(t *testing.T) {
	h := newHub(t)
	o := h.open(t)
	setPIN(t, o, "", "482916")
	for i := range 5 {
		if err := o.Check("999998"); hearken.CodeOf(err) != hearken.Unauthorized {
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	o = h.open(t)
	if err := o.Check("482916"); hearken.CodeOf(err) != hearken.RateLimited {
		t.Errorf("the right one at once after five wrong ones: %v", err)
	}
	h.now = h.now.Add(29 * time.Second)
	if err := o.Check("482916"); hearken.CodeOf(err) != hearken.RateLimited {
		t.Errorf("too early: %v", err)
	}
	h.now = h.now.Add(time.Second)
	if err := o.Check("999998"); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("the sixth: %v", err)
	}
	h.now = h.now.Add(59 * time.Second)
	if err := o.Check("482916"); hearken.CodeOf(err) != hearken.RateLimited {
		t.Errorf("the wait did not grow: %v", err)
	}
	h.now = h.now.Add(time.Second)
	if err := o.Check("482916"); err != nil {
		t.Errorf("the right one in time: %v", err)
	}
	if err := o.Check("999998"); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("the count did not begin anew: %v", err)
	}
}

// A clock that was wrong for a while does not lock anybody out for years.
func TestOwner_Clock(t *testing.T) {
	h := newHub(t)
	o := h.open(t)
	setPIN(t, o, "", "482916")
	for range 5 {
		o.Check("999998")
	}
	h.now = h.now.AddDate(-10, 0, 0)
	if err := o.Check("482916"); hearken.CodeOf(err) != hearken.RateLimited {
		t.Errorf("at once: %v", err)
	}
	h.now = h.now.Add(time.Hour)
	if err := o.Check("482916"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// Every PIN has its own fingerprint, and the store learns of a new one.
func TestOwner_Fingerprint(t *testing.T) {
	h := newHub(t)
	o := h.open(t)
	setPIN(t, o, "", "482916")
	first := h.pin(t)
	setPIN(t, o, "482916", "482916") // with another salt
	if second := h.pin(t); len(first) != 32 || len(second) != 32 || bytes.Equal(first, second) {
		t.Errorf("%x, then %x", first, second)
	}
}

// With a damaged file nobody can approve anything; the hub works otherwise.
func TestOwner_Damaged(t *testing.T) {
	h := newHub(t)
	setPIN(t, h.open(t), "", "482916")
	for _, damage := range []string{"", "{", "{}"} {
		if err := os.WriteFile(filepath.Join(h.cfg.KeyDir, "owner.json"), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		o := h.open(t)
		if !o.HasPIN() || hearken.CodeOf(o.Check("482916")) != hearken.RepositoryError || hearken.CodeOf(o.SetPIN("", "739164")) != hearken.RepositoryError {
			t.Errorf("%q: set %v, %v", damage, o.HasPIN(), o.Check("482916"))
		}
		if replaced, err := o.Replaced(t.Context()); replaced || err != nil {
			t.Errorf("%q: replaced %t, %v", damage, replaced, err)
		}
	}
}
