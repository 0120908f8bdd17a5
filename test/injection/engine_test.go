package injection

import (
	"context"
	"fmt"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// voices are the scripts of the two sides of a session.
type voices struct{ near, far *stttest.Scripted }

// engineName is the name of the only engine.
const engineName = "script"

// An engine hears what the script of each session says.
type engine struct {
	mu    sync.Mutex
	plays map[string]voices // by session
}

var _ hearken.Provider = (*engine)(nil)

// perform sets what is heard in a session, before its first audio.
func (e *engine) perform(session string, near, far []stttest.Line) voices {
	v := voices{stttest.NewScripted(engineName, near), stttest.NewScripted(engineName, far)}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.plays == nil {
		e.plays = map[string]voices{}
	}
	e.plays[session] = v
	return v
}

// resume lets every engine that is behind go on.
func (e *engine) resume() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range e.plays {
		v.far.Resume()
	}
}

func (e *engine) Name() string { return engineName }

func (e *engine) Capabilities() hearken.Capabilities { return hearken.Capabilities{} }

func (e *engine) Check(context.Context, hearken.StreamConfig) error { return nil }

// Open begins the script of a channel.
func (e *engine) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	e.mu.Lock()
	v, ok := e.plays[cfg.Session]
	e.mu.Unlock()
	switch {
	case !ok:
		return nil, fmt.Errorf("session %s has no script", cfg.Session)
	case cfg.Origin == hearken.System:
		return v.far.Open(ctx, cfg)
	}
	return v.near.Open(ctx, cfg)
}
