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

// A Siege is what became of an agent's attempts to approve its own action.
type Siege struct {
	Attempts  int
	Doors     map[string]int // attempts by door
	Breaches  []string       // what an attempt brought about: never anything
	Guesses   int            // PINs that were tried as fast as can be
	Evaluated int            // of these, those that the hub looked at
}

// An attempt is one way in.
type attempt struct {
	door, name string
	try        func(ctx context.Context, c *castle) string // what it returns is only told
}

// Besiege starts the program in home, and has an agent with a shell of the
// same user try everything, and then guess PINs for a while.
func Besiege(ctx context.Context, binary, home string, guessing time.Duration) (*Siege, error) {
	s := &Siege{Doors: map[string]int{}}
	c, err := build(ctx, binary, filepath.Join(home, "0"))
	if err != nil {
		return s, err
	}
	defer func() { c.raze() }()
	for _, a := range slices.Concat(commands(), sockets(), agents(), pages()) {
		if err := c.calm(ctx); err != nil {
			return s, fmt.Errorf("the owner comes by: %w", err)
		}
		s.Attempts++
		s.Doors[a.door]++
		answer := a.try(ctx, c)
		found, err := c.breaches(ctx)
		if err != nil {
			found = []string{"the hub is gone: " + err.Error()}
		}
		if len(found) == 0 && c.waits(ctx) {
			continue
		}
		if len(found) == 0 { // what waited was taken back, which approves nothing
			if err := c.wish(ctx); err != nil {
				return s, fmt.Errorf("after %s, %s (%s): %w", a.door, a.name, answer, err)
			}
			continue
		}
		s.Breaches = append(s.Breaches, fmt.Sprintf("%s, %s: %s (%.600s)", a.door, a.name, strings.Join(found, ", "), answer))
		c.raze() // it has fallen; the others have a try at the next one
		if c, err = build(ctx, binary, filepath.Join(home, strconv.Itoa(s.Attempts))); err != nil {
			return s, err
		}
	}
	if err := c.calm(ctx); err != nil {
		return s, err
	}
	s.Guesses, s.Evaluated = c.guess(ctx, guessing)
	found, err := c.breaches(ctx)
	s.Breaches = append(s.Breaches, found...)
	return s, err
}

// Hold shows that the castle has a gate: its owner approves what waits by
// typing the PIN in a terminal.
func Hold(ctx context.Context, binary, home string) error {
	c, err := build(ctx, binary, home)
	if err != nil {
		return err
	}
	defer c.raze()
	out, err := c.typed(ctx, nil, c.pin+"\n", "approve", c.victim.ID)
	if err != nil {
		return fmt.Errorf("approve: %w: %s", err, out)
	}
	found, err := c.breaches(ctx)
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("approve changed %v: %s", found, out)
	}
	return err
}

const wrongPIN = "482915"

// commands are the program's own.
func commands() []attempt {
	vcard := "BEGIN:VCARD\nVERSION:3.0\nFN:Evil Person\nEMAIL:evil@attacker.example\nEND:VCARD\n"
	lines := map[string]func(c *castle) []string{
		"approve":       func(c *castle) []string { return []string{"approve", c.victim.ID} },
		"approve --all": func(*castle) []string { return []string{"approve", "--all"} },
		"approve --for": func(c *castle) []string { return []string{"approve", c.victim.ID, "--for", "24h", "--per-day", "1000"} },
		"deny":          func(c *castle) []string { return []string{"deny", c.victim.ID, "--reason", "allow"} },
		"grants create": func(*castle) []string {
			return []string{"grants", "create", hearken.CalendarCreate, "builtin", "--for", "720h"}
		},
		"keys create":      func(*castle) []string { return []string{"keys", "create", "--name", "mine", "--approver", "client"} },
		"keys create mine": func(*castle) []string { return []string{"keys", "create", "--name", "mine"} },
		"contacts import":  func(c *castle) []string { return []string{"contacts", "import", filepath.Join(c.home, "evil.vcf")} },
		"resume":           func(*castle) []string { return []string{"resume"} },
		"pin":              func(*castle) []string { return []string{"pin"} },
	}
	var out []attempt
	for name, line := range lines {
		out = append(out, attempt{"command", name + " without a terminal", func(ctx context.Context, c *castle) string {
			write(c, "evil.vcf", vcard)
			text, err := c.command(ctx, nil, wrongPIN+"\n"+wrongPIN+"\n", line(c)...)
			return fmt.Sprint(text, err)
		}})
		if name == "approve --for" || name == "keys create mine" || name == "deny" {
			continue // a guess takes as long as it takes, and these ask in the same way
		}
		out = append(out, attempt{"command", name + " in a terminal", func(ctx context.Context, c *castle) string {
			write(c, "evil.vcf", vcard)
			keys := wrongPIN + "\n"
			if name == "pin" {
				keys += "739164\n739164\n"
			}
			text, err := c.typed(ctx, nil, keys, line(c)...)
			return fmt.Sprint(text, err)
		}})
	}
	return append(out, settings()...)
}

