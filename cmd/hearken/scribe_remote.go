package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/pipe"
)

// A scribeCall is what a command asks the hub's scribe for, over the local
// socket.
type scribeCall struct {
	Do    string               `json:"do"` // start, stop, new, status, sessions, tail, cat, grep, meter
	Limit int                  `json:"limit,omitempty"`
	Tail  *hearken.TailRequest `json:"tail,omitempty"`
	Cat   *hearken.CatRequest  `json:"cat,omitempty"`
	Grep  *hearken.GrepRequest `json:"grep,omitempty"`
}

// A meter is how the capture is doing now, for people who watch.
type meter struct {
	Running bool
	Session string
	Length  time.Duration
	Levels  []float64
	Lag     float64 // seconds
	Health  string
	Notes   []string
}

// serveScribe answers a command.
func serveScribe(ctx context.Context, hub *live.Hub, s hearken.Scribe, call *scribeCall) (any, error) {
	answer, err := askScribe(ctx, hub, s, call)
	if err != nil && ctx.Err() != nil {
		err = hearken.Errorf(hearken.Busy, "The hub is shutting down.")
	}
	return answer, err
}

func askScribe(ctx context.Context, hub *live.Hub, s hearken.Scribe, call *scribeCall) (any, error) {
	if s == nil || call == nil {
		return nil, hearken.Errorf(hearken.NotFound, "This hub does not capture this computer's audio.")
	}
	switch {
	case call.Do == "start":
		return s.Start(ctx)
	case call.Do == "stop":
		return s.Stop(ctx)
	case call.Do == "new":
		return s.New(ctx)
	case call.Do == "status":
		return s.Status(ctx)
	case call.Do == "sessions":
		return s.Sessions(ctx, call.Limit)
	case call.Do == "tail" && call.Tail != nil:
		return s.Tail(ctx, *call.Tail)
	case call.Do == "cat" && call.Cat != nil:
		return s.Cat(ctx, *call.Cat)
	case call.Do == "grep" && call.Grep != nil:
		return s.Grep(ctx, *call.Grep)
	case call.Do == "meter":
		return readMeter(ctx, hub, s)
	}
	return nil, hearken.Errorf(hearken.Invalid, "The running hub does not know the scribe command %q.", call.Do).
		WithTry("restart the hub with the same version as this command")
}

func readMeter(ctx context.Context, hub *live.Hub, s hearken.Scribe) (*meter, error) {
	st, err := s.Status(ctx)
	if err != nil {
		return nil, err
	}
	m := &meter{Running: st.Running, Session: st.Session, Length: st.Length, Notes: st.Notes, Levels: st.Levels}
	if hub != nil && st.Session != "" {
		if about, err := hub.Status(ctx, st.Session); err == nil { // of a foreign scribe it knows nothing
			m.Lag, m.Health = about.Lag, about.Health
		}
	}
	return m, nil
}

var _ hearken.Scribe = (*remoteScribe)(nil)

// A remoteScribe is the hub's scribe, seen from a command. It takes one call at
// a time, and none after one that was given up.
type remoteScribe struct{ conn net.Conn }

// do asks for one thing and waits for the answer.
func (r *remoteScribe) do(ctx context.Context, call scribeCall, out any) error {
	give := context.AfterFunc(ctx, func() { r.conn.SetDeadline(time.Now()) })
	defer give()
	err := json.NewEncoder(r.conn).Encode(struct {
		Op     string     `json:"op"`
		Scribe scribeCall `json:"scribe"`
	}{"scribe", call})
	var res controlResult
	if err == nil {
		err = json.NewDecoder(r.conn).Decode(&res)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("ask hub: %w", err)
	case res.Error != nil:
		return forPeople(res.Error.Err())
	}
	return json.Unmarshal(res.Result, out)
}

