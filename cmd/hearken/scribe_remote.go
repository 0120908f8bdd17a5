package main

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/pipe"
)

// A scribeCall is a command's call to the hub's scribe, over the local socket.
type scribeCall struct {
	Do      string                 `json:"do"` // start, stop, new, status, sessions, tail, cat, grep, meter
	Capture hearken.CaptureRequest `json:"capture,omitzero"`
	Limit   int                    `json:"limit,omitempty"`
	Tail    *hearken.TailRequest   `json:"tail,omitempty"`
	Cat     *hearken.CatRequest    `json:"cat,omitempty"`
	Grep    *hearken.GrepRequest   `json:"grep,omitempty"`
}

// A meter is the current state of the capture, for live captions.
type meter struct {
	Running bool
	Session string
	Length  time.Duration
	Levels  []float64
	Lag     float64 // seconds
	Health  string
	Notes   []string
}

// handleScribe handles a call in the hub.
func handleScribe(ctx context.Context, hub *live.Hub, s hearken.Scribe, call *scribeCall) (any, error) {
	result, err := dispatchScribe(ctx, hub, s, call)
	if err != nil && ctx.Err() != nil {
		err = hearken.Errorf(hearken.Busy, "The hub is shutting down.")
	}
	return result, err
}

func dispatchScribe(ctx context.Context, hub *live.Hub, s hearken.Scribe, call *scribeCall) (any, error) {
	if s == nil || call == nil {
		return nil, hearken.Errorf(hearken.NotFound, "This hub does not capture this computer's audio.")
	}
	switch {
	case call.Do == "start":
		return s.Start(ctx, call.Capture)
	case call.Do == "stop":
		return s.Stop(ctx)
	case call.Do == "new":
		return s.New(ctx, call.Capture)
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
		if status, err := hub.Status(ctx, st.Session); err == nil { // fails for sessions that only ParrotScribe has
			m.Lag, m.Health = status.Lag, status.Health
		}
	}
	return m, nil
}

var _ hearken.Scribe = (*remoteScribe)(nil)

// A remoteScribe is the hub's scribe, called by a command. It takes one call at a
// time, and none after one whose context ended.
type remoteScribe struct{ conn net.Conn }

// callScribe makes one call whose result is a T.
func callScribe[T any](ctx context.Context, r *remoteScribe, call scribeCall) (T, error) {
	out, err := sendControl[T](ctx, r.conn, controlRequest{Op: "scribe", Scribe: &call})
	return out, adviseUser(err)
}

func (r *remoteScribe) Start(ctx context.Context, req hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	return callScribe[*hearken.ScribeStatus](ctx, r, scribeCall{Do: "start", Capture: req})
}

func (r *remoteScribe) Stop(ctx context.Context) (*hearken.ScribeStatus, error) {
	return callScribe[*hearken.ScribeStatus](ctx, r, scribeCall{Do: "stop"})
}

func (r *remoteScribe) New(ctx context.Context, req hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	return callScribe[*hearken.ScribeStatus](ctx, r, scribeCall{Do: "new", Capture: req})
}

func (r *remoteScribe) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	return callScribe[*hearken.ScribeStatus](ctx, r, scribeCall{Do: "status"})
}

func (r *remoteScribe) Sessions(ctx context.Context, limit int) ([]hearken.ScribeSession, error) {
	return callScribe[[]hearken.ScribeSession](ctx, r, scribeCall{Do: "sessions", Limit: limit})
}

func (r *remoteScribe) Tail(ctx context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	return callScribe[*hearken.ScribePage](ctx, r, scribeCall{Do: "tail", Tail: &req})
}

func (r *remoteScribe) Cat(ctx context.Context, req hearken.CatRequest) ([]hearken.ScribePage, error) {
	return callScribe[[]hearken.ScribePage](ctx, r, scribeCall{Do: "cat", Cat: &req})
}

func (r *remoteScribe) Grep(ctx context.Context, req hearken.GrepRequest) ([]hearken.ScribePage, error) {
	return callScribe[[]hearken.ScribePage](ctx, r, scribeCall{Do: "grep", Grep: &req})
}

func (r *remoteScribe) meter(ctx context.Context) (*meter, error) {
	return callScribe[*meter](ctx, r, scribeCall{Do: "meter"})
}

// withScribe connects to the hub's scribe. Commands that start a capture need a
// lasting hub, which continues it after the command has ended.
func (p *program) withScribe(ctx context.Context, lasting bool, use func(hearken.Scribe) error) error {
	connect := p.connectLasting
	if !lasting {
		connect = func(ctx context.Context) (*client, error) { return p.connect(ctx, pipe.WantControl) }
	}
	c, err := connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	return use(&remoteScribe{c.conn})
}

// connectLasting connects to the running hub, or starts one that outlives this
// process.
func (p *program) connectLasting(ctx context.Context) (*client, error) {
	start := p.spawn
	if !p.cfg.Spawn {
		start = func(context.Context) error { return pipe.ErrSpawn }
	}
	c, err := p.connectOr(ctx, start)
	if errors.Is(err, pipe.ErrSpawn) {
		return nil, hearken.Errorf(hearken.NotFound, "No hub is running that could capture: %w.", err).WithTry("hearken serve in another terminal")
	}
	return c, err
}

// reconnect connects to the hub that replaces one that has stopped. It starts
// none.
func (p *program) reconnect(ctx context.Context) (*client, error) {
	return p.connectOr(ctx, func(context.Context) error {
		return hearken.Errorf(hearken.Busy, "The hub stopped, and the capture with it.").WithTry("hearken listen, to start a new one")
	})
}

// connectOr connects to the running hub, or calls start if there is none.
func (p *program) connectOr(ctx context.Context, start func(context.Context) error) (*client, error) {
	conn, _, err := pipe.DialOrStart(ctx, p.cfg.DataDir, p.commandHello(pipe.WantControl), start)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn}, nil
}
