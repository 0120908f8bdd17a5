package stttest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

var _ hearken.Provider = (*Scripted)(nil)

// A Line is one utterance of a script, in seconds on the session's clock.
type Line struct {
	Start, End float64
	Text       string
}

// A Scripted provider returns its script, whatever the audio is: each line
// begins as unconfirmed words while its audio passes and is confirmed 0.2 s
// after its end. The results depend only on the positions of the frames, so a
// new stream that starts at a line returns that line and the following ones
// once more, word for word. All methods may be called concurrently.
type Scripted struct {
	name string
	line func(i int) (Line, bool)

	mu        sync.Mutex
	checkErr  error
	openErr   error
	openFails int
	failErr   error
	failAt    float64
	fails     int
	stalled   chan struct{} // closed by Resume; nil when not stalled
	configs   []hearken.StreamConfig
}

// NewScripted makes a provider that returns the lines of script, which are in
// order and do not overlap.
func NewScripted(name string, script []Line) *Scripted {
	return &Scripted{name: name, line: func(i int) (Line, bool) {
		if i >= len(script) {
			return Line{}, false
		}
		return script[i], true
	}}
}

// Every makes a provider with an endless script: a line such as "word 17 at
// 34.0" starts every so many seconds and takes four fifths of that time.
func Every(name string, seconds float64) *Scripted {
	return &Scripted{name: name, line: func(i int) (Line, bool) {
		start := float64(i) * seconds
		return Line{Start: start, End: start + 0.8*seconds, Text: fmt.Sprintf("word %d at %.1f", i, start)}, true
	}}
}

// Refuse makes Check return err from now on; nil ends that.
func (p *Scripted) Refuse(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checkErr = err
}

// FailOpen makes the next so many calls of Open fail with err.
func (p *Scripted) FailOpen(times int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openFails, p.openErr = times, err
}

// FailAt makes the next so many streams whose audio passes the given second
// fail there with err. What is not yet final at that point is lost.
func (p *Scripted) FailAt(seconds float64, times int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failAt, p.fails, p.failErr = seconds, times, err
}

// Stall makes every Write block until [Scripted.Resume] or the end of its
// stream's context.
func (p *Scripted) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// Resume ends a stall.
func (p *Scripted) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

// Opened returns the configuration of every stream that was opened, in order.
func (p *Scripted) Opened() []hearken.StreamConfig {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]hearken.StreamConfig(nil), p.configs...)
}

// Name is the name that the provider was made with.
func (p *Scripted) Name() string { return p.name }

// Capabilities are none. A test that needs some embeds the provider and
// declares its own.
func (p *Scripted) Capabilities() hearken.Capabilities { return hearken.Capabilities{} }

// Check returns the error that [Scripted.Refuse] got.
func (p *Scripted) Check(context.Context, hearken.StreamConfig) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkErr
}

// Open starts a stream whose first line is the first one that starts at or
// after cfg.Start.
func (p *Scripted) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.openFails > 0 {
		p.openFails--
		return nil, p.openErr
	}
	p.configs = append(p.configs, cfg)
	s := &scriptedStream{p: p, ctx: ctx, cfg: cfg, out: newOutbox(ctx), written: cfg.Start, finalUntil: cfg.Start, reportedAt: cfg.Start}
	s.skipTo(stt.Seconds(cfg.Start))
	return s, nil
}

func (p *Scripted) waitWhileStalled(ctx context.Context) error {
	p.mu.Lock()
	stalled := p.stalled
	p.mu.Unlock()
	if stalled == nil {
		return ctx.Err()
	}
	select {
	case <-stalled:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failure returns whether a stream whose audio passes from..to fails, and where.
func (p *Scripted) failure(from, to float64) (at float64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails == 0 || from > p.failAt || to <= p.failAt {
		return 0, nil
	}
	p.fails--
	if p.failErr == nil {
		return p.failAt, errors.New("stttest: scripted failure")
	}
	return p.failAt, p.failErr
}
