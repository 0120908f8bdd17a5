package injection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/stt/stttest"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// timeout is how long the hub may take for anything.
const timeout = 20 * time.Second

// transcribe sends a conversation to the hub, at the pace of the scene's clock.
func (sim *simulation) transcribe(ctx context.Context, s *conversation) (id string, err error) {
	near, far, length := script(s.Talk)
	req := hearken.StartRequest{Provider: engineName, Principal: act.Local, Recorded: s.Recorded}
	switch s.Principal {
	case "":
		req.Capture = !s.Recorded
	case agentKey:
		req.Principal = sim.key
	default:
		req.Principal = s.Principal
	}
	session, err := sim.hub.Start(ctx, req)
	if err != nil {
		return "", err
	}
	voices := sim.engine.perform(session.ID, near, far)
	in, err := sim.hub.Attach(ctx, session.ID, req.Principal)
	if err != nil {
		return "", err
	}
	channels := 2
	if s.Mono {
		channels, far = 1, nil
	}
	if err := in.Describe("linear16", hearken.SampleRate, channels); err != nil {
		return "", err
	}
	if s.FarDelayed {
		voices.far.Stall()
		far = nil
	}
	frame, entries := make([]int16, hearken.SampleRate/10), 0
	for n := 1; float64(n)/10 <= length; n++ {
		sim.clock.advance(100 * time.Millisecond)
		if err := in.Write([][]int16{frame, frame}[:channels]...); err != nil {
			return "", fmt.Errorf("audio: %w", err)
		}
		if now := said(near, far, float64(n)/10); now > entries {
			entries = now
			if err := sim.waitEntries(ctx, session.ID, entries); err != nil {
				return "", err
			}
		}
		if err := sim.waitShown(ctx, session.ID, far, float64(n)/10, length); err != nil {
			return "", err
		}
	}
	in.Detach()
	if s.Ends || s.Recorded {
		voices.far.Resume()
		if _, err := sim.hub.Stop(ctx, session.ID); err != nil {
			return "", err
		}
	}
	return session.ID, nil
}

// said is how many lines have been confirmed at a time. The engine confirms a
// line a moment after its end.
func said(near, far []stttest.Line, now float64) int {
	n := 0
	for _, lines := range [][]stttest.Line{near, far} {
		for _, l := range lines {
			if l.End+0.2 < now-0.05 {
				n++
			}
		}
	}
	return n
}

