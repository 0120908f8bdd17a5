package mic

import (
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

	"regexp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/source/ffmpeg"
)

// An ffmpegBackend captures with the ffmpeg program, one process per device.
type ffmpegBackend struct {
	cfg   Config
	notes *notes
	// How to call ffmpeg and read its list. Tests use devices that every computer
	// has.
	listing   func() []string
	parse     func(printed string) []device
	capturing func(name string) []string
}

func newFFmpeg(cfg Config, n *notes) *ffmpegBackend {
	return &ffmpegBackend{cfg: cfg, notes: n, listing: listArgs, parse: parseDevices, capturing: captureArgs}
}

func (f *ffmpegBackend) program() (string, error) {
	path, err := ffmpeg.Find(f.cfg.FFmpeg)
	if err == nil {
		return path, nil
	}
	e := hearken.Errorf(hearken.NotFound, "Capturing audio on this system needs ffmpeg, which is not installed (%w).", err)
	return "", e.WithTry("brew install ffmpeg; or install ParrotScribe and set SCRIBE_BACKEND=pscribe; or send audio to the audio WebSocket from another program")
}

func (f *ffmpegBackend) devices(ctx context.Context) ([]device, error) {
	program, err := f.program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*replyTimeout)
	defer cancel()
	process, err := ffmpeg.Start(ctx, program, nil, f.listing()...)
	if err == nil {
		err = process.Wait() // it always fails after listing
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && (!exited || ctx.Err() != nil) {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	return f.parse(process.Messages()), nil
}

// pick finds the device of a track. Any device may be named for any track.
func (f *ffmpegBackend) pick(track int, all []device) (device, error) {
	name := f.cfg.deviceName(track)
	i := slices.IndexFunc(all, func(d device) bool {
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
		return device{}, noDevice(track, name, names)
	case track == microphoneTrack:
		return device{}, hearken.Errorf(hearken.NotFound, "there is no microphone.").WithTry("connect one")
	}
	return device{}, hearken.Errorf(hearken.NotFound, "On macOS, ffmpeg can capture system audio only through a loopback device such as BlackHole, and none is installed.").
		WithTry("install BlackHole and create a multi-output device with it, or use ParrotScribe, which needs neither")
}

func (f *ffmpegBackend) check(ctx context.Context) error {
	all, err := f.devices(ctx)
	if err != nil {
		return err
	}
	return checkTracks(f.cfg, f.notes, func(track int) (string, error) {
		d, err := f.pick(track, all)
		return d.Title, err
	})
}

func (f *ffmpegBackend) run(ctx context.Context, d *mixer) error {
	var tracks sync.WaitGroup
	var mu sync.Mutex
	var first error
	var lastAudio atomic.Int64 // when any track had audio, in nanoseconds
	lastAudio.Store(time.Now().UnixNano())
	for _, track := range f.cfg.tracks() {
		tracks.Go(func() {
			err := f.captureLoop(ctx, track, d, &lastAudio)
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

// relistInterval is how often to list the devices, which starts a process each time.
const relistInterval = 3 * time.Second

// captureLoop captures a track, and restarts it when it ends, until ctx ends or no
// track has had audio for too long.
func (f *ffmpegBackend) captureLoop(ctx context.Context, track int, d *mixer, lastAudio *atomic.Int64) error {
	for {
		err := f.capture(ctx, track, func(samples []int16) {
			lastAudio.Store(time.Now().UnixNano())
			d.add(track, samples)
		})
		d.markSilent(track)
		if ctx.Err() != nil {
			return nil
		}
		f.notes.absent(track, err)
		if time.Now().UnixNano()-lastAudio.Load() >= int64(maxOutage) {
			return err
		}
		pause(ctx, relistInterval)
	}
}

// capture runs ffmpeg for a track until it ends.
func (f *ffmpegBackend) capture(ctx context.Context, track int, deliver func([]int16)) error {
	all, err := f.devices(ctx)
	if err != nil {
		return err
	}
	from, err := f.pick(track, all)
	if err != nil {
		return err
	}
	program, err := f.program()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	process, err := ffmpeg.Start(ctx, program, nil, f.capturing(from.Name)...)
	if err != nil {
		return err
	}
	buf := make([]byte, 2*20*millisecond)
	var samples []int16
	for {
		if _, err = io.ReadFull(process, buf); err != nil {
			break
		}
		if samples == nil {
			f.notes.captured(track, from.Title)
		}
		samples = audio.AppendPCM16(samples[:0], buf)
		deliver(samples)
	}
	cancel()
	_ = process.Wait() // its messages say how it ended
	return hearken.Errorf(hearken.Busy, "ffmpeg stopped capturing %s (%s).", from.Title, cmp.Or(process.LastMessage(), "it said nothing")).
		WithTry("in the privacy settings, let the app that runs hearken use the microphone, and close programs that use it exclusively")
}

// loopbacks are parts of the names of loopback devices, the only way for ffmpeg to
// capture what a Mac plays.
var loopbacks = []string{"blackhole", "loopback", "soundflower", "background music", "vb-cable"}

func isLoopback(title string) bool {
	return slices.ContainsFunc(loopbacks, func(l string) bool {
		return strings.Contains(strings.ToLower(title), l)
	})
}

// listArgs make ffmpeg list the devices in its error output.
func listArgs() []string {
	return []string{"-f", "avfoundation", "-list_devices", "true", "-i", ""}
}

// captureArgs make ffmpeg write a device's audio in the hub's format. A device
// name cannot be read as an option: avfoundation wants VIDEO:AUDIO, so it starts
// with a colon.
func captureArgs(name string) []string {
	return []string{"-loglevel", "error", "-fflags", "nobuffer",
		"-f", "avfoundation", "-i", ":" + name,
		"-map", "0:a:0", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", "-flush_packets", "1", "-f", "s16le", "pipe:1"}
}

// deviceLine matches a line such as: [AVFoundation indev @ 0x7f8] [1] BlackHole 2ch
var deviceLine = regexp.MustCompile(`^\[AVFoundation[^\]]*\] \[\d+\] (.+)$`)

// parseDevices parses ffmpeg's output for listArgs. Loopback devices capture what
// the computer plays; the others are microphones. ffmpeg itself knows the user's
// default microphone.
func parseDevices(printed string) []device {
	var all []device
	sound := false // below the heading of the audio devices
	usual := map[hearken.Origin]bool{}
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\r\n ")
		switch {
		case strings.HasSuffix(line, " audio devices:"):
			sound = true
		case strings.HasSuffix(line, " video devices:"):
			sound = false
		}
		m := deviceLine.FindStringSubmatch(line)
		if m == nil || !sound {
			continue
		}
		d := device{Name: m[1], Title: m[1], Origin: hearken.Microphone}
		switch {
		case isLoopback(d.Title):
			d.Origin = hearken.System
			d.Default = !usual[d.Origin]
		case !usual[d.Origin]:
			all = append(all, device{Name: "default", Title: "the default input", Origin: d.Origin, Default: true})
		}
		usual[d.Origin] = true
		all = append(all, d)
	}
	return all
}
