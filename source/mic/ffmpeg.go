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

// ffmpeg captures through the program of that name, one process for a device.
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
	e := hearken.Errorf(hearken.NotFound, "On this system ffmpeg captures the sound, and it is not installed (%w).", err)
	return "", e.WithTry("brew install ffmpeg; or install ParrotScribe and set SCRIBE_BACKEND=pscribe; or send sound to the audio WebSocket from another program")
}

func (f *ffmpeg) devices(ctx context.Context) ([]Device, error) {
	program, err := f.program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patient)
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

// pick finds the device for a lane. For any lane every device may be named.
func (f *ffmpeg) pick(lane int, all []Device) (Device, error) {
	name := f.cfg.wants(lane)
	i := slices.IndexFunc(all, func(d Device) bool {
		return name == "" && d.Default && d.Origin == origins[lane] || name != "" && strings.EqualFold(d.Name, name)
	})
	switch {
	case i >= 0:
		return all[i], nil
	case name != "":
		var names []string
		for _, d := range all {
			names = append(names, d.Name)
		}
		return Device{}, noDevice(lane, name, names)
	case lane == microphoneLane:
		return Device{}, hearken.Errorf(hearken.NotFound, "there is no microphone.").WithTry("plug one in")
	}
	return Device{}, hearken.Errorf(hearken.NotFound, "macOS gives ffmpeg what it plays only through a loopback device such as BlackHole, and there is none.").
		WithTry("install BlackHole and make a multi-output device with it; or use ParrotScribe, which needs none")
}

func (f *ffmpeg) check(ctx context.Context) error {
	all, err := f.devices(ctx)
	if err != nil {
		return err
	}
	var missing error
	found := 0
	for lane := range origins {
		if f.cfg.wants(lane) == Off {
			f.notes.captured(lane, Off)
			continue
		}
		d, err := f.pick(lane, all)
		switch {
		case err == nil:
			found++
			f.notes.captured(lane, d.Title)
		case f.cfg.wants(lane) != "":
			return err
		default:
			f.notes.absent(lane, err)
			missing = cmp.Or(missing, err)
		}
	}
	if found == 0 {
		return nothing(missing)
	}
	return nil
}

func (f *ffmpeg) run(ctx context.Context, d *desk) error {
	var lanes sync.WaitGroup
	var mu sync.Mutex
	var first error
	var heard atomic.Int64 // when any lane was, in nanoseconds
	heard.Store(time.Now().UnixNano())
	for lane := range origins {
		if f.cfg.wants(lane) == Off {
			continue
		}
		lanes.Go(func() {
			err := f.keep(ctx, lane, d, &heard)
			mu.Lock()
			defer mu.Unlock()
			first = cmp.Or(first, err)
		})
	}
	lanes.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return first
}

// relist is how long to wait before the devices are listed again, which takes
// a process each time.
const relist = 3 * time.Second

// keep captures a lane, and again after it ended, until ctx ends or no lane had
// any sound for too long.
func (f *ffmpeg) keep(ctx context.Context, lane int, d *desk, heard *atomic.Int64) error {
	for {
		err := f.capture(ctx, lane, func(samples []int16) {
			heard.Store(time.Now().UnixNano())
			d.add(lane, samples)
		})
		d.gone(lane)
		if ctx.Err() != nil {
			return nil
		}
		f.notes.absent(lane, err)
		if time.Now().UnixNano()-heard.Load() >= int64(patience) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(relist):
		}
	}
}

// capture lets ffmpeg capture a lane for as long as it does.
func (f *ffmpeg) capture(ctx context.Context, lane int, take func([]int16)) error {
	all, err := f.devices(ctx)
	if err != nil {
		return err
	}
	device, err := f.pick(lane, all)
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
			f.notes.captured(lane, device.Title)
		}
		samples = audio.AppendPCM16(samples[:0], buf)
		take(samples)
	}
	cancel()
	_ = cmd.Wait() // how it ended is in what it said
	return hearken.Errorf(hearken.Busy, "ffmpeg stopped to capture %s (%s).", device.Title, complaint.last()).
		WithTry("allow the terminal or app that runs hearken to use the microphone in the privacy settings, and end programs that keep it to themselves")
}

// A tail keeps the last bytes of what is written to it.
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

// last is the last line, which is what went wrong.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return "it said nothing"
}
