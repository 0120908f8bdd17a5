package injection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/audit"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/store/sqlite"
)

// A simulation is a hub with an action queue, in which scenes are played.
type simulation struct {
	store   *sqlite.Store
	hub     *live.Hub
	read    *act.Exposure
	queue   *act.Queue
	audit   *audit.Log
	factory *mcpserver.Factory
	clock   *clock
	done    *effects
	key     string // the id of the agent's key
	engine  engine
}

// A clock is the time of the scene, which passes with the audio.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// effects are what connectors were told to do.
type effects struct {
	mu   sync.Mutex
	done []hearken.Action
}

func (e *effects) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.done)
}

// A counter is a connector that only counts.
type counter struct {
	name string
	to   *effects
}

var _ hearken.Connector = counter{}

func (c counter) Name() string     { return c.name }
func (c counter) Repeatable() bool { return false }

func (c counter) Do(_ context.Context, a *hearken.Action) hearken.Outcome {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	c.to.done = append(c.to.done, *a)
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: "counted"}
}

// An undoable is a counter whose effects can be undone, so that it may be
// granted.
type undoable struct{ counter }

var _ hearken.Undoer = undoable{}

func (undoable) Undo(context.Context, *hearken.Action) hearken.Outcome {
	return hearken.Outcome{Result: hearken.ResultOK}
}

// ownTopic is the only target of the messenger that reaches nobody but the
// owner.
const ownTopic = "ada"

// A toOwner is a messenger that reaches nobody but the owner.
type toOwner struct{ counter }

var _ hearken.SingleTarget = toOwner{}

func (toOwner) Target() string { return ownTopic }
func (toOwner) Own() bool      { return true }

// people are the owner's contacts.
var people = []hearken.Contact{
	{ID: "c0", Name: "Ada Quist", Emails: []string{"ada@quist.example"}, Me: true},
	{ID: "c1", Name: "Bob Stone", Emails: []string{"bob@stone.example"}, Phones: []string{"+4930901820"}},
	{ID: "c2", Name: "Anna Keller", Emails: []string{"anna.keller@keller.example"}},
	{ID: "c3", Name: "田中一郎", Aliases: []string{"田中"}, Emails: []string{"tanaka@yama.example"}},
	{ID: "c4", Name: "João Silva", Emails: []string{"joao@silva.example"}},
	{ID: "c5", Name: "Ingrid Svensson", Emails: []string{"ingrid@svensson.example"}},
	{ID: "c6", Name: "Carlos Ruiz", Emails: []string{"carlos@ruiz.example"}, Phones: []string{"+34911234567"}},
	{ID: "c7", Name: "Mark Webb", Emails: []string{"mark@webb.example"}},
}

// attackers are addresses that no owner would grant. They are granted here, as
// earlier versions allowed, so that only the rule for messages stands between
// them and an effect.
var attackers = []string{
	"email:evil@attacker.example", "email:pay@collect.example", "email:x9@drop.example", "email:kai@kassen.example",
	"email:eva@stjarna.example", "email:rosa@luna.example", "email:yamada@kura.example", "email:lucas@praia.example",
	"sms:+4930123456", "sms:+34600111222", "sms:+818012345678", "email:bob@st0ne.example",
}

// A template is what all scenes begin with: a contact book, the agent's key, and
// every grant that can be made.
type template struct {
	dir string
	key string // the id of the agent's key
	now time.Time
}

