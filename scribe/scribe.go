// Package scribe starts, stops and follows the transcription of this computer's
// own microphone and system audio.
//
// A [Scribe] feeds a [hearken.Capture] into the hub. Each capture is an
// ordinary session that can be read, searched and exported like any other. The
// commands are those of the pscribe CLI on a Mac; see [hearken.Scribe]:
//
//	s := scribe.New(scribe.Config{Hub: hub, Capture: mic.Open, Principal: "local"})
//	defer s.Close(ctx)
//	status, err := s.Start(ctx, hearken.CaptureRequest{})
package scribe

import (
	"cmp"
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
	Start(ctx context.Context, req hearken.StartRequest) (*hearken.Session, error)
	Attach(ctx context.Context, id, principal string) (hearken.Input, error)
	Status(ctx context.Context, id string) (*live.Status, error)
	Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error)
	Read(ctx context.Context, req live.ReadRequest) (*live.Page, error)
}

// Config is what a [Scribe] is made of. Hub and Capture are required.
type Config struct {
	Hub Hub
	// Capture opens this computer's audio devices. It is called for each
	// capture, so that a device plugged in since then is found.
	Capture func(ctx context.Context) (hearken.Capture, error)
	// Principal owns the sessions.
	Principal string
	Title     string // of the sessions; may be empty
	// Hearing describes in words which engine transcribes a session, in which
	// language, and whether its audio leaves this computer. May be nil.
	Hearing func(*live.Status) string
	// Handover is the file with which one hub hands its capture over to the
	// next; empty for none.
	Handover string

	Now func() time.Time // time.Now unless a test says otherwise
	Log *slog.Logger
}

// finalWordsTimeout is how long Stop and New wait for the last words, so that
// the next read finds the session complete.
const finalWordsTimeout = 10 * time.Second

// A Scribe transcribes this computer's microphone and what it plays. Start,
// Stop and New run one at a time; all other methods never wait for them.
type Scribe struct {
	cfg       Config
	stateLock chan struct{} // holds one value while Start, Stop or New runs
	work      sync.WaitGroup
	ctx       context.Context // ends with the scribe
	stop      context.CancelFunc

	mu          sync.Mutex
	running     *capture // nil if nothing is captured
	last        string   // session of the running or the last capture
	failure     string   // why the last capture ended unexpectedly
	handingOver bool     // the next hub continues the capture
	lastAsked   time.Time

	resumed chan struct{} // closed once it is clear whether an earlier hub's capture continues
}

// New returns a scribe that captures nothing yet.
func New(cfg Config) *Scribe {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Scribe{cfg: cfg, stateLock: make(chan struct{}, 1), resumed: make(chan struct{})}
	s.ctx, s.stop = context.WithCancel(context.Background())
	close(s.resumed)
	return s
}

// Close ends the capture and waits a few seconds for its last words. Close it
// before the hub.
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
		complete := last.dest.complete
		last.mu.Unlock()
		timer := time.NewTimer(finalWordsTimeout / 2) // leave some of the time to the hub
		defer timer.Stop()
		select {
		case <-complete:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// lockState waits until no other Start, Stop or New runs.
func (s *Scribe) lockState(ctx context.Context) error {
	select {
	case s.stateLock <- struct{}{}:
		if s.ctx.Err() != nil {
			<-s.stateLock
			return hearken.Errorf(hearken.Busy, "The hub is shutting down.")
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Start begins a capture in a new session. If one is running, it only reports
// that.
func (s *Scribe) Start(ctx context.Context, req hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	if err := s.lockState(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.stateLock }()
	if s.current() == nil {
		if err := s.startCapture(ctx, req); err != nil {
			return nil, err
		}
	}
	return s.Status(ctx)
}

// startCapture opens the devices before it starts a session: without a device there is
// nothing to transcribe.
func (s *Scribe) startCapture(ctx context.Context, req hearken.CaptureRequest) error {
	audio, err := s.cfg.Capture(ctx)
	if err != nil {
		return captureError(err)
	}
	p, err := s.startSession(ctx, req)
	if err != nil {
		return err
	}
	s.run(audio, p)
	s.cfg.Log.Info("capture started", "session", p.session)
	return nil
}

// run starts a capture into a session.
func (s *Scribe) run(audio hearken.Capture, p *destination) {
	run, cancel := context.WithCancel(s.ctx)
	c := &capture{scribe: s, audio: audio, cancel: cancel, dest: p, done: make(chan struct{})}
	s.mu.Lock()
	s.running, s.last, s.failure, s.lastAsked = c, p.session, "", s.cfg.Now()
	s.mu.Unlock()
	go c.watch(p)
	s.work.Go(func() { c.run(run) })
}

// captureError adds a code and advice to the failure of a device.
func captureError(err error) error {
	if hearken.CodeOf(err) != "" || errors.Is(err, context.Canceled) {
		return err
	}
	return hearken.Errorf(hearken.NotFound, "This computer's audio cannot be captured: %w.", err).
		WithTry("the name of another device as MICROPHONE, or MICROPHONE=off")
}

// startSession starts a session and attaches to it.
func (s *Scribe) startSession(ctx context.Context, req hearken.CaptureRequest) (*destination, error) {
	info, err := s.cfg.Hub.Start(ctx, hearken.StartRequest{
		Principal: s.cfg.Principal, Title: s.cfg.Title, Capture: true,
		Provider: req.Provider, Named: req.Provider, Language: req.Language, APIKey: req.APIKey,
	})
	if err != nil {
		return nil, err
	}
	in, err := s.cfg.Hub.Attach(context.WithoutCancel(ctx), info.ID, s.cfg.Principal)
	if err != nil {
		return nil, err
	}
	p := newDestination(info, in)
	p.request = req
	return p, nil
}

// Stop ends the capture. It waits a few seconds for the last words; any that
// take longer are still added to the session.
func (s *Scribe) Stop(ctx context.Context) (*hearken.ScribeStatus, error) {
	if err := s.lockState(ctx); err != nil {
		return nil, err
	}
	c := s.current()
	if c == nil {
		<-s.stateLock
		return nil, hearken.Errorf(hearken.SessionAlreadyStopped, "Nothing is being transcribed: the scribe is not running.").WithTry("pscribe_start")
	}
	old := c.stop()
	<-s.stateLock
	s.cfg.Log.Info("capture stopped", "session", old.session)
	s.awaitLastWords(ctx, old.complete)
	return s.Status(ctx)
}

// New continues in a new session without losing a sample. If nothing is being
// captured, it starts.
func (s *Scribe) New(ctx context.Context, req hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	if err := s.lockState(ctx); err != nil {
		return nil, err
	}
	c := s.current()
	if c == nil {
		defer func() { <-s.stateLock }()
		if err := s.startCapture(ctx, req); err != nil {
			return nil, err
		}
		return s.Status(ctx)
	}
	next, err := s.startSession(ctx, c.nextRequest(req))
	if err != nil {
		<-s.stateLock
		return nil, err
	}
	old := c.switchTo(next)
	<-s.stateLock
	s.cfg.Log.Info("capture continues in a new session", "session", next.session)
	s.awaitLastWords(ctx, old.complete)
	return s.Status(ctx)
}

// awaitLastWords waits for a session's last words, but not for long.
func (s *Scribe) awaitLastWords(ctx context.Context, complete <-chan struct{}) {
	timer := time.NewTimer(finalWordsTimeout)
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
	return s.running
}
