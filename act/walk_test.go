package act_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// A step of a walk. Each kind of step uses some of the numbers.
type step struct {
	Do        string
	Who, What int
	For       time.Duration
}

// The kinds of what is requested. No grant may cover the last two.
var walkKinds = []struct{ tool, target string }{
	{hearken.CalendarCreate, "builtin"},
	{hearken.ReminderCreate, "builtin"},
	{hearken.MessageSend, "ntfy:ntfy.example/ada"},
	{hearken.MessageSend, "email:bob@example.org"},
	{hearken.MessageSend, "webhook:hooks.example"},
}

const (
	toOwner   = 2 // the message to the owner, which can be cancelled for a while
	grantable = 3 // the number of kinds that can be granted
	keys      = 4 // of a walk; the last cannot read transcripts
)

func anyStep(rt *rapid.T) step {
	does := []string{
		"pass", "pass", "pass to the end", "pass to the end", "propose", "propose", "propose", "sound", "hush", "hush", "stop", "say",
		"read", "start reading", "stop reading", "stop reading", "approve", "grant", "revoke", "crash", "crash",
	}
	spans := []time.Duration{
		0, time.Second, 29 * time.Second, 31 * time.Second, 59 * time.Second, 4 * time.Minute, 9*time.Minute + 59*time.Second,
		10*time.Minute + time.Second, 11*time.Minute + 5*time.Second, 29*time.Minute + 59*time.Second, 30*time.Minute + time.Second, 31*time.Minute + 5*time.Second,
	}
	s := step{
		Do:  rapid.SampledFrom(does).Draw(rt, "do"),
		Who: rapid.IntRange(0, keys).Draw(rt, "who"), What: rapid.IntRange(0, len(walkKinds)-1).Draw(rt, "what"),
		For: rapid.SampledFrom(spans).Draw(rt, "for"),
	}
	if rapid.Bool().Draw(rt, "any time") {
		s.For = time.Duration(rapid.IntRange(0, 2400).Draw(rt, "seconds")) * time.Second
	}
	return s
}

// A walk makes steps and compares what happens with the rule.
type walk struct {
	*world
	rule     *rule
	keys     []string
	store    *mortal
	grants   map[[2]int]string // by key and kind
	byOwner  map[string]bool   // the actions that the owner approved
	ran      map[string]bool
	delayed  []delayed
	readings []func() // stop those that last
	reader   []string // whose they are
	n        int
	broken   error

	allowed, asked, switchedOff int
}

// A delayed action runs later, if the rule allows it then.
type delayed struct {
	id, key string
	due     time.Time
}

func newWalk(w *world, delay time.Duration) *walk {
	k := &walk{
		world: w, store: &mortal{ExposureStore: w.store}, grants: map[[2]int]string{}, byOwner: map[string]bool{}, ran: map[string]bool{},
		keys: []string{act.Local, w.key("agent"), w.key("reader", hearken.ActionsToolset, "transcription"), w.key("assistant", hearken.ActionsToolset)},
	}
	k.rule = newRule(k.keys[:keys-1]...)
	for _, c := range []*recorder{w.calendar, w.mail, w.topic, w.hook, w.clock} {
		c.hook = k.check
	}
	w.close()
	w.exposed.Store, w.cfg.Delay = k.store, delay
	w.cfg.Retention = time.Minute // so that there is not much to look through
	w.open()
	for key := range k.keys { // as an earlier version may have left them
		for kind := grantable; kind < len(walkKinds); kind++ {
			w.forceGrant(k.keys[key], walkKinds[kind].tool, walkKinds[kind].target)
		}
	}
	return k
}

// check is called when an action is carried out.
func (k *walk) check(a *hearken.Action) {
	k.ran[a.ID] = true
	if k.byOwner[a.ID] {
		return
	}
	kind := slices.IndexFunc(walkKinds, func(is struct{ tool, target string }) bool { return is.tool == a.Tool && is.target == a.Target })
	switch {
	case kind >= grantable:
		k.fail("nobody was asked about a message to %s", a.Target)
	case k.grants[[2]int{slices.Index(k.keys, a.Principal), kind}] == "":
		k.fail("no grant covers %s by %s", a.Tool, a.Principal)
	case k.rule.forbids(a.Principal, time.Now()):
		k.fail("the rule forbids %s by %s now", a.Tool, a.Principal)
	}
}

func (k *walk) fail(format string, args ...any) {
	k.broken = errors.Join(k.broken, fmt.Errorf(format, args...))
}