// newTemplate makes a template in dir.
func newTemplate(ctx context.Context, dir string) (*template, error) {
	s := &template{dir: dir, now: time.Now().Truncate(time.Second)}
	sim, err := s.open(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	err = sim.fill(ctx)
	s.key = sim.key
	return s, errors.Join(err, sim.close(ctx))
}

// copyTo copies the template to dir and opens a hub there, with old grants for
// messages to these targets.
func (tm *template) copyTo(ctx context.Context, dir string, targets []string) (*simulation, error) {
	if err := os.CopyFS(dir, os.DirFS(tm.dir)); err != nil {
		return nil, fmt.Errorf("copy template: %w", err)
	}
	return tm.open(ctx, dir, targets)
}

func (tm *template) open(ctx context.Context, dir string, targets []string) (sim *simulation, err error) {
	sim = &simulation{clock: &clock{now: tm.now}, done: &effects{}, key: tm.key}
	defer func() {
		if err != nil {
			err = errors.Join(err, sim.close(ctx))
		}
	}()
	if sim.store, err = sqlite.Open(ctx, filepath.Join(dir, "hearken.db")); err != nil {
		return sim, err
	}
	quiet := slog.New(slog.DiscardHandler)
	if sim.hub, err = live.Open(ctx, live.Config{
		Dir: dir, Store: sim.store, Providers: []hearken.Provider{&sim.engine}, DefaultLanguage: "en", SpoolMemory: true, Log: quiet, Now: sim.clock.Now,
	}); err != nil {
		return sim, err
	}
	if sim.audit, err = audit.Open(audit.Config{Dir: filepath.Join(dir, "audit"), KeyDir: filepath.Join(dir, "keys"), Now: sim.clock.Now}); err != nil {
		return sim, err
	}
	if sim.read, err = act.OpenExposure(ctx, act.ExposureConfig{Store: sim.store, LastAudio: sim.hub.LastAudio, Log: quiet, Now: sim.clock.Now}); err != nil {
		return sim, err
	}
	if sim.queue, err = act.Open(ctx, act.Config{
		Dir: dir, Store: sim.store, Audit: sim.audit, Transcripts: sim.hub, Exposure: sim.read, Calls: sim.hub, Zone: time.UTC, Log: quiet, Now: sim.clock.Now,
		Calendars:     []hearken.Connector{undoable{counter{"builtin", sim.done}}},
		Messengers:    []hearken.Connector{counter{"email", sim.done}, counter{"sms", sim.done}, toOwner{counter{"ntfy", sim.done}}},
		Reminders:     []hearken.Connector{undoable{counter{"builtin", sim.done}}},
		FarRecipients: true, // so that not even this stands before the grants
	}); err != nil {
		return sim, err
	}
	sim.factory = mcpserver.New(mcpserver.Options{
		Hub: sim.hub, Actions: sim.queue, Limit: -1, ActionWait: time.Millisecond, Log: quiet, OnRead: sim.read.Read,
		AudioURL: func(context.Context, string, string) string { return "" },
	})
	return sim, sim.saveOldGrants(ctx, targets)
}

// fill fills the contact book and has the owner make every grant that can be
// made.
func (sim *simulation) fill(ctx context.Context) error {
	key, _ := hearken.NewKey("agent", sim.clock.Now(), nil)
	sim.key = key.ID
	if err := sim.store.SaveKey(ctx, &key); err != nil {
		return err
	}
	for i := range people {
		if err := sim.store.SaveContact(ctx, &people[i]); err != nil {
			return err
		}
	}
	for _, who := range []string{act.Local, sim.key} {
		for _, g := range []hearken.Grant{
			{Tool: hearken.CalendarCreate, Target: "builtin"}, {Tool: hearken.ReminderCreate, Target: "builtin"},
			{Tool: hearken.MessageSend, Target: "ntfy:" + ownTopic}, {Tool: hearken.MessageSend, Target: "email:" + people[0].Emails[0]},
		} {
			g.Principal, g.PerDay, g.ExpiresAt = who, 1000, sim.clock.Now().AddDate(1, 0, 0)
			if g.Tool == hearken.MessageSend {
				g.ExpiresAt = sim.clock.Now().AddDate(0, 0, 30)
			}
			if _, err := sim.queue.Grant(ctx, g); err != nil {
				return fmt.Errorf("grant %s: %w", g.Target, err)
			}
		}
	}
	return nil
}

// saveOldGrants puts grants for messages to people into the store, as earlier
// versions made them. The queue revokes those that it finds at its start; these
// come later.
func (sim *simulation) saveOldGrants(ctx context.Context, targets []string) error {
	for i, target := range targets {
		for _, who := range []string{act.Local, sim.key} {
			g := hearken.Grant{
				ID: fmt.Sprintf("grn_old%s%d", who, i), Principal: who, Tool: hearken.MessageSend, Target: target, PerDay: 1000,
				CreatedAt: sim.clock.Now(), ExpiresAt: sim.clock.Now().AddDate(1, 0, 0),
			}
			if err := sim.store.SaveGrant(ctx, &g); err != nil {
				return err
			}
		}
	}
	return nil
}

// allTargets are all addresses of the contacts and of the attackers.
func allTargets() []string {
	targets := slices.Clone(attackers)
	for i := range people {
		for _, a := range people[i].Emails {
			targets = append(targets, "email:"+a)
		}
		for _, p := range people[i].Phones {
			targets = append(targets, "sms:"+p)
		}
	}
	return targets
}

// targetsOf are the addresses that a scene's calls may reach.
func targetsOf(sc *scene) []string {
	var names []string
	for _, c := range sc.Calls {
		if to, ok := c.Args["to"].(string); ok {
			names = append(append(names, to), otherNames(to)...)
		}
	}
	return slices.DeleteFunc(allTargets(), func(target string) bool {
		_, address, _ := strings.Cut(target, ":")
		return !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(strings.ReplaceAll(name, " ", ""), address) })
	})
}

// close waits until all that was approved has been carried out, and ends the
// simulation.
func (sim *simulation) close(ctx context.Context) error {
	var errs []error
	if sim.factory != nil {
		sim.factory.Close()
	}
	if sim.queue != nil {
		errs = append(errs, sim.queue.Close(ctx))
	}
	if sim.audit != nil {
		errs = append(errs, sim.audit.Close())
	}
	if sim.hub != nil {
		errs = append(errs, sim.hub.Close(ctx))
	}
	if sim.store != nil {
		errs = append(errs, sim.store.Close())
	}
	return errors.Join(errs...)
}
