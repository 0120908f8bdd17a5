package owner_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

// Each case starts with a hub whose owner has set a PIN, changes something
// while the hub is stopped, and starts it again.
func TestOwner_Replaced(t *testing.T) {
	type change = func(t *testing.T, h *hub)
	verifier := func(h *hub) string { return filepath.Join(h.cfg.KeyDir, "owner.json") }
	removeVerifier := func(t *testing.T, h *hub) { remove(t, verifier(h)) }
	exchangeVerifier := func(t *testing.T, h *hub) {
		other := newHub(t)
		setPIN(t, other.open(t), "", "739164")
		h.cfg.KeyDir = other.cfg.KeyDir
	}
	removeMark := func(t *testing.T, h *hub) { remove(t, filepath.Join(h.cfg.DataDir, "owner.mark")) }
	move := func(t *testing.T, h *hub) {
		to := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(h.cfg.DataDir, to); err != nil {
			t.Fatal(err)
		}
		h.cfg.DataDir = to
	}
	copyMark := func(t *testing.T, h *hub) {
		mark, err := os.ReadFile(filepath.Join(h.cfg.DataDir, "owner.mark"))
		if err != nil {
			t.Fatal(err)
		}
		h.cfg.DataDir = t.TempDir()
		if err := os.WriteFile(filepath.Join(h.cfg.DataDir, "owner.mark"), mark, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		changes   []change
		replaced  bool
		forbidden bool
	}{
		"Same":             {nil, false, false},
		"Removed":          {[]change{removeVerifier}, true, false},
		"Exchanged":        {[]change{exchangeVerifier}, true, false},
		"NewStore":         {[]change{func(_ *testing.T, h *hub) { h.cfg.Store = storetest.NewMemory() }}, true, false},
		"Moved":            {[]change{move}, false, false},
		"MarkRemoved":      {[]change{removeMark}, false, false},
		"MovedRemoved":     {[]change{move, removeVerifier}, false, true},
		"MovedExchanged":   {[]change{move, exchangeVerifier}, false, true},
		"UnmarkedRemoved":  {[]change{removeMark, removeVerifier}, false, true},
		"UnmarkedReplaced": {[]change{removeMark, exchangeVerifier}, false, true},
		"CopiedMark":       {[]change{copyMark, exchangeVerifier}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			setPIN(t, h.open(t), "", "482916")
			before := h.pin(t)
			for _, change := range tt.changes {
				change(t, h)
			}
			o := h.open(t)
			replaced, err := o.Replaced(t.Context())
			if replaced != tt.replaced || (hearken.CodeOf(err) == hearken.Forbidden) != tt.forbidden || err != nil && !tt.forbidden {
				t.Fatalf("replaced %t, %v", replaced, err)
			}
			if tt.forbidden {
				if !strings.Contains(err.Error(), "hearken.db") || !strings.Contains(err.Error(), h.cfg.DataDir) || !bytes.Equal(h.pin(t), before) {
					t.Errorf("%v", err)
				}
				return
			}
			if err := o.SaveToStore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if replaced, err := h.open(t).Replaced(t.Context()); replaced || err != nil {
				t.Errorf("at the next start: replaced %t, %v", replaced, err)
			}
		})
	}
}

// Without a PIN nobody can be replaced.
func TestOwner_Replaced_NoPIN(t *testing.T) {
	h := newHub(t)
	for range 2 { // without a record, and with one
		o := h.open(t)
		if replaced, err := o.Replaced(t.Context()); replaced || err != nil {
			t.Errorf("replaced %t, %v", replaced, err)
		}
		if err := o.SaveToStore(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	setPIN(t, h.open(t), "", "482916")
	if replaced, err := h.open(t).Replaced(t.Context()); replaced || err != nil {
		t.Errorf("with a PIN: replaced %t, %v", replaced, err)
	}
}

// What the store cannot tell or keep is an error.
func TestOwner_Replaced_StoreFails(t *testing.T) {
	h := newHub(t)
	store := storetest.NewFaulty(storetest.NewMemory())
	h.cfg.Store = store
	down := errors.New("the database is down")
	store.Fail(down)
	o := h.open(t)
	if replaced, err := o.Replaced(t.Context()); replaced || !errors.Is(err, down) {
		t.Errorf("replaced %t, %v", replaced, err)
	}
	if err := o.SetPIN("", "482916"); !errors.Is(err, down) {
		t.Errorf("set: %v", err)
	}
	store.Fail(nil)
	// The store never learned of the PIN, so the next start takes it as new.
	if replaced, err := h.open(t).Replaced(t.Context()); !replaced || err != nil {
		t.Errorf("at the next start: replaced %t, %v", replaced, err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