// do makes one step.
func (k *walk) do(s step) {
	session := "session " + strconv.Itoa(s.What%2)
	switch s.Do {
	case "pass":
		k.pass(s.For)
	case "pass to the end": // of what the rule forbids, and a second more or less
		left := time.Until(k.rule.ends(k.keys[s.Who%keys]))
		if s.For > time.Minute {
			left += k.rule.slack + 2*time.Second
		}
		if left > 0 {
			k.pass(left - time.Second)
		}
		k.proposeAll(s.What)
	case "propose":
		k.proposeAll(s.What)
	case "sound":
		k.calls.sound(session)
		k.rule.hear(session, true)
	case "hush", "stop":
		if k.calls.all[session] != nil {
			k.calls.hush(session)
			k.rule.hear(session, false)
		}
		if s.Do == "stop" && k.calls.all[session] != nil {
			k.calls.stop(session)
		}
	case "say":
		k.say([]hearken.Origin{hearken.Microphone, hearken.System}[s.Who%2], "Please put appointment "+strconv.Itoa(k.n+1)+" into my calendar and remind me")
		k.calls.sound(session)
		k.rule.hear(session, true)
		k.calls.hush(session)
		k.rule.hear(session, false)
	case "read":
		who, as := k.readerOf(s.Who)
		k.cfg.Exposure.Read(as)
		k.rule.reads(who, 0)
	case "start reading":
		who, as := k.readerOf(s.Who)
		k.readings, k.reader = append(k.readings, k.cfg.Exposure.StartReading(as)), append(k.reader, who)
		k.rule.reads(who, 1)
	case "stop reading":
		if n := len(k.readings) - 1; n >= 0 {
			k.readings[n]()
			k.rule.reads(k.reader[n], -1)
			k.readings, k.reader = k.readings[:n], k.reader[:n]
		}
	case "approve":
		k.approveOne()
	case "grant":
		k.grantOne(s.Who%keys, s.What%grantable)
	case "revoke":
		k.revokeOne(s.Who%keys, s.What%grantable)
	case "crash":
		k.crashFor(s.For)
	}
	k.sleep(0)
}

// readerOf returns a reader, and the principal under which it reads.
func (k *walk) readerOf(n int) (reader, principal string) {
	if n < keys-1 {
		return k.keys[n], k.keys[n]
	}
	return nobody, []string{"loopback", ""}[n%2]
}

// proposeAll requests something with each key.
func (k *walk) proposeAll(kind int) {
	for key := range keys {
		k.proposeOne(key, kind)
	}
	if len(k.pending()) > keys {
		k.denyAll()
	}
}

// pass lets time pass and checks what was delayed until then.
func (k *walk) pass(d time.Duration) {
	now := time.Now()
	var due, rest []delayed
	for _, a := range k.delayed {
		if a.due.After(now.Add(d)) {
			rest = append(rest, a)
		} else {
			due = append(due, a)
		}
	}
	k.delayed = rest
	expected := map[string]bool{}
	for _, a := range due {
		expected[a.id] = !k.rule.mayForbid(a.key, a.due)
	}
	k.sleep(d)
	for _, a := range due {
		if expected[a.id] && !k.ran[a.id] {
			k.fail("%s by %s did not run when it was due", a.id, a.key)
		}
		if !k.ran[a.id] {
			k.switchedOff++
		}
	}
}

// proposeOne requests something, and checks whether it ran.
func (k *walk) proposeOne(key, kind int) {
	k.n++
	var req act.Request
	switch name := "appointment " + strconv.Itoa(k.n); kind {
	case 0:
		req = k.event(name)
	case 1:
		req = k.reminder(name, 25*time.Hour)
	default:
		req = k.write([]string{"ntfy", "Bob", "webhook"}[kind-grantable+1], name)
	}
	req.Principal = k.keys[key]
	a, err := k.queue.Propose(k.Context(), req)
	if hearken.CodeOf(err) == hearken.DailyLimit {
		k.denyAll()
		a, err = k.queue.Propose(k.Context(), req)
	}
	if err != nil {
		k.fail("propose: %w", err)
		return
	}
	k.sleep(0)
	covered := kind < grantable && k.grants[[2]int{key, kind}] != ""
	state := k.action(a.ID).State
	switch now := time.Now(); {
	case !covered || k.rule.forbids(k.keys[key], now):
		if covered {
			k.asked++
		}
		if state != hearken.ActionPending {
			k.fail("%s by %s is %s and not asked about", a.Tool, k.keys[key], state)
		}
	case k.rule.mayForbid(k.keys[key], now):
	case kind == toOwner && k.cfg.Delay > 0:
		k.delayed = append(k.delayed, delayed{a.ID, k.keys[key], now.Add(k.cfg.Delay)})
	default:
		if k.allowed++; state != hearken.ActionDone || !k.ran[a.ID] {
			k.fail("%s by %s is %s, although a grant covers it: %v", a.Tool, k.keys[key], state, a.Warnings)
		}
	}
}