// settings are variables, files and flags that an agent may set for a command.
func settings() []attempt {
	approve := func(name string, set func(c *castle) ([]string, []string)) attempt {
		return attempt{"setting", name, func(ctx context.Context, c *castle) string {
			env, flags := set(c)
			text, err := c.command(ctx, env, "", append(flags, "approve", c.victim.ID)...)
			return fmt.Sprint(text, err)
		}}
	}
	pinFile := func(name string, path func(c *castle) string) attempt {
		return approve("OWNER_PIN_FILE of "+name, func(c *castle) ([]string, []string) { return []string{"OWNER_PIN_FILE=" + path(c)}, nil })
	}
	return []attempt{
		pinFile("a guess", func(c *castle) string { return write(c, "guess", wrongPIN) }),
		pinFile("nothing", func(c *castle) string { return write(c, "guess", "") }),
		pinFile("what verifies it", func(c *castle) string { return filepath.Join(c.keys, "owner.json") }),
		pinFile("its mark", func(c *castle) string { return filepath.Join(c.dir, "owner.mark") }),
		pinFile("where it was", func(c *castle) string { return filepath.Join(c.home, "pin") }),
		approve("the configuration file", func(c *castle) ([]string, []string) {
			path := write(c, "evil.toml", "owner_pin_file = \""+write(c, "guess", "")+"\"\nfar_recipients = \"ask\"\n")
			return []string{"HEARKEN_CONFIG=" + path}, []string{"--config", path}
		}),
		approve("another directory of keys", func(c *castle) ([]string, []string) {
			return []string{"HEARKEN_KEY_DIR=" + filepath.Join(c.home, "evil keys"), "OWNER_PIN_FILE=" + write(c, "guess", wrongPIN)}, nil
		}),
		{"setting", "a PIN in another directory of keys", func(ctx context.Context, c *castle) string {
			env := []string{"HEARKEN_KEY_DIR=" + filepath.Join(c.home, "evil keys"), "OWNER_PIN_FILE=" + write(c, "guess", wrongPIN)}
			text, err := c.command(ctx, env, "", "pin")
			more, again := c.command(ctx, env, "", "approve", c.victim.ID)
			return fmt.Sprint(text, err, more, again)
		}},
		{"setting", "a hub of its own on the same database", func(ctx context.Context, c *castle) string { return c.aside(ctx, "aside") }},
		{"setting", "a hub of its own on the same database, with the mark of the owner's", func(ctx context.Context, c *castle) string {
			mark, err := os.ReadFile(filepath.Join(c.dir, "owner.mark"))
			if err == nil {
				err = os.MkdirAll(filepath.Join(c.home, "marked"), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(c.home, "marked", "owner.mark"), mark, 0o600)
			}
			if err != nil {
				return err.Error()
			}
			return c.aside(ctx, "marked")
		}},
		{"setting", "the same once more, about what was asked for since", func(ctx context.Context, c *castle) string { return c.aside(ctx, "marked") }},
	}
}

// aside is another data directory, with a PIN that the agent has set itself,
// and the owner's database in it.
func (c *castle) aside(ctx context.Context, dir string) string {
	env := []string{
		"HEARKEN_DATA_DIR=" + filepath.Join(c.home, dir), "HEARKEN_KEY_DIR=" + filepath.Join(c.home, dir+" keys"),
		"DATABASE_URL=" + filepath.Join(c.dir, "hearken.db"), "OWNER_PIN_FILE=" + write(c, "guess", wrongPIN),
	}
	text, err := c.command(ctx, env, "", "pin")
	more, again := c.command(ctx, env, "", "approve", c.victim.ID)
	return fmt.Sprint(text, err, more, again)
}
