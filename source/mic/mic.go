// Package mic captures this computer's audio: its microphone and what it plays,
// as the two sides of a call.
//
//	capture, err := mic.Open(ctx, mic.Config{})
//	...
//	err = capture.Run(ctx, input.Write)
//
// On Linux it speaks PulseAudio's own protocol, which PipeWire speaks too. The
// microphone is the default source; what the computer plays is the monitor of
// the default sink. When a device is missing, a sound server may connect a
// stream to another one. So each stream is checked once it exists, and gives
// silence while it is connected to the wrong device: one side of a call must
// never be taken for the other.
//
// On Windows it uses WASAPI with loopback capture. On macOS it runs ffmpeg if that
// is installed: it always captures the microphone, and what the computer plays
// only through a loopback device. If PULSE_SERVER is set, that server is used on
// every system.
//
// A change of the default device is followed. Devices, and for a minute the sound
// server, may disappear and return; meanwhile the audio is silent and the
// session's clock continues. To capture a fixed device, name it.
package mic

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Capture = (*Capture)(nil)

// Off as a device name turns a channel off.
const Off = "off"

// Config says what to capture. The zero value captures the default devices.
type Config struct {
	// Microphone and System are the name or the title of a device, empty for
	// the default one, or [Off].
	Microphone, System string
	// FFmpeg is the program that captures on macOS; empty for ffmpeg in PATH.
	FFmpeg string
	Log    *slog.Logger // may be nil
}

// deviceName returns the configured device of a track.
func (c Config) deviceName(track int) string {
	if track == systemTrack {
		return c.System
	}
	return c.Microphone
}

// tracks returns the tracks to capture.
func (c Config) tracks() []int {
	return slices.DeleteFunc([]int{microphoneTrack, systemTrack}, func(track int) bool { return c.deviceName(track) == Off })
}

// The tracks, in the order of the delivered channels.
const (
	microphoneTrack = iota
	systemTrack
)

// A device can be captured.
type device struct {
	Name    string         // for a [Config]
	Title   string         // for people
	Origin  hearken.Origin // [hearken.Microphone] or [hearken.System]
	Default bool           // used if the Config names none
}

// A backend captures from devices on one kind of system.
type backend interface {
	// check reports whether the configured devices can be captured, and
	// records which they are.
	check(ctx context.Context) error
	// run feeds the mixer until ctx ends. An error means that nothing can be
	// captured any more.
	run(ctx context.Context, d *mixer) error
}

// newBackend prefers a configured sound server to the system's own devices: under
// WSL, for example, it may run on the host.
func newBackend(cfg Config, n *notes) backend {
	if os.Getenv("PULSE_SERVER") != "" {
		return &pulse{cfg: cfg, notes: n}
	}
	return platform(cfg, n)
}

// A Capture is this computer's audio. It uses devices only while Run runs, so it
// needs no Close.
type Capture struct {
	cfg     Config
	backend backend
	notes   *notes
	running atomic.Bool
	mixer   atomic.Pointer[mixer]
}

// Open finds the devices and checks that they can be captured. A device given by
// name must exist. Of the default devices one is enough; the other is captured
// when it appears.
func Open(ctx context.Context, cfg Config) (*Capture, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Microphone == Off && cfg.System == Off {
		return nil, hearken.Errorf(hearken.Invalid, "Both the microphone and the system audio are turned off.").
			WithTry("turn one of them on")
	}
	n := &notes{log: cfg.Log}
	c := &Capture{cfg: cfg, notes: n, backend: newBackend(cfg, n)}
	if err := c.backend.check(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// channels returns how many channels are delivered. The microphone's is always
// present, even if silent, so that the second is always what the computer plays.
func (c *Capture) channels() int {
	if c.cfg.System == Off {
		return 1
	}
	return 2
}

// Run delivers audio until ctx ends, which is no error. It does so in pieces of
// 100 ms or more, about 150 ms after the audio was recorded; smaller pieces would
// cost every reader more than they gain. Deliver may not keep the slices. Run may
// be called again after it has returned.
func (c *Capture) Run(ctx context.Context, deliver func(channels ...[]int16) error) error {
	if !c.running.CompareAndSwap(false, true) {
		return hearken.Errorf(hearken.Busy, "This capture is already running.")
	}
	defer c.running.Store(false)
	ctx, cancel := context.WithCancel(ctx)
	d := newMixer(c.channels())
	c.mixer.Store(d)
	defer c.mixer.Store(nil)

	var ended sync.WaitGroup
	defer ended.Wait()
	defer cancel()
	failed := make(chan error, 1)
	ended.Go(func() { failed <- c.backend.run(ctx, d) })

	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-ticker.C:
			for b := d.next(); b != nil && err == nil && ctx.Err() == nil; b = d.next() {
				err = deliver(b...)
			}
			c.notes.setLost(d.lost())
			if err != nil {
				return err
			}
			continue
		case <-ctx.Done():
		case err = <-failed:
		}
		for b := d.remaining(); b != nil; b = d.remaining() {
			if err := deliver(b...); err != nil {
				return err
			}
		}
		return err
	}
}

// Notes describes what is captured from where, the latest changes, and that
// people should know about it.
func (c *Capture) Notes() []string { return c.notes.list() }

// Levels returns how loud the last 100 ms of each channel were: 1 is full scale,
// 0 is 60 dB below that or less, and speech is in the upper half. All are 0 while
// Run is not running.
func (c *Capture) Levels() []float64 {
	if d := c.mixer.Load(); d != nil {
		return d.levels()
	}
	return make([]float64, c.channels())
}
