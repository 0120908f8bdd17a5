package mic

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

const avfoundation = `[AVFoundation indev @ 0x14d604e10] AVFoundation video devices:
[AVFoundation indev @ 0x14d604e10] [0] FaceTime HD Camera
[AVFoundation indev @ 0x14d604e10] [1] Capture screen 0
[AVFoundation indev @ 0x14d604e10] AVFoundation audio devices:
[AVFoundation indev @ 0x14d604e10] [0] BlackHole 2ch
[AVFoundation indev @ 0x14d604e10] [1] MacBook Pro Microphone
[AVFoundation indev @ 0x14d604e10] [2] Jane's [old] AirPods
: Input/output error
`

func TestParseDevices(t *testing.T) {
	const m, s = hearken.Microphone, hearken.System
	want := []device{
		{"BlackHole 2ch", "BlackHole 2ch", s, true},
		{"default", "the default input", m, true},
		{"MacBook Pro Microphone", "MacBook Pro Microphone", m, false},
		{"Jane's [old] AirPods", "Jane's [old] AirPods", m, false},
	}
	if diff := cmp.Diff(want, parseDevices(avfoundation)); diff != "" {
		t.Error(diff)
	}
	if none := parseDevices("[AVFoundation indev @ 0x1] AVFoundation audio devices:\n"); none != nil {
		t.Errorf("of nothing: %v", none)
	}
}

// No name of a device is ever an option.
func TestCaptureArgs(t *testing.T) {
	args := captureArgs("-y")
	if i := slices.Index(args, "-i"); slices.Contains(args, "-y") || i < 0 || args[i+1] != ":-y" || args[len(args)-1] != "pipe:1" {
		t.Errorf("%q", args)
	}
	if list := strings.Join(listArgs(), " "); !strings.Contains(list, "-list_devices true") {
		t.Error(list)
	}
}

// standIn is an ffmpeg backend whose devices are tones that the real ffmpeg
// makes in real time, or another program that is given.
func standIn(t *testing.T, printed string, cfg Config) *Capture {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil && cfg.FFmpeg == "" {
		t.Skip("ffmpeg is not installed")
	}
	n := &notes{log: slog.New(slog.DiscardHandler)}
	f := newFFmpeg(cfg, n)
	hz := map[string]int{"default": 400, "BlackHole 2ch": 1000}
	f.listing = func() []string { return []string{"-hide_banner", "-i", "no such file"} }
	f.capturing = func(name string) []string {
		args := captureArgs(name)
		i := slices.Index(args, "-i")
		return slices.Concat(args[:i-2], []string{"-re", "-f", "lavfi", "-i", fmt.Sprintf("sine=%d", hz[name])}, args[i+2:])
	}
	f.parse = func(string) []device { return parseDevices(printed) }
	return &Capture{cfg: cfg, notes: n, backend: f}
}

func TestFFmpeg_Capture(t *testing.T) {
	c := standIn(t, avfoundation, Config{})
	if err := c.backend.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"Microphone: the default input.", "System audio: BlackHole 2ch.", consent}
	if diff := cmp.Diff(want, c.Notes()); diff != "" {
		t.Error(diff)
	}
	run(t, c).hears(t, 400, 1000)
}

func TestFFmpeg_Check(t *testing.T) {
	for name, tt := range map[string]struct {
		printed string
		cfg     Config
		code    hearken.Code
		holds   string // of the error, or else of the notes
	}{
		"NotInstalled": {avfoundation, Config{FFmpeg: "no-such-ffmpeg"}, hearken.NotFound, "brew install ffmpeg"},
		"NoLoopback":   {strings.ReplaceAll(avfoundation, "BlackHole", "Studio"), Config{}, "", "System audio is not captured: macOS gives ffmpeg what it plays only through a loopback device"},
		"Nothing":      {"", Config{}, hearken.NotFound, "Nothing can be captured: there is no microphone."},
		"Unknown":      {avfoundation, Config{Microphone: "studio"}, hearken.NotFound, "one of: BlackHole 2ch, default"},
		"Named":        {avfoundation, Config{Microphone: "macbook pro microphone", System: Off}, "", "Microphone: MacBook Pro Microphone."},
	} {
		t.Run(name, func(t *testing.T) {
			c := standIn(t, tt.printed, tt.cfg)
			err := c.backend.check(t.Context())
			said := strings.Join(c.Notes(), "\n")
			if err != nil {
				said = err.Error()
			}
			if hearken.CodeOf(err) != tt.code || (tt.code == "") != (err == nil) || !strings.Contains(said, tt.holds) {
				t.Errorf("%v; %s", err, said)
			}
		})
	}
}

// A program that ends is started again, and people see what it said.
func TestFFmpeg_Ends(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell to stand in for ffmpeg")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "ffmpeg")
	script := "#!/bin/sh\necho 'device is busy' >&2\nexit 1\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := standIn(t, avfoundation, Config{FFmpeg: program, System: Off})
	h := run(t, c)
	h.says(t, "ffmpeg stopped capturing the default input (device is busy)")
	installed, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Skip("ffmpeg is not installed")
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(installed, program); err != nil {
		t.Fatal(err)
	}
	h.hears(t, 400)
}
