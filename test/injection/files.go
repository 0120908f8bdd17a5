package injection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hearken-dev/hearken"
)

// A Theft is what an agent does to the file that verifies the PIN. Whoever may
// write there can do much; and yet what waited for the owner is not approved
// by it, and what the owner allowed holds no longer.
type Theft struct {
	Name string
	do   func(ctx context.Context, c *castle) error
}

// Thefts are ways to get another PIN in the place of the owner's.
func Thefts() []Theft {
	remove := func(names ...func(c *castle) string) func(context.Context, *castle) error {
		return func(_ context.Context, c *castle) error {
			var errs []error
			for _, name := range names {
				errs = append(errs, os.RemoveAll(name(c)))
			}
			return errors.Join(errs...)
		}
	}
	verifier := func(c *castle) string { return filepath.Join(c.keys, "owner.json") }
	mark := func(c *castle) string { return filepath.Join(c.dir, "owner.mark") }
	exchange := func(ctx context.Context, c *castle) error {
		forge := filepath.Join(c.home, "forge")
		forged := filepath.Join(forge, "keys", "owner.json")
		if _, err := os.Stat(forged); err != nil {
			env := []string{"HEARKEN_DATA_DIR=" + forge, "HEARKEN_KEY_DIR=" + filepath.Dir(forged), "OWNER_PIN_FILE=" + write(c, "guess", wrongPIN)}
			if out, err := c.command(ctx, env, "", "pin"); err != nil {
				return fmt.Errorf("forge: %w: %s", err, out)
			}
		}
		data, err := os.ReadFile(forged)
		if err != nil {
			return err
		}
		return os.WriteFile(verifier(c), data, 0o600)
	}
	return []Theft{
		{"the verifier is removed", remove(verifier)},
		{"the verifier is exchanged", exchange},
		{"the verifier and its mark are removed", remove(verifier, mark)},
		{"the verifier is exchanged and its mark removed", func(ctx context.Context, c *castle) error {
			return errors.Join(exchange(ctx, c), os.RemoveAll(mark(c)))
		}},
		{"all keys are removed", remove(func(c *castle) string { return c.keys })},
		{"another directory of keys", func(_ context.Context, c *castle) error {
			c.keys = filepath.Join(c.home, "other keys")
			return nil
		}},
		{"another directory of keys without the mark", func(_ context.Context, c *castle) error {
			c.keys = filepath.Join(c.home, "other keys")
			return os.RemoveAll(mark(c))
		}},
	}
}

// Steal does a theft while the hub runs and tries to approve, and does it once
// more while the hub is down, starts it, sets a PIN and tries again. Where the
// hub then refuses to act at all, the mark of the data directory is put back.
// It returns what should not have been.
func Steal(ctx context.Context, binary, home string, t Theft) (breaches []string, err error) {
	c, err := build(ctx, binary, home)
	if err != nil {
		return nil, err
	}
	defer c.raze()
	mark := filepath.Join(c.dir, "owner.mark")
	kept, err := os.ReadFile(mark)
	if err != nil {
		return nil, err
	}
	again := func(do func(context.Context, *castle) error) ([]string, error) {
		c.kill()
		if err := do(ctx, c); err != nil {
			return nil, err
		}
		if err := c.open(ctx); err != nil {
			return nil, err
		}
		c.usurp(ctx)
		return c.stolen(ctx, true)
	}
	if err := t.do(ctx, c); err != nil {
		return nil, err
	}
	c.usurp(ctx)
	if found, err := c.stolen(ctx, false); err != nil || len(found) > 0 {
		return append(found, "while the hub ran"), err
	}
	found, err := again(t.do) // a guess has put the owner's verifier back
	if hearken.CodeOf(err) == hearken.Forbidden {
		found, err = again(func(context.Context, *castle) error { return os.WriteFile(mark, kept, 0o600) })
	}
	return found, err
}

// usurp sets a PIN where that can be done, and approves with it.
func (c *castle) usurp(ctx context.Context) {
	env := []string{"OWNER_PIN_FILE=" + write(c, "guess", wrongPIN)}
	// Whether it is refused shows in what has come of it.
	_, _ = c.command(ctx, env, "", "pin")
	_ = c.ask(ctx, map[string]any{"op": "owner.pin", "newPin": wrongPIN}, nil)
	_, _ = c.command(ctx, env, "", "approve", c.victim.ID)
}

// stolen is what a theft has brought. After a new start the owner's grant must
// have ended.
func (c *castle) stolen(ctx context.Context, after bool) (found []string, err error) {
	all, err := c.actions(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		switch a := &all[i]; {
		case a.Decision != nil && a.Decision.Allow:
			found = append(found, "approved "+a.ID+" by "+a.Decision.By)
		case after && a.State == hearken.ActionPending:
			found = append(found, "still waits: "+a.ID)
		}
	}
	var grants []hearken.Grant
	if err := c.ask(ctx, map[string]any{"op": "grants.list"}, &grants); err != nil {
		return nil, err
	}
	for _, g := range grants {
		if g.ID != c.grant || after && g.RevokedAt == nil {
			found = append(found, "a grant holds: "+g.Tool)
		}
	}
	return found, nil
}