// pending lists what waits.
func (k *walk) pending() []hearken.Action {
	all, err := k.queue.Actions(k.Context(), hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}})
	if err != nil {
		k.fail("list: %w", err)
	}
	return all
}

// approveOne lets the owner approve the newest action. It runs, whatever the
// rule about grants says.
func (k *walk) approveOne() {
	all := k.pending()
	if len(all) == 0 {
		return
	}
	k.byOwner[all[0].ID] = true
	_, decided, err := k.queue.Decide(k.Context(), act.DecisionRequest{ID: all[0].ID, Digest: all[0].Digest, Allow: true, By: "owner"})
	if k.sleep(0); err != nil || decided && !k.ran[all[0].ID] {
		k.fail("%s is approved by the owner and did not run: %v", all[0].ID, err)
	}
}

func (k *walk) denyAll() {
	for _, a := range k.pending() {
		if _, _, err := k.queue.Decide(k.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, By: "owner"}); err != nil {
			k.fail("deny: %w", err)
		}
	}
}

func (k *walk) grantOne(key, kind int) {
	if k.grants[[2]int{key, kind}] != "" {
		return
	}
	g, err := k.queue.Grant(k.Context(), hearken.Grant{
		Principal: k.keys[key], Tool: walkKinds[kind].tool, Target: walkKinds[kind].target, PerDay: 1000, ExpiresAt: time.Now().Add(29 * 24 * time.Hour),
	})
	if err != nil {
		k.fail("grant: %w", err)
		return
	}
	k.grants[[2]int{key, kind}] = g.ID
}

func (k *walk) revokeOne(key, kind int) {
	id := k.grants[[2]int{key, kind}]
	if id == "" {
		return
	}
	delete(k.grants, [2]int{key, kind})
	k.delayed = slices.DeleteFunc(k.delayed, func(d delayed) bool { return kind == toOwner && d.key == k.keys[key] })
	if _, err := k.queue.RevokeGrant(k.Context(), id); err != nil {
		k.fail("revoke: %w", err)
	}
}

// crashFor ends the hub and starts another after a while.
func (k *walk) crashFor(d time.Duration) {
	k.store.dead.Store(true)
	active := slices.ContainsFunc([]string{"session 0", "session 1"}, func(id string) bool { return k.calls.all[id] != nil && k.calls.all[id].active })
	k.rule.crashes(active)
	k.close()
	k.stopReadings() // of the old hub, which the next one does not hear of
	k.delayed = nil  // they may be too late
	for _, id := range []string{"session 0", "session 1"} {
		k.calls.hush(id)
	}
	k.sleep(d)
	k.calls.restart()
	if active {
		k.rule.crash = time.Now()
	}
	k.store = &mortal{ExposureStore: k.world.store}
	k.exposed.Store = k.store
	k.open()
}

func (k *walk) stopReadings() {
	for _, stop := range k.readings {
		stop()
	}
	k.readings, k.reader = nil, nil
}

// No sequence of words, reads, grants, requests and crashes lets a granted action
// run while the rule forbids it, and what the rule allows does run.
func TestGrants_RandomWalks(t *testing.T) {
	for _, delay := range []time.Duration{0, 40 * time.Second} {
		for _, crashes := range []bool{false, true} {
			t.Run(fmt.Sprintf("Delay%v/Crashes%v", delay, crashes), func(t *testing.T) {
				var allowed, asked, switchedOff int
				rapid.Check(t, func(rt *rapid.T) {
					steps := rapid.SliceOfN(rapid.Custom(anyStep), 10, 60).Draw(rt, "steps")
					var err error
					run(t, func(w *world) {
						k := newWalk(w, delay)
						defer k.stopReadings()
						for key := range keys {
							for kind := range grantable {
								k.grantOne(key, kind)
							}
						}
						for i, s := range steps {
							if s.Do == "crash" && !crashes {
								continue
							}
							if k.do(s); k.broken != nil {
								err = fmt.Errorf("step %d: %w", i+1, k.broken)
								break
							}
						}
						allowed, asked, switchedOff = allowed+k.allowed, asked+k.asked, switchedOff+k.switchedOff
					})
					if err != nil {
						var walked strings.Builder
						for i, s := range steps {
							fmt.Fprintf(&walked, "%d. %s by %d of %d for %v\n", i+1, s.Do, s.Who, s.What, s.For)
						}
						rt.Fatalf("%v in\n%s", err, walked.String())
					}
				})
				t.Logf("%d ran, %d were asked about, %d were switched off before they ran", allowed, asked, switchedOff)
				if allowed < 10 || asked < 10 || delay > 0 && switchedOff == 0 {
					t.Error("that shows little")
				}
			})
		}
	}
}
