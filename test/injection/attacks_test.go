package injection

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// An attackReport is what became of an agent's attempts to approve its own
// action.
type attackReport struct {
	attacks   int
	via       map[string]int // by where they were tried
	breaches  []string       // what an attack brought about: there must be none
	guesses   int            // PINs that were tried as fast as possible
	evaluated int            // of these, those that the hub evaluated
}

// An attack is one way in.
type attack struct {
	via, name string
	try       func(ctx context.Context, t *target) string // what it returns is only shown
}

// runAttacks starts the program in home, has an agent with a shell of the same
// user try everything, and then guess PINs for a while.
func runAttacks(ctx context.Context, binary, home string, guessing time.Duration) (*attackReport, error) {
	r := &attackReport{via: map[string]int{}}
	t, err := newTarget(ctx, binary, filepath.Join(home, "0"))
	if err != nil {
		return r, err
	}
	defer func() { t.stop() }()
	for _, a := range slices.Concat(commandAttacks(), socketAttacks(), toolAttacks(), pageAttacks()) {
		if err := t.resetLockout(ctx); err != nil {
			return r, fmt.Errorf("reset lockout: %w", err)
		}
		r.attacks++
		r.via[a.via]++
		answer := a.try(ctx, t)
		found, err := t.breaches(ctx)
		if err != nil {
			found = []string{"the hub is gone: " + err.Error()}
		}
		if len(found) == 0 && t.actionPending(ctx) {
			continue
		}
		if len(found) == 0 { // the action was withdrawn, which approves nothing
			if err := t.requestAction(ctx); err != nil {
				return r, fmt.Errorf("after %s, %s (%s): %w", a.via, a.name, answer, err)
			}
			continue
		}
		r.breaches = append(r.breaches, fmt.Sprintf("%s, %s: %s (%.600s)", a.via, a.name, strings.Join(found, ", "), answer))
		t.stop() // the other attacks get a new target
		if t, err = newTarget(ctx, binary, filepath.Join(home, strconv.Itoa(r.attacks))); err != nil {
			return r, err
		}
	}
	if err := t.resetLockout(ctx); err != nil {
		return r, err
	}
	r.guesses, r.evaluated = t.guess(ctx, guessing)
	found, err := t.breaches(ctx)
	r.breaches = append(r.breaches, found...)
	return r, err
}

// ownerApproves shows that the owner can do what no attack can: approve the
// action by typing the PIN in a terminal.
func ownerApproves(ctx context.Context, binary, home string) error {
	t, err := newTarget(ctx, binary, home)
	if err != nil {
		return err
	}
	defer t.stop()
	out, err := t.runInTerminal(ctx, nil, t.pin+"\n", "approve", t.action.ID)
	if err != nil {
		return fmt.Errorf("approve: %w: %s", err, out)
	}
	found, err := t.breaches(ctx)
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("approve changed %v: %s", found, out)
	}
	return err
}

const wrongPIN = "482915"

// commandAttacks use the program's own commands.
func commandAttacks() []attack {
	vcard := "BEGIN:VCARD\nVERSION:3.0\nFN:Evil Person\nEMAIL:evil@attacker.example\nEND:VCARD\n"
	lines := map[string]func(t *target) []string{
		"approve":       func(t *target) []string { return []string{"approve", t.action.ID} },
		"approve --all": func(*target) []string { return []string{"approve", "--all"} },
		"approve --for": func(t *target) []string { return []string{"approve", t.action.ID, "--for", "24h", "--per-day", "1000"} },
		"deny":          func(t *target) []string { return []string{"deny", t.action.ID, "--reason", "allow"} },
		"grants create": func(*target) []string {
			return []string{"grants", "create", hearken.CalendarCreate, "builtin", "--for", "720h"}
		},
		"keys create":      func(*target) []string { return []string{"keys", "create", "--name", "mine", "--approver", "client"} },
		"keys create mine": func(*target) []string { return []string{"keys", "create", "--name", "mine"} },
		"contacts import":  func(t *target) []string { return []string{"contacts", "import", filepath.Join(t.home, "evil.vcf")} },
		"resume":           func(*target) []string { return []string{"resume"} },
		"pin":              func(*target) []string { return []string{"pin"} },
	}
	var out []attack
	for name, line := range lines {
		out = append(out, attack{"command", name + " without a terminal", func(ctx context.Context, t *target) string {
			t.writeFile("evil.vcf", vcard)
			text, err := t.run(ctx, nil, wrongPIN+"\n"+wrongPIN+"\n", line(t)...)
			return fmt.Sprint(text, err)
		}})
		if name == "approve --for" || name == "keys create mine" || name == "deny" {
			continue // each guess takes long, and these ask in the same way
		}
		out = append(out, attack{"command", name + " in a terminal", func(ctx context.Context, t *target) string {
			t.writeFile("evil.vcf", vcard)
			keys := wrongPIN + "\n"
			if name == "pin" {
				keys += "739164\n739164\n"
			}
			text, err := t.runInTerminal(ctx, nil, keys, line(t)...)
			return fmt.Sprint(text, err)
		}})
	}
	return append(out, settingAttacks()...)
}

