// Package mic hears this computer: its microphone, and what it plays, as the
// two sides of a call.
//
//	capture, err := mic.Open(ctx, mic.Config{})
//	...
//	err = capture.Run(ctx, input.Write)
//
// On Linux it speaks PulseAudio's own protocol, which PipeWire speaks too. The
// microphone is the default source; what the computer plays is the monitor of
// the default sink, asked for by name, and looked up again once the stream is
// there: a sound server that answers with something else, as they do when a
// device is missing, must not make one side of a call out of the other. A
// stream that turns out to be elsewhere gives silence until it is back.
//
// On Windows it is WASAPI, with the output listened to. On macOS ffmpeg
// captures, where it is installed: the microphone always, what the computer
// plays only where there is a loopback device. With PULSE_SERVER set, that
// server is used on every system.
//
// Defaults that change are followed. Devices come and go, and so may the sound
// server for a minute; meanwhile there is silence, and the session's clock
// goes on. To capture one device whatever the default is, name it.
package mic

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Capture = (*Capture)(nil)

// Off is the name of no device.
const Off = "off"

// Config says what to capture. The zero value is good.
type Config struct {
	// Microphone and System are the name or the title of a device (see
	// [Devices]), empty for the default one, or [Off].
	Microphone, System string
	// FFmpeg is the program that captures on macOS. If it is empty, ffmpeg is
	// looked for in PATH.
	FFmpeg string
	Log    *slog.Logger // may be nil
}

// wants is the device for a lane.
func (c Config) wants(lane int) string {
	if lane == systemLane {
		return c.System
	}
	return c.Microphone
}

// The lanes, in the order in which they are delivered.
const (
	microphoneLane = iota
	systemLane
)

// A Device is something to capture.
type Device struct {
	Name    string         // for a [Config]
	Title   string         // for people
	Origin  hearken.Origin // [hearken.Microphone] or [hearken.System]
	Default bool           // it is what a Config without a name gets
}

// A backend is a way to reach devices.
type backend interface {
	devices(ctx context.Context) ([]Device, error)
	// check says whether the configured devices can be captured, and notes
	// which they are.
	check(ctx context.Context) error
	// run brings sound to the desk until ctx ends. An error says that nothing
	// can be captured any more.
	run(ctx context.Context, d *desk) error
}

// newBackend chooses by what can be reached, and not by the system alone: a
// sound server may be across a pipe, as under WSL.
func newBackend(cfg Config, n *notes) backend {
	if os.Getenv("PULSE_SERVER") != "" {
		return &pulse{cfg: cfg, notes: n}
	}
	return platform(cfg, n)
}

// Devices lists what can be captured.
func Devices(ctx context.Context) ([]Device, error) {
	return newBackend(Config{Log: slog.New(slog.DiscardHandler)}, &notes{}).devices(ctx)
}

// A Capture is the sound of this computer. It holds no device but while Run
// runs, so it needs no closing.
type Capture struct {
	cfg     Config
	backend backend
	notes   *notes
	running atomic.Bool
	desk    atomic.Pointer[desk]
}

// Open looks for the devices and tries whether they can be captured. A device
// that was named has to be there. Of the default ones one is enough; the other
// is captured once it is there.
func Open(ctx context.Context, cfg Config) (*Capture, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Microphone == Off && cfg.System == Off {
		return nil, hearken.Errorf(hearken.Invalid, "Both the microphone and the system audio are switched off.").
			WithTry("leave one of them on")
	}
	n := &notes{log: cfg.Log}
	c := &Capture{cfg: cfg, notes: n, backend: newBackend(cfg, n)}
	if err := c.backend.check(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// channels is how many are delivered: the microphone's is there even if it is
// silent, so that the second one is always what the computer plays.
func (c *Capture) channels() int {
	if c.cfg.System == Off {
		return 1
	}
	return 2
}

// Run delivers sound until ctx ends, which is no error, in pieces of 100 ms or
// more, some 150 ms after it was heard: more often would cost all who wait for
// it more, in silence too, than anybody gains. deliver may not keep the slices.
// Run may be called again after it has returned, but not meanwhile.
func (c *Capture) Run(ctx context.Context, deliver func(channels ...[]int16) error) error {
	if !c.running.CompareAndSwap(false, true) {
		return hearken.Errorf(hearken.Busy, "This capture is running already.")
	}
	defer c.running.Store(false)
	ctx, cancel := context.WithCancel(ctx)
	d := newDesk(c.channels())
	c.desk.Store(d)
	defer c.desk.Store(nil)

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
		for b := d.rest(); b != nil; b = d.rest() {
			if err := deliver(b...); err != nil {
				return err
			}
		}
		return err
	}
}

// Notes say what is captured from where, the newest changes of that, and what
// people should know about being captured.
func (c *Capture) Notes() []string { return c.notes.list() }

// Levels are how loud the last 100 ms of each channel were. 1 is as loud as
// can be and 0 is 60 dB below that or less, in between as people hear it:
// speech is in the upper half. All are 0 while Run does not run.
func (c *Capture) Levels() []float64 {
	if d := c.desk.Load(); d != nil {
		return d.levels()
	}
	return make([]float64, c.channels())
}
