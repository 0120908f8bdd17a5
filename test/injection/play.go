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
)

// patience is how long the hub may take to write down what was said.
const patience = 20 * time.Second

// play has the hub hear a session, at the pace of the scene's clock.
func (r *room) play(ctx context.Context, i int, s *Session) (id string, err error) {
	near, far, length := script(s.Talk)
	req := live.StartRequest{Provider: engineName(i), Principal: act.Local, Recorded: s.Recorded}
	switch s.Principal {
	case "":
		req.Capture = !s.Recorded
	case agentKey:
		req.Principal = r.key
	default:
		req.Principal = s.Principal
	}
	session, err := r.hub.Start(ctx, req)
	if err != nil {
		return "", err
	}
	in, err := r.hub.Attach(ctx, session.ID, req.Principal)
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
	if s.Deaf {
		r.engines[i].far.Stall()
		far = nil
	}
	frame, entries := make([]int16, hearken.SampleRate/10), 0
	for n := 1; float64(n)/10 <= length; n++ {
		r.clock.pass(100 * time.Millisecond)
		if err := in.Write([][]int16{frame, frame}[:channels]...); err != nil {
			return "", fmt.Errorf("sound: %w", err)
		}
		if now := said(near, far, float64(n)/10); now > entries {
			entries = now
			if err := r.heard(ctx, session.ID, entries); err != nil {
				return "", err
			}
		}
		if err := r.shown(ctx, session.ID, far, float64(n)/10, length); err != nil {
			return "", err
		}
	}
	in.Detach()
	if s.Ends || s.Recorded {
		r.engines[i].far.Resume()
		if _, err := r.hub.Stop(ctx, session.ID); err != nil {
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

// shown waits until the hub shows what the far side is saying, where it goes on
// when the talk is over.
func (r *room) shown(ctx context.Context, id string, far []stttest.Line, now, length float64) error {
	if len(far) == 0 {
		return nil
	}
	last := far[len(far)-1]
	words := len(strings.Fields(last.Text))
	want := int((now-last.Start)/(last.End-last.Start)*float64(words) - 0.01)
	if last.End < length || want < 1 {
		return nil
	}
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		page, err := r.hub.Read(ctx, live.ReadRequest{Session: id, Interim: true})
		if err != nil {
			return err
		}
		for _, e := range page.Interim {
			if e.Origin == hearken.System && len(strings.Fields(e.Text)) >= want {
				return nil
			}
		}
		if !rest(ctx, time.Millisecond) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the hub does not show %d words of the far side", want)
}

// heard waits until the hub has so many entries: in a room sound passes no
// faster than it is heard.
func (r *room) heard(ctx context.Context, id string, entries int) error {
	page, err := r.hub.Read(ctx, live.ReadRequest{Session: id, From: entries - 1, Limit: 1, Wait: patience})
	if err == nil && page.Total < entries {
		err = fmt.Errorf("the hub has %d entries of %d", page.Total, entries)
	}
	return err
}

// A Result is what came of a scene.
type Result struct {
	Scene    *Scene
	Effects  int      // what connectors were told to do, or will be
	Calls    int      // actions that were asked for
	Unwarned int      // of these, waiting without a word of warning to who decides
	Why      []string // who the hub thinks said what, of those that should have gone otherwise
}

// Play plays a scene in a room of its own in dir. With insist the agent asks in
// every way it can think of, without it once for each wish.
func (st *Stage) Play(ctx context.Context, dir string, s *Scene, insist bool) (res Result, err error) {
	res.Scene = s
	r, err := st.set(ctx, dir, s)
	if err != nil {
		return res, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, r.close(ctx))
		}
	}()
	var sessions []string
	for i := range s.Sessions {
		id, err := r.play(ctx, i, &s.Sessions[i])
		if err != nil {
			return res, fmt.Errorf("%s: %w", s.Name, err)
		}
		sessions = append(sessions, id)
		r.clock.pass(s.Sessions[i].Then)
	}
	r.clock.pass(time.Second)
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
			principal = r.key
		}
		a, err := r.hire(ctx, principal, sessions)
		if err != nil {
			return res, err
		}
		a.second = i > 0
		err = a.obey(ctx, s.Wishes, insist)
		a.leave()
		if err != nil {
			return res, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	actions, err := r.desk.Actions(ctx, hearken.ActionFilter{})
	if err != nil {
		return res, err
	}
	for _, e := range r.engines {
		e.far.Resume()
	}
	closed = true
	if err := r.close(ctx); err != nil { // it waits for what is being carried out
		return res, err
	}
	res.Calls = len(actions)
	allowed := 0 // the desk may have closed before the last of these began
	for i := range actions {
		a := &actions[i]
		if a.Decision != nil && a.Decision.Allow {
			allowed++
		}
		if a.Grantable {
			res.Unwarned++
		}
		if why := explain(a); a.Grantable == insist && !slices.Contains(res.Why, why) {
			res.Why = append(res.Why, why)
		}
	}
	res.Effects = r.done.count()
	if insist {
		res.Effects = max(res.Effects, allowed)
	}
	return res, nil
}

// obey asks for everything.
func (a *agent) obey(ctx context.Context, wishes []Wish, insist bool) error {
	for i, w := range wishes {
		if insist {
			if err := a.insist(ctx, w, a.second || i > 0); err != nil {
				return err
			}
			continue
		}
		id, _, err := a.call(ctx, w.Tool, w.Args)
		if err != nil {
			return err
		}
		if id != "" {
			if _, err := a.room.desk.Await(ctx, id, settled); err != nil {
				return err
			}
		}
	}
	return nil
}

// settled is how long something that a grant covers may take.
const settled = 2 * time.Second

// explain says who the hub thinks said what of an action.
func explain(a *hearken.Action) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s to %s", a.Tool, a.Target)
	for _, e := range a.Evidence {
		fmt.Fprintf(&out, "; %s %q cover %.2f echo %t %q", e.Arg, e.Source, e.Coverage, e.Echo, e.Quote)
	}
	return out.String()
}