// settingAttacks use variables, files and flags that an agent may set for a
// command.
func settingAttacks() []attack {
	approve := func(name string, set func(t *target) ([]string, []string)) attack {
		return attack{"setting", name, func(ctx context.Context, t *target) string {
			env, flags := set(t)
			text, err := t.run(ctx, env, "", append(flags, "approve", t.action.ID)...)
			return fmt.Sprint(text, err)
		}}
	}
	pinFile := func(name string, path func(t *target) string) attack {
		return approve("OWNER_PIN_FILE of "+name, func(t *target) ([]string, []string) { return []string{"OWNER_PIN_FILE=" + path(t)}, nil })
	}
	return []attack{
		pinFile("a guess", func(t *target) string { return t.writeFile("guess", wrongPIN) }),
		pinFile("nothing", func(t *target) string { return t.writeFile("guess", "") }),
		pinFile("what verifies it", func(t *target) string { return filepath.Join(t.keys, "owner.json") }),
		pinFile("its mark", func(t *target) string { return filepath.Join(t.Dir, "owner.mark") }),
		pinFile("where it was", func(t *target) string { return filepath.Join(t.home, "pin") }),
		approve("the configuration file", func(t *target) ([]string, []string) {
			path := t.writeFile("evil.toml", "owner_pin_file = \""+t.writeFile("guess", "")+"\"\nfar_recipients = \"ask\"\n")
			return []string{"HEARKEN_CONFIG=" + path}, []string{"--config", path}
		}),
		approve("another directory of keys", func(t *target) ([]string, []string) {
			return []string{"HEARKEN_KEY_DIR=" + filepath.Join(t.home, "evil keys"), "OWNER_PIN_FILE=" + t.writeFile("guess", wrongPIN)}, nil
		}),
		{"setting", "a PIN in another directory of keys", func(ctx context.Context, t *target) string {
			env := []string{"HEARKEN_KEY_DIR=" + filepath.Join(t.home, "evil keys"), "OWNER_PIN_FILE=" + t.writeFile("guess", wrongPIN)}
			text, err := t.run(ctx, env, "", "pin")
			more, again := t.run(ctx, env, "", "approve", t.action.ID)
			return fmt.Sprint(text, err, more, again)
		}},
		{"setting", "a hub of its own on the same database", func(ctx context.Context, t *target) string { return t.otherHub(ctx, "aside") }},
		{"setting", "a hub of its own on the same database, with the mark of the owner's", func(ctx context.Context, t *target) string {
			mark, err := os.ReadFile(filepath.Join(t.Dir, "owner.mark"))
			if err == nil {
				err = os.MkdirAll(filepath.Join(t.home, "marked"), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(t.home, "marked", "owner.mark"), mark, 0o600)
			}
			if err != nil {
				return err.Error()
			}
			return t.otherHub(ctx, "marked")
		}},
		{"setting", "the same once more, about what was asked for since", func(ctx context.Context, t *target) string { return t.otherHub(ctx, "marked") }},
	}
}

// otherHub uses another data directory, in which the agent has set a PIN
// itself, with the owner's database.
func (t *target) otherHub(ctx context.Context, dir string) string {
	env := []string{
		"HEARKEN_DATA_DIR=" + filepath.Join(t.home, dir), "HEARKEN_KEY_DIR=" + filepath.Join(t.home, dir+" keys"),
		"DATABASE_URL=" + filepath.Join(t.Dir, "hearken.db"), "OWNER_PIN_FILE=" + t.writeFile("guess", wrongPIN),
	}
	text, err := t.run(ctx, env, "", "pin")
	more, again := t.run(ctx, env, "", "approve", t.action.ID)
	return fmt.Sprint(text, err, more, again)
}
