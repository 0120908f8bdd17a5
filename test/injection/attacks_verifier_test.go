package injection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hearken-dev/hearken"
)

// A tampering is what an agent does to the file that verifies the PIN. An agent
// that may write there can do much, but a pending action must not be approved
// by it, and grants of the owner must end.
type tampering struct {
	name string
	do   func(ctx context.Context, t *target) error
}

// tamperings are ways to replace the owner's PIN by another.
func tamperings() []tampering {
	remove := func(names ...func(t *target) string) func(context.Context, *target) error {
		return func(_ context.Context, t *target) error {
			var errs []error
			for _, name := range names {
				errs = append(errs, os.RemoveAll(name(t)))
			}
			return errors.Join(errs...)
		}
	}
	verifier := func(t *target) string { return filepath.Join(t.keys, "owner.json") }
	mark := func(t *target) string { return filepath.Join(t.Dir, "owner.mark") }
	exchange := func(ctx context.Context, t *target) error {
		forge := filepath.Join(t.home, "forge")
		forged := filepath.Join(forge, "keys", "owner.json")
		if _, err := os.Stat(forged); err != nil {
			env := []string{"HEARKEN_DATA_DIR=" + forge, "HEARKEN_KEY_DIR=" + filepath.Dir(forged), "OWNER_PIN_FILE=" + t.writeFile("guess", wrongPIN)}
			if out, err := t.run(ctx, env, "", "pin"); err != nil {
				return fmt.Errorf("forge: %w: %s", err, out)
			}
		}
		data, err := os.ReadFile(forged)
		if err != nil {
			return err
		}
		return os.WriteFile(verifier(t), data, 0o600)
	}
	return []tampering{
		{"the verifier is removed", remove(verifier)},
		{"the verifier is exchanged", exchange},
		{"the verifier and its mark are removed", remove(verifier, mark)},
		{"the verifier is exchanged and its mark removed", func(ctx context.Context, t *target) error {
			return errors.Join(exchange(ctx, t), os.RemoveAll(mark(t)))
		}},
		{"all keys are removed", remove(func(t *target) string { return t.keys })},
		{"another directory of keys", func(_ context.Context, t *target) error {
			t.useKeys(filepath.Join(t.home, "other keys"))
			return nil
		}},
		{"another directory of keys without the mark", func(_ context.Context, t *target) error {
			t.useKeys(filepath.Join(t.home, "other keys"))
			return os.RemoveAll(mark(t))
		}},
	}
}

// tamper tampers while the hub runs and tries to approve; then tampers once
// more while the hub is down, starts it, sets a PIN and tries again. If the hub
// then refuses to act at all, the mark of the data directory is put back. It
// returns what should not have happened.
func tamper(ctx context.Context, binary, home string, way tampering) (breaches []string, err error) {
	t, err := newTarget(ctx, binary, home)
	if err != nil {
		return nil, err
	}
	defer t.stop()
	mark := filepath.Join(t.Dir, "owner.mark")
	saved, err := os.ReadFile(mark)
	if err != nil {
		return nil, err
	}
	whileDown := func(do func(context.Context, *target) error) ([]string, error) {
		t.Kill()
		if err := do(ctx, t); err != nil {
			return nil, err
		}
		if err := t.Start(ctx); err != nil {
			return nil, err
		}
		t.approveWithOwnPIN(ctx)
		return t.tampered(ctx, true)
	}
	if err := way.do(ctx, t); err != nil {
		return nil, err
	}
	t.approveWithOwnPIN(ctx)
	if found, err := t.tampered(ctx, false); err != nil || len(found) > 0 {
		return append(found, "while the hub ran"), err
	}
	found, err := whileDown(way.do) // a guess has put the owner's verifier back
	if hearken.CodeOf(err) == hearken.Forbidden {
		found, err = whileDown(func(context.Context, *target) error { return os.WriteFile(mark, saved, 0o600) })
	}
	return found, err
}

// approveWithOwnPIN tries to set a PIN and to approve with it.
func (t *target) approveWithOwnPIN(ctx context.Context) {
	env := []string{"OWNER_PIN_FILE=" + t.writeFile("guess", wrongPIN)}
	// The outcome shows whether it was refused.
	_, _ = t.run(ctx, env, "", "pin")
	_ = t.control(ctx, map[string]any{"op": "owner.pin", "newPin": wrongPIN}, nil)
	_, _ = t.run(ctx, env, "", "approve", t.action.ID)
}

// tampered is what tampering has brought about. After a restart the pending
// action and the owner's grant must have ended.
func (t *target) tampered(ctx context.Context, after bool) (found []string, err error) {
	all, err := t.actions(ctx)
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
	if err := t.control(ctx, map[string]any{"op": "grants.list"}, &grants); err != nil {
		return nil, err
	}
	for _, g := range grants {
		if g.ID != t.grant || after && g.RevokedAt == nil {
			found = append(found, "a grant holds: "+g.Tool)
		}
	}
	return found, nil
}