// waitShown waits until the hub shows what the far side is saying, if it
// still speaks when the conversation ends.
func (sim *simulation) waitShown(ctx context.Context, id string, far []stttest.Line, now, length float64) error {
	if len(far) == 0 {
		return nil
	}
	last := far[len(far)-1]
	words := len(strings.Fields(last.Text))
	want := int((now-last.Start)/(last.End-last.Start)*float64(words) - 0.01)
	if last.End < length || want < 1 {
		return nil
	}
	deadline := time.Now().Add(timeout)
	for time.Now().Before(deadline) {
		page, err := sim.hub.Read(ctx, live.ReadRequest{Session: id, Interim: true})
		if err != nil {
			return err
		}
		for _, e := range page.Interim {
			if e.Origin == hearken.System && len(strings.Fields(e.Text)) >= want {
				return nil
			}
		}
		if !hubtest.Sleep(ctx, time.Millisecond) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the hub does not show %d words of the far side", want)
}

// waitEntries waits until the hub has so many entries, so that audio passes no
// faster than it is transcribed.
func (sim *simulation) waitEntries(ctx context.Context, id string, entries int) error {
	page, err := sim.hub.Read(ctx, live.ReadRequest{Session: id, From: entries - 1, Limit: 1, Wait: timeout})
	if err == nil && page.Total < entries {
		err = fmt.Errorf("the hub has %d entries of %d", page.Total, entries)
	}
	return err
}

// A result is what came of a scene.
type result struct {
	effects     int      // what connectors carried out, or will
	early       int      // of these, those before the owner decided
	actions     int      // that the agent asked for
	unexplained []string // of these, those that a grant covers and that wait without saying why
	evidence    []string // that the hub found for each
}

// play plays a scene in a simulation of its own in dir. With insist the agent asks
// in every way it can think of. Without it the agent asks once for each call, and
// then the owner approves all of it.
func (tm *template) play(ctx context.Context, dir string, s *scene, insist bool) (res result, err error) {
	sim, err := tm.copyTo(ctx, dir, targetsOf(s))
	if err != nil {
		return res, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, sim.close(ctx))
		}
	}()
	var sessions []string
	for i := range s.Sessions {
		id, err := sim.transcribe(ctx, &s.Sessions[i])
		if err != nil {
			return res, fmt.Errorf("%s: %w", s.Name, err)
		}
		sessions = append(sessions, id)
		sim.clock.advance(s.Sessions[i].Then)
	}
	sim.clock.advance(time.Second)
	principals := s.As
	switch {
	case len(principals) > 0:
	case insist:
		principals = []string{agentKey, act.Local}
	default:
		principals = []string{agentKey}
	}
	for i, principal := range principals {
		if principal == agentKey {
			principal = sim.key
		}
		a, err := sim.connectAgent(ctx, principal)
		if err != nil {
			return res, err
		}
		a.second, a.sessions = i > 0, sessions
		if a.entries, err = a.readSession(ctx, sessions[0]); err != nil {
			return res, err
		}
		err = a.makeCalls(ctx, s.Calls, insist)
		a.close()
		if err != nil {
			return res, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if res.early = sim.done.count(); !insist {
		if err := sim.approveAll(ctx); err != nil {
			return res, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	actions, err := sim.queue.Actions(ctx, hearken.ActionFilter{})
	if err != nil {
		return res, err
	}
	sim.engine.resume()
	closed = true
	if err := sim.close(ctx); err != nil { // it waits for what is being carried out
		return res, err
	}
	res.actions = len(actions)
	allowed := 0 // the queue may have closed before the last of these was carried out
	for i := range actions {
		a := &actions[i]
		if a.Decision != nil && a.Decision.Allow {
			allowed++
		}
		if a.Grantable && !slices.ContainsFunc(a.Warnings, func(w string) bool { return strings.HasSuffix(w, "so you are asked.") }) {
			res.unexplained = append(res.unexplained, a.ID)
		}
		if why := explain(a); !slices.Contains(res.evidence, why) {
			res.evidence = append(res.evidence, why)
		}
	}
	res.effects = max(sim.done.count(), allowed)
	return res, nil
}

// makeCalls makes all calls, with insist in every way it can think of.
func (a *agent) makeCalls(ctx context.Context, calls []toolCall, insist bool) error {
	for i, w := range calls {
		if insist {
			if err := a.insist(ctx, w, a.second || i > 0); err != nil {
				return err
			}
			continue
		}
		if _, _, err := a.call(ctx, w.Tool, w.Args); err != nil {
			return err
		}
	}
	return nil
}

// approveAll has the owner approve all that waits, and waits for the effects. All
// of it must belong to the call in which it was requested.
func (sim *simulation) approveAll(ctx context.Context) error {
	waiting, err := sim.queue.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}})
	if err != nil {
		return err
	}
	for i := range waiting {
		a := &waiting[i]
		if a.Call == "" {
			return fmt.Errorf("%s belongs to no call", explain(a))
		}
		if _, _, err := sim.queue.Decide(ctx, act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner", From: "page"}); err != nil {
			return err
		}
		if a, err = sim.queue.Await(ctx, a.ID, timeout); err != nil || a.State != hearken.ActionDone {
			return fmt.Errorf("%s: %w", explain(a), err)
		}
	}
	return nil
}

// explain says who, according to the hub, said what of an action.
func explain(a *hearken.Action) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s to %s is %s", a.Tool, a.Target, a.State)
	for _, e := range a.Evidence {
		fmt.Fprintf(&out, "; %s %q cover %.2f echo %t %q", e.Arg, e.Source, e.Coverage, e.Echo, e.Quote)
	}
	return out.String()
}
