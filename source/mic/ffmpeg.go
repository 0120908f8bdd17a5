package mic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// ffmpeg captures with the ffmpeg program, one process per device.
type ffmpeg struct {
	cfg   Config
	notes *notes
	// How to talk to ffmpeg here. Tests put in devices that every computer has.
	listing   func() []string
	parse     func(printed string) []Device
	capturing func(name string) []string
}

func newFFmpeg(cfg Config, n *notes) *ffmpeg {
	return &ffmpeg{cfg: cfg, notes: n, listing: listArgs, parse: parseDevices, capturing: captureArgs}
}

func (f *ffmpeg) program() (string, error) {
	program := f.cfg.FFmpeg
	if program == "" {
		program = "ffmpeg"
	}
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	e := hearken.Errorf(hearken.NotFound, "Capturing audio on this system needs ffmpeg, which is not installed (%w).", err)
	return "", e.WithTry("brew install ffmpeg; or install ParrotScribe and set SCRIBE_BACKEND=pscribe; or send audio to the audio WebSocket from another program")
}

func (f *ffmpeg) devices(ctx context.Context) ([]Device, error) {
	program, err := f.program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*replyTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, f.listing()...)
	cmd.WaitDelay = time.Second
	printed := &tail{max: 64 << 10}
	cmd.Stderr = printed
	err = cmd.Run() // it fails always, having listed
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && (!exited || ctx.Err() != nil) {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	return f.parse(printed.String()), nil
}

// pick finds the device of a track. Any device may be named for any track.
func (f *ffmpeg) pick(track int, all []Device) (Device, error) {
	name := f.cfg.wants(track)
	i := slices.IndexFunc(all, func(d Device) bool {
		return name == "" && d.Default && d.Origin == origins[track] || name != "" && strings.EqualFold(d.Name, name)
	})
	switch {
	case i >= 0:
		return all[i], nil
	case name != "":
		var names []string
		for _, d := range all {
			names = append(names, d.Name)
		}
		return Device{}, noDevice(track, name, names)
	case track == microphoneTrack:
		return Device{}, hearken.Errorf(hearken.NotFound, "there is no microphone.").WithTry("connect one")
	}
	return Device{}, hearken.Errorf(hearken.NotFound, "On macOS, ffmpeg can capture system audio only through a loopback device such as BlackHole, and none is installed.").
		WithTry("install BlackHole and create a multi-output device with it, or use ParrotScribe, which needs neither")
}

func (f *ffmpeg) check(ctx context.Context) error {
	all, err := f.devices(ctx)
	if err != nil {
		return err
	}
	var missing error
	found := 0
	for track := range origins {
		if f.cfg.wants(track) == Off {
			f.notes.captured(track, Off)
			continue
		}
		d, err := f.pick(track, all)
		switch {
		case err == nil:
			found++
			f.notes.captured(track, d.Title)
		case f.cfg.wants(track) != "":
			return err
		default:
			f.notes.absent(track, err)
			missing = cmp.Or(missing, err)
		}
	}
	if found == 0 {
		return nothingToCapture(missing)
	}
	return nil
}

func (f *ffmpeg) run(ctx context.Context, d *mixer) error {
	var tracks sync.WaitGroup
	var mu sync.Mutex
	var first error
	var heard atomic.Int64 // when any track was, in nanoseconds
	heard.Store(time.Now().UnixNano())
	for track := range origins {
		if f.cfg.wants(track) == Off {
			continue
		}
		tracks.Go(func() {
			err := f.captureLoop(ctx, track, d, &heard)
			mu.Lock()
			defer mu.Unlock()
			first = cmp.Or(first, err)
		})
	}
	tracks.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return first
}

// relist is how often to list the devices, which starts a process each time.
const relist = 3 * time.Second

// captureLoop captures a track, and restarts it when it ends, until ctx ends or no
// track has had audio for too long.
func (f *ffmpeg) captureLoop(ctx context.Context, track int, d *mixer, heard *atomic.Int64) error {
	for {
		err := f.capture(ctx, track, func(samples []int16) {
			heard.Store(time.Now().UnixNano())
			d.add(track, samples)
		})
		d.gone(track)
		if ctx.Err() != nil {
			return nil
		}
		f.notes.absent(track, err)
		if time.Now().UnixNano()-heard.Load() >= int64(maxOutage) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(relist):
		}
	}
}

// capture runs ffmpeg for a track until it ends.
func (f *ffmpeg) capture(ctx context.Context, track int, take func([]int16)) error {
	all, err := f.devices(ctx)
	if err != nil {
		return err
	}
	device, err := f.pick(track, all)
	if err != nil {
		return err
	}
	program, err := f.program()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, f.capturing(device.Name)...)
	cmd.WaitDelay = time.Second
	complaint := &tail{max: 2000}
	cmd.Stderr = complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start ffmpeg: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start ffmpeg: %w", err)
	}
	buf := make([]byte, 2*20*millisecond)
	var samples []int16
	for {
		if _, err = io.ReadFull(out, buf); err != nil {
			break
		}
		if samples == nil {
			f.notes.captured(track, device.Title)
		}
		samples = audio.AppendPCM16(samples[:0], buf)
		take(samples)
	}
	cancel()
	_ = cmd.Wait() // how it ended is in what it said
	return hearken.Errorf(hearken.Busy, "ffmpeg stopped capturing %s (%s).", device.Title, complaint.last()).
		WithTry("in the privacy settings, let the app that runs hearken use the microphone, and close programs that use it exclusively")
}

// A tail keeps the last bytes written to it.
type tail struct {
	buf bytes.Buffer
	max int
}

func (t *tail) Write(b []byte) (int, error) {
	t.buf.Write(b)
	if over := t.buf.Len() - t.max; over > 0 {
		t.buf.Next(over)
	}
	return len(b), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(t.buf.String(), "?") }

// last returns the last line, which says what went wrong.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return "it said nothing"
}
