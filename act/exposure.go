package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	defaultAfterAudio   = 10 * time.Minute
	defaultAfterReading = 30 * time.Minute
	// exposureStep is how much too early a recorded time may be after a crash, so
	// it is taken that much later. A recorded time is replaced when it is half as
	// old, and lasting exposures are checked that often.
	exposureStep = time.Minute
	// exposureTimeout is how long a reader waits until its exposure is on disk:
	// transcripts can be read while the store hangs.
	exposureTimeout = time.Second
	// audioExposure is recorded like a principal: the last audio of any session.
	audioExposure = "audio"
	// everyone is recorded if nobody knows who read.
	everyone = "everyone"
)

// ExposureStore is what an [Exposure] needs of a [hearken.Store].
type ExposureStore interface {
	SaveExposure(ctx context.Context, principal string, at time.Time) error
	Exposures(ctx context.Context) (map[string]time.Time, error)
}

// ExposureConfig configures an [Exposure]. Store is required.
type ExposureConfig struct {
	Store ExposureStore
	// LastAudio returns when audio last arrived in any session; zero if it is
	// not known. May be nil.
	LastAudio func() time.Time
	// AfterAudio and AfterReading are how long grants stay off afterwards; 0 for
	// ten and 30 minutes, negative for not at all.
	AfterAudio, AfterReading time.Duration

	Log *slog.Logger
	Now func() time.Time
}

// An Exposure knows when each key was last near what people said: when it read
// transcript text, and when a session that it may read had audio. Until some
// time later, no grant applies to that key. The rule does not look at the words,
// so no words can get around it.
//
// Its methods may be called concurrently.
type Exposure struct {
	cfg ExposureConfig

	mu      sync.RWMutex
	last    map[string]time.Time // by principal
	reading map[string]int       // how many readings of each principal last on
	saved   map[string]time.Time
	saving  map[string]*exposureSave // what is being saved now
}

// An exposureSave is an exposure on its way to the store.
type exposureSave struct {
	done chan struct{} // closed when err is set
	err  error
}

// OpenExposure continues what an earlier hub recorded.
func OpenExposure(ctx context.Context, cfg ExposureConfig) (*Exposure, error) {
	cfg.AfterAudio = cmp.Or(cfg.AfterAudio, defaultAfterAudio)
	cfg.AfterReading = cmp.Or(cfg.AfterReading, defaultAfterReading)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.LastAudio == nil {
		cfg.LastAudio = func() time.Time { return time.Time{} }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	saved, err := cfg.Store.Exposures(ctx)
	if err != nil {
		return nil, fmt.Errorf("find exposures: %w", err)
	}
	e := &Exposure{cfg: cfg, saved: map[string]time.Time{}, last: map[string]time.Time{}, reading: map[string]int{}, saving: map[string]*exposureSave{}}
	for principal, at := range saved {
		e.saved[principal], e.last[principal] = at, at.Add(exposureStep)
	}
	return e, nil
}

// Read records that a principal is about to read transcript text. It returns
// when that is on disk, or after a second.
func (e *Exposure) Read(principal string) { e.touch(readerOf(principal), e.cfg.Now()) }

// readerOf is whom a reading counts for. A process of this computer without a
// key, and a sender that has only a session's ticket, may belong to any agent.
func readerOf(principal string) string {
	if hearken.IsKeyID(principal) || principal == Local {
		return principal
	}
	return everyone
}

// StartReading records that a principal reads transcript text until stop is
// called.
func (e *Exposure) StartReading(principal string) (stop func()) {
	principal = readerOf(principal)
	e.mu.Lock()
	e.reading[principal]++
	e.mu.Unlock()
	e.touch(principal, e.cfg.Now())
	done := make(chan struct{})
	go e.keepSaving(principal, done)
	return sync.OnceFunc(func() {
		close(done)
		e.mu.Lock()
		if e.reading[principal]--; e.reading[principal] == 0 {
			delete(e.reading, principal)
		}
		e.mu.Unlock()
		e.touch(principal, e.cfg.Now())
	})
}

// keepSaving saves a lasting exposure, so that it is known after a crash.
func (e *Exposure) keepSaving(principal string, done <-chan struct{}) {
	for {
		select {
		case <-time.After(exposureStep / 2):
			e.touch(principal, e.cfg.Now())
		case <-done:
			return
		}
	}
}

// touch records an exposure, in the store only if that has an older one. If
// somebody else is saving it, touch waits for that.
func (e *Exposure) touch(principal string, at time.Time) {
	timeout := time.After(exposureTimeout)
	for {
		save := e.startSaving(principal, at)
		if save == nil {
			return
		}
		err := errors.New("the store does not answer")
		select {
		case <-save.done:
			err = save.err
		case <-timeout:
		}
		if err != nil {
			e.cfg.Log.Warn("not saved when transcripts were read", "error", err)
			return
		}
	}
}

// startSaving records an exposure in memory. It returns what is on its way to the
// store, nil if the store need not learn of it.
func (e *Exposure) startSaving(principal string, at time.Time) *exposureSave {
	e.mu.Lock()
	defer e.mu.Unlock()
	if at.After(e.last[principal]) {
		e.last[principal] = at
	}
	if at.Sub(e.saved[principal]) < exposureStep/2 {
		return nil
	}
	if save := e.saving[principal]; save != nil {
		return save
	}
	save := &exposureSave{done: make(chan struct{})}
	e.saving[principal] = save
	go func() {
		save.err = e.cfg.Store.SaveExposure(context.Background(), principal, at)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.saving, principal)
		if save.err == nil {
			e.saved[principal] = at
		}
		close(save.done)
	}()
	return save
}

