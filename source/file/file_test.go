package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tone is a second of audio.
func tone(hz float64, rate int) []int16 {
	out := make([]int16, rate)
	for i := range out {
		out[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return out
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readAll reads a whole recording.
func readAll(s *Source) (out [][]int16, err error) {
	err = s.Read(context.Background(), func(channels ...[]int16) error {
		if out == nil {
			out = make([][]int16, len(channels))
		}
		for i, c := range channels {
			out[i] = append(out[i], c...)
		}
		return nil
	})
	return out, err
}

func TestSource_Kinds(t *testing.T) {
	stereo := audio.EncodeWAV(44100, tone(440, 44100), tone(880, 44100))
	tests := []struct {
		name     string
		data     []byte
		seconds  float64
		channels int // when kept apart
	}{
		{"mono.wav", audio.EncodeWAV(16000, tone(440, 16000)), 1, 1},
		{"stereo.wav", stereo, 1, 2},
		{"wrong name.mp3", stereo, 1, 2},
		{"chirp.opus", golden(t, "chirp.opus"), 1.1, 1},
		{"chirp-stereo.opus", golden(t, "chirp-stereo.opus"), 1.1, 2},
		{"chirp.webm", golden(t, "chirp.webm"), 1.1, 1},
		{"chirp.mp3", golden(t, "chirp.mp3"), 1.1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, separate := range []bool{false, true} {
				s, err := Open(write(t, tt.name, tt.data), Options{Separate: separate, FFmpeg: "no-such-program"})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				got, err := readAll(s)
				if err != nil {
					t.Fatal(err)
				}
				want := 1
				if separate {
					want = tt.channels
				}
				if len(got) != want {
					t.Errorf("%d channels, want %d", len(got), want)
				}
				if seconds := float64(len(got[0])) / 16000; math.Abs(seconds-tt.seconds) > 0.1 {
					t.Errorf("%.3f s, want %.3f", seconds, tt.seconds)
				}
			}
		})
	}
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "audio", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNew(t *testing.T) {
	s, err := New(io.MultiReader(bytes.NewReader(audio.EncodeWAV(48000, tone(440, 48000)))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(s)
	if err != nil || len(got[0]) != 16000 {
		t.Errorf("%d samples, %v", len(got[0]), err)
	}
}

func TestSource_Errors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "gone.wav"), Options{}); hearken.CodeOf(err) != hearken.NotFound {
		t.Errorf("missing: %v", err)
	}
	if _, err := Open(dir, Options{}); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("directory: %v", err)
	}
	for name, data := range map[string]string{
		"empty.wav": "",
		"text.txt":  strings.Repeat("no sound at all ", 100),
		"cut.wav":   "RIFF\x00\x00\x00\x00WAVEfmt ",
		"video.mp4": "\x00\x00\x00\x20ftypisom",
	} {
		s, err := Open(write(t, name, []byte(data)), Options{FFmpeg: "no-such-program"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = readAll(s)
		if hearken.CodeOf(err) != hearken.Undecodable || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "video.mp4" && !strings.Contains(err.Error(), "Try: install ffmpeg") {
			t.Errorf("%s: no advice in %v", name, err)
		}
		s.Close()
	}
}

func TestSource_Stops(t *testing.T) {
	path := write(t, "a.wav", audio.EncodeWAV(16000, make([]int16, 1<<20)))
	enough := errors.New("enough")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Read(t.Context(), func(...[]int16) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("sink: %v", err)
	}
	s, err = Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Read(ctx, func(...[]int16) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("context: %v", err)
	}
}

// fakeFFmpeg is a program that copies its input to a file and writes a WAV.
func fakeFFmpeg(t *testing.T) (program, seen string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	dir := t.TempDir()
	seen = filepath.Join(dir, "seen")
	wav := write(t, "a.wav", audio.EncodeWAV(16000, tone(440, 16000)))
	program = filepath.Join(dir, "ffmpeg")
	script := `#!/bin/sh
for a; do case "$a" in file:*) input=${a#file:};; esac; done
if ! cp "$input" ` + seen + `; then exit 1; fi
if grep -q rubbish "$input"; then echo "file:$input: Invalid data" >&2; exit 1; fi
cat ` + wav + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, seen
}

// oggPage is the first page of an Ogg stream, with one packet.
func oggPage(packet string) string {
	page := append([]byte("OggS\x00\x02"), make([]byte, 20)...)
	page = append(append(page, 1, byte(len(packet))), packet...)
	sum := uint32(0)
	for _, b := range page {
		sum ^= uint32(b) << 24
		for range 8 {
			if top := sum >> 31; top == 1 {
				sum = sum<<1 ^ 0x04c11db7
			} else {
				sum <<= 1
			}
		}
	}
	binary.LittleEndian.PutUint32(page[22:], sum)
	return string(page)
}

// What ffmpeg must decode is saved for it: it may have to look at the end first.
func TestNew_Saved(t *testing.T) {
	program, seen := fakeFFmpeg(t)
	for name, head := range map[string]string{
		"m4a": "\x00\x00\x00\x20ftypM4A ", "aiff": "FORM\x00\x00\x00\x00AIFF", "aac": strings.Repeat("\xff\xf1\x50\x80\x02\x1f\xfc123456789", 100),
		"vorbis": oggPage("\x01vorbis" + strings.Repeat("\x00", 23)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			body := head + strings.Repeat("x", 10000)
			s, err := New(strings.NewReader(body), Options{FFmpeg: program, TempDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := readAll(s); err != nil || len(got) != 1 || len(got[0]) != 16000 {
				t.Errorf("%d channels, %v", len(got), err)
			}
			if saved, err := os.ReadFile(seen); err != nil || string(saved) != body {
				t.Errorf("ffmpeg got %d bytes of %d, %v", len(saved), len(body), err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s is left", left[0].Name())
			}
		})
	}
	dir := t.TempDir()
	s, err := New(strings.NewReader("\x00\x00\x00\x20ftypM4A rubbish"), Options{FFmpeg: program, TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(s); hearken.CodeOf(err) != hearken.Undecodable || !strings.Contains(err.Error(), "the recording: Invalid data") || strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

func TestSource_FFmpeg(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	dir := t.TempDir()
	wav := write(t, "a.wav", audio.EncodeWAV(44100, tone(440, 44100), tone(880, 44100)))
	// Names that a careless caller would hand over as options or addresses.
	for _, name := range []string{"a.m4a", "-i.aiff", "http:x.m4a", "vorbis.ogg"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if out, err := exec.Command("ffmpeg", "-v", "error", "-i", wav, "-strict", "-2", "file:"+path).CombinedOutput(); err != nil {
				t.Skipf("this ffmpeg cannot write it: %s", out)
			}
			t.Chdir(dir)
			s, err := Open(name, Options{Separate: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got, err := readAll(s)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 2 || len(got[0]) < 15900 || len(got[0]) > 17000 {
				t.Errorf("%d channels of %d samples", len(got), len(got[0]))
			}
		})
	}
	t.Run("from a reader", func(t *testing.T) {
		b, err := os.ReadFile(filepath.Join(dir, "-i.aiff"))
		if err != nil {
			t.Skip(err)
		}
		s, err := New(bytes.NewReader(b), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(s); err != nil || len(got) != 1 || len(got[0]) != 16000 {
			t.Errorf("%d channels, %v", len(got), err)
		}
	})
	t.Run("rubbish", func(t *testing.T) {
		s, err := Open(write(t, "x.mp4", []byte("\x00\x00\x00\x20ftypisomrubbish")), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := readAll(s); hearken.CodeOf(err) != hearken.Undecodable || !strings.Contains(err.Error(), "ffmpeg says") {
			t.Errorf("%v", err)
		}
	})
	t.Run("play list", func(t *testing.T) {
		list := write(t, "x.m3u8", []byte("#EXTM3U\n#EXTINF:1,\n"+wav+"\n#EXT-X-ENDLIST\n"))
		s, err := Open(list, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := readAll(s); hearken.CodeOf(err) != hearken.Undecodable {
			t.Errorf("a list of other files was followed: %v", err)
		}
	})
	t.Run("stops", func(t *testing.T) {
		s, err := Open(filepath.Join(dir, "-i.aiff"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		enough := errors.New("enough")
		if err := s.Read(t.Context(), func(...[]int16) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("%v", err)
		}
	})
}