// forPeople turns advice for agents into advice for people.
func forPeople(err error) error {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		e.Try = strings.NewReplacer("pscribe_start", "hearken scribe start", "pscribe_sessions", "hearken scribe list").Replace(commandFor(e.Try))
	}
	return err
}

// asked makes one call whose answer is a T.
func asked[T any](ctx context.Context, r *remoteScribe, call scribeCall) (T, error) {
	var out T
	err := r.do(ctx, call, &out)
	return out, err
}

func (r *remoteScribe) Start(ctx context.Context) (*hearken.ScribeStatus, error) {
	return asked[*hearken.ScribeStatus](ctx, r, scribeCall{Do: "start"})
}

func (r *remoteScribe) Stop(ctx context.Context) (*hearken.ScribeStatus, error) {
	return asked[*hearken.ScribeStatus](ctx, r, scribeCall{Do: "stop"})
}

func (r *remoteScribe) New(ctx context.Context) (*hearken.ScribeStatus, error) {
	return asked[*hearken.ScribeStatus](ctx, r, scribeCall{Do: "new"})
}

func (r *remoteScribe) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	return asked[*hearken.ScribeStatus](ctx, r, scribeCall{Do: "status"})
}

func (r *remoteScribe) Sessions(ctx context.Context, limit int) ([]hearken.ScribeSession, error) {
	return asked[[]hearken.ScribeSession](ctx, r, scribeCall{Do: "sessions", Limit: limit})
}

func (r *remoteScribe) Tail(ctx context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	return asked[*hearken.ScribePage](ctx, r, scribeCall{Do: "tail", Tail: &req})
}

func (r *remoteScribe) Cat(ctx context.Context, req hearken.CatRequest) ([]hearken.ScribePage, error) {
	return asked[[]hearken.ScribePage](ctx, r, scribeCall{Do: "cat", Cat: &req})
}

func (r *remoteScribe) Grep(ctx context.Context, req hearken.GrepRequest) ([]hearken.ScribePage, error) {
	return asked[[]hearken.ScribePage](ctx, r, scribeCall{Do: "grep", Grep: &req})
}

func (r *remoteScribe) meter(ctx context.Context) (*meter, error) {
	return asked[*meter](ctx, r, scribeCall{Do: "meter"})
}

// withScribe connects to the hub's scribe. What begins a capture needs a hub
// that stays when the command has ended, so it starts one where none runs.
func (p *program) withScribe(ctx context.Context, stays bool, use func(hearken.Scribe) error) error {
	c, err := p.joinScribe(ctx, stays)
	if err != nil {
		return err
	}
	defer c.close()
	return use(&remoteScribe{c.conn})
}

// rejoinScribe waits for the hub that takes over from one that has gone, and
// starts none.
func (p *program) rejoinScribe(ctx context.Context) (*client, error) {
	hello := p.hello()
	hello.Want, hello.Toolsets = pipe.WantControl, nil
	conn, _, err := pipe.DialOrStart(ctx, p.cfg.DataDir, hello, func(context.Context) error {
		return hearken.Errorf(hearken.Busy, "The hub stopped, and the capture with it.").WithTry("hearken listen, to start a new one")
	})
	if err != nil {
		return nil, err
	}
	return &client{conn: conn}, nil
}

func (p *program) joinScribe(ctx context.Context, stays bool) (*client, error) {
	if !stays {
		return p.join(ctx, pipe.WantControl)
	}
	hello := p.hello()
	hello.Want, hello.Toolsets = pipe.WantControl, nil
	start := p.spawn
	if !p.cfg.Spawn {
		start = func(context.Context) error { return pipe.ErrSpawn }
	}
	conn, _, err := pipe.DialOrStart(ctx, p.cfg.DataDir, hello, start)
	if errors.Is(err, pipe.ErrSpawn) {
		return nil, hearken.Errorf(hearken.NotFound, "No hub is running that could capture: %w.", err).WithTry("hearken serve in another terminal")
	}
	if err != nil {
		return nil, err
	}
	return &client{conn: conn}, nil
}
