// Package scribe lets an agent or a person start, stop and follow the
// transcription of this computer's own microphone and system audio, wherever
// the hub itself can hear it.
//
// A [Scribe] joins a [hearken.Capture] to the hub: each capture is an ordinary
// session, which every other way of reading, searching and exporting knows,
// too. It offers what the pscribe CLI offers on a Mac, as [hearken.Scribe]:
//
//	s := scribe.New(scribe.Config{Hub: hub, Capture: mic.Open, Principal: "local"})
//	defer s.Close(ctx)
//	status, err := s.Start(ctx)
package scribe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
)

var _ hearken.Scribe = (*Scribe)(nil)

// A Hub is what a scribe needs of the hub; see [live.Hub].
type Hub interface {
	Start(ctx context.Context, req live.StartRequest) (*hearken.Session, error)
	Attach(ctx context.Context, id, principal string) (hearken.Input, error)
	Status(ctx context.Context, id string) (*live.Status, error)
	Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error)
	Read(ctx context.Context, req live.ReadRequest) (*live.Page, error)
}

// Config is what a [Scribe] is made of. Hub and Capture are required.
type Config struct {
	Hub Hub
	// Capture opens this computer's sound. It is called for each capture, so
	// that a device that was plugged in since is found.
	Capture func(ctx context.Context) (hearken.Capture, error)
	// Principal is who the sessions belong to.
	Principal string
	Title     string // of the sessions; may be empty
	Provider  string // empty for the hub's own
	Language  string // empty for the provider's own
	// Handover is the file by which one hub leaves its capture to the next.
	Handover string

	Now func() time.Time // time.Now unless a test says otherwise
	Log *slog.Logger
}

// lastWords is how long Stop and New wait for the words of the last sound, so
// that whoever reads next finds the session complete.
const lastWords = 10 * time.Second

// A Scribe transcribes what this computer hears and plays. What changes its
// state, Start, Stop and New, takes turns; everything else waits for nobody.
type Scribe struct {
	cfg  Config
	turn chan struct{} // whoever puts something in may change the state
	work sync.WaitGroup
	ctx  context.Context // ends with the scribe
	stop context.CancelFunc

	mu      sync.Mutex
	now     *capture // nil if nothing is captured
	last    string   // the session of now, or of the last capture
	trouble string   // why the last capture ended by itself; empty if it did not
	leaving bool     // to the next hub, which goes on with the capture
	seen    time.Time

	resumed chan struct{} // closed when an earlier hub's capture goes on, or does not
}

// New makes a scribe that does not capture anything yet.
func New(cfg Config) *Scribe {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Scribe{cfg: cfg, turn: make(chan struct{}, 1), resumed: make(chan struct{})}
	s.ctx, s.stop = context.WithCancel(context.Background())
	close(s.resumed)
	return s
}

// Close ends the capture: a microphone that is on belongs to a program that
// runs. It waits a while for the words of the last sound, so that no sound is
// left behind; the hub is to be closed later.
func (s *Scribe) Close(ctx context.Context) error {
	last := s.current()
	s.stop()
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("end capture: %w", ctx.Err())
	}
	if last != nil {
		last.mu.Lock()
		complete := last.place.complete
		last.mu.Unlock()
		timer := time.NewTimer(lastWords / 2) // the hub wants some of the time that there is
		defer timer.Stop()
		select {
		case <-complete:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// takeTurn waits until the caller may change the state.
func (s *Scribe) takeTurn(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		if s.ctx.Err() != nil {
			<-s.turn
			return hearken.Errorf(hearken.Busy, "The hub is shutting down.")
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Start begins a capture in a session of its own. If one runs, it only tells
// so.
func (s *Scribe) Start(ctx context.Context) (*hearken.ScribeStatus, error) {
	if err := s.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.turn }()
	if s.current() != nil {
		return s.Status(ctx)
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	return s.Status(ctx)
}

// begin opens the sound first and a session then: without a device there is
// nothing to be transcribed.
func (s *Scribe) begin(ctx context.Context) error {
	sound, err := s.cfg.Capture(ctx)
	if err != nil {
		return noSound(err)
	}
	info, in, err := s.session(ctx)
	if err != nil {
		return err
	}
	s.run(sound, newPlace(info, in))
	s.cfg.Log.Info("capture started", "session", info.ID)
	return nil
}

// run begins to take sound.
func (s *Scribe) run(sound hearken.Capture, p *place) {
	run, cancel := context.WithCancel(s.ctx)
	c := &capture{scribe: s, sound: sound, cancel: cancel, place: p, done: make(chan struct{})}
	s.mu.Lock()
	s.now, s.last, s.trouble, s.seen = c, p.session, "", s.cfg.Now()
	s.mu.Unlock()
	go c.watch(p)
	s.work.Go(func() { c.run(run) })
}

// noSound gives the failure of a device its code.
func noSound(err error) error {
	if hearken.CodeOf(err) != "" || errors.Is(err, context.Canceled) {
		return err
	}
	return hearken.Errorf(hearken.NotFound, "This computer's sound cannot be captured: %w.", err).
		WithTry("the name of another device as MICROPHONE, or MICROPHONE=off")
}

// session makes a session with a place for its sound.
func (s *Scribe) session(ctx context.Context) (*hearken.Session, hearken.Input, error) {
	info, err := s.cfg.Hub.Start(ctx, live.StartRequest{
		Principal: s.cfg.Principal, Title: s.cfg.Title, Provider: s.cfg.Provider, Language: s.cfg.Language, Capture: true,
	})
	if err != nil {
		return nil, nil, err
	}
	in, err := s.cfg.Hub.Attach(context.WithoutCancel(ctx), info.ID, s.cfg.Principal)
	if err != nil {
		return nil, nil, err
	}
	return info, in, nil
}

// Stop ends the capture. It waits a while for the words of the last sound;
// those that take longer follow.
func (s *Scribe) Stop(ctx context.Context) (*hearken.ScribeStatus, error) {
	if err := s.takeTurn(ctx); err != nil {
		return nil, err
	}
	c := s.current()
	if c == nil {
		<-s.turn
		return nil, notRunning()
	}
	old := c.end()
	<-s.turn
	s.cfg.Log.Info("capture stopped", "session", old.session)
	s.await(ctx, old.complete)
	return s.Status(ctx)
}

func notRunning() error {
	return hearken.Errorf(hearken.SessionAlreadyStopped, "Nothing is being transcribed: the scribe is not running.").WithTry("pscribe_start")
}

// New goes on in a new session. The old one has every sample before the
// switch, the new one every sample from it on. If nothing is captured yet, it
// begins.
func (s *Scribe) New(ctx context.Context) (*hearken.ScribeStatus, error) {
	if err := s.takeTurn(ctx); err != nil {
		return nil, err
	}
	c := s.current()
	if c == nil {
		defer func() { <-s.turn }()
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
		return s.Status(ctx)
	}
	info, in, err := s.session(ctx)
	if err != nil {
		<-s.turn
		return nil, err
	}
	old := c.turnOver(newPlace(info, in))
	<-s.turn
	s.cfg.Log.Info("capture goes on in a new session", "session", info.ID)
	s.await(ctx, old.complete)
	return s.Status(ctx)
}

// await waits for a session's last words, within reason.
func (s *Scribe) await(ctx context.Context, complete <-chan struct{}) {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-complete:
	case <-timer.C:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
}

func (s *Scribe) current() *capture {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}
