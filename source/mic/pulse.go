package mic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

const (
	pollInterval = time.Second // how often to check the server if it reports nothing
	// maxOutage is how long the sound server may be unreachable before a
	// capture ends: longer than a restart takes.
	maxOutage = time.Minute
)

// pulse captures from a PulseAudio or PipeWire server.
type pulse struct {
	cfg     Config
	notes   *notes
	movable bool // for tests: let the server move streams
}

func (p *pulse) check(ctx context.Context) error {
	conn, err := dial(ctx, func(any) {})
	if err != nil {
		return err
	}
	defer conn.close()
	w, err := readState(&conn.client)
	if err != nil {
		return dialError(err, nil)
	}
	return checkTracks(p.cfg, p.notes, func(track int) (string, error) {
		t, err := w.pick(track, p.cfg.deviceName(track))
		if err != nil {
			return "", err
		}
		s, err := open(&conn.client, track, t, p.movable)
		if err != nil {
			return "", streamError(track, t, err)
		}
		s.close(&conn.client)
		return t.note(), nil
	})
}

func (p *pulse) run(ctx context.Context, d *mixer) error {
	lost := time.Now()
	for {
		err := p.follow(ctx, d, func() { lost = time.Time{} })
		if ctx.Err() != nil {
			return nil
		}
		if lost.IsZero() {
			lost = time.Now()
		}
		for _, track := range p.cfg.tracks() {
			d.markSilent(track)
			p.notes.missing(track, "the sound server does not respond. This channel stays silent until it does.")
		}
		if time.Since(lost) >= maxOutage {
			return err
		}
		pause(ctx, pollInterval)
	}
}

// follow captures over one connection until it ends.
func (p *pulse) follow(ctx context.Context, d *mixer, connected func()) error {
	f := &follower{pulse: p, mixer: d, news: make(chan struct{}, 1), streams: map[uint32]*stream{}}
	conn, err := dial(ctx, f.onMessage)
	if err != nil {
		return err
	}
	defer conn.close()
	defer context.AfterFunc(ctx, func() { conn.conn.Close() })()
	f.client = &conn.client
	events := proto.SubscriptionMaskSink | proto.SubscriptionMaskSource | proto.SubscriptionMaskSourceInput | proto.SubscriptionMaskServer
	if err := f.client.Request(&proto.Subscribe{Mask: events}, nil); err != nil {
		return dialError(err, nil)
	}
	connected()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if err := f.retarget(); err != nil {
			return dialError(err, nil)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-conn.gone:
			return dialError(errors.New("it closed the connection"), nil)
		case <-f.news:
		case <-ticker.C:
		}
	}
}

// A follower keeps each track connected to its device while one connection lasts.
type follower struct {
	*pulse
	mixer  *mixer
	client *proto.Client
	news   chan struct{} // signals a change on the server
	track  [2]struct {
		stream   *stream
		tried    string    // the source that was last tried
		retry    time.Time // no earlier than this
		failures int       // since the last success
	}

	mu      sync.Mutex
	streams map[uint32]*stream // by their index
}

// onMessage handles what the server sends unasked. It must not make requests.
func (f *follower) onMessage(message any) {
	switch m := message.(type) {
	case *proto.DataPacket:
		if s := f.stream(m.StreamIndex); s != nil {
			s.deliver(m.Data, f.mixer)
		}
		return
	case *proto.RecordStreamKilled:
		if s := f.stream(m.StreamIndex); s != nil {
			s.killed.Store(true)
			s.verified.Store(false)
		}
	case *proto.RecordStreamMoved:
		if s := f.stream(m.StreamIndex); s != nil && m.DestIndex != s.target.index {
			s.verified.Store(false) // until it is verified again
		}
	}
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (f *follower) stream(index uint32) *stream {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.streams[index]
}

// retarget connects every track to the device it should use now. An error means
// that the server does not respond.
func (f *follower) retarget() error {
	w, err := readState(f.client)
	if err != nil {
		return err
	}
	for _, track := range f.cfg.tracks() {
		if err := f.retargetTrack(track, w); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) retargetTrack(track int, w *serverState) error {
	on := &f.track[track]
	t, err := w.pick(track, f.cfg.deviceName(track))
	if err != nil {
		f.drop(track)
		f.notes.absent(track, err)
		return nil
	}
	if s := on.stream; s != nil && (s.killed.Load() || s.target.index != t.index || s.target.name != t.name || s.target.sink != t.sink) {
		f.drop(track)
	}
	if on.stream == nil {
		if t.name == on.tried && time.Now().Before(on.retry) {
			return nil
		}
		on.tried, on.retry = t.name, time.Now().Add(pollInterval)
		s, err := open(f.client, track, t, f.movable)
		if refused, ok := errors.AsType[proto.Error](err); ok {
			// One failure is normal while a device disappears.
			if on.failures++; on.failures > 1 {
				f.notes.missing(track, sentence(streamError(track, t, refused)))
			}
			return nil
		}
		if err != nil {
			return err
		}
		on.stream, on.failures = s, 0
		f.mu.Lock()
		f.streams[s.index] = s
		f.mu.Unlock()
		if err := s.start(f.client); err != nil {
			return err
		}
	}
	err = on.stream.verify(f.client)
	if elsewhere, ok := errors.AsType[errElsewhere](err); ok {
		f.drop(track)
		f.notes.missing(track, fmt.Sprintf("the sound server connected it to %s and not to the %s; trying again.", w.titleOf(elsewhere.source), t.title))
		return nil
	}
	if _, refused := errors.AsType[proto.Error](err); refused {
		f.drop(track)
		return nil
	}
	switch {
	case err != nil:
		return err
	case t.suspended && time.Since(on.stream.since) > 2*pollInterval:
		// Idle devices are suspended, but this one is in use.
		f.notes.missing(track, t.title+" is suspended: another program uses it, or it was turned off. This channel stays silent until it is back.")
	case on.stream.verified.Load():
		f.notes.captured(track, t.note())
	}
	return nil
}

// drop closes a track's stream.
func (f *follower) drop(track int) {
	f.mixer.markSilent(track)
	s := f.track[track].stream
	if s == nil {
		return
	}
	f.track[track].stream = nil
	f.mu.Lock()
	delete(f.streams, s.index)
	f.mu.Unlock()
	s.verified.Store(false)
	s.close(f.client)
}