// CheckAudio records the last audio. The hub calls it now and then, and before it
// deletes a session or closes, so that the time is known after a restart and to
// others with the same store.
func (e *Exposure) CheckAudio() {
	if at := e.cfg.LastAudio(); !at.IsZero() {
		e.touch(audioExposure, at)
	}
}

// merge learns what others have recorded in the same store: a command with
// another data directory, say.
func (e *Exposure) merge() error {
	ctx, cancel := context.WithTimeout(context.Background(), exposureTimeout)
	defer cancel()
	saved, err := e.cfg.Store.Exposures(ctx)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for principal, at := range saved {
		if at.Sub(e.saved[principal]) < time.Millisecond { // its own; stores round times
			continue
		}
		e.saved[principal] = at
		if at = at.Add(exposureStep); at.After(e.last[principal]) {
			e.last[principal] = at
		}
	}
	return nil
}

// whyExposed says why no grant applies to a key now, as part of a sentence. It is
// empty if grants apply.
func (e *Exposure) whyExposed(key *hearken.Key) string {
	now := e.cfg.Now()
	if !key.ReadsTranscripts() {
		return ""
	}
	e.CheckAudio()
	if err := e.merge(); err != nil {
		e.cfg.Log.Warn("not known who has read transcripts", "error", err)
		return "it is not known who has read transcripts"
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, principal := range []string{key.ID, everyone} {
		if e.reading[principal] > 0 || now.Sub(e.last[principal]) < e.cfg.AfterReading {
			return fmt.Sprintf("%s has read transcripts within the last %s", readerText(principal), minutes(e.cfg.AfterReading))
		}
	}
	if now.Sub(e.last[audioExposure]) < max(e.cfg.AfterAudio, liveAudio) {
		return fmt.Sprintf("people could be heard within the last %s", minutes(max(e.cfg.AfterAudio, liveAudio)))
	}
	return ""
}

// readerText says whose reading counts for a key.
func readerText(principal string) string {
	switch principal {
	case everyone:
		return "a program without a key"
	case Local:
		return "an agent or a command on this computer"
	}
	return "this key"
}

// liveAudio is how recent the last audio of a live session is at least.
const liveAudio = 5 * time.Second

func minutes(d time.Duration) string {
	if n := int(d.Round(time.Minute).Minutes()); n > 1 {
		return fmt.Sprintf("%d minutes", n)
	}
	return "minute"
}
