package moonshine

import (
	"context"
	"encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A clip is one real recording.
type clip struct {
	file, reference, language, kind string
	pcm                             []int16
}

func (c *clip) seconds() float64 { return float64(len(c.pcm)) / hearken.SampleRate }

// recordings reads the real recordings, or skips the test where there are none.
func recordings(t testing.TB) []clip {
	t.Helper()
	dir := os.Getenv("HEARKEN_SPEECH")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "speech")
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Skip("no recordings: HEARKEN_SPEECH names no directory with a manifest.tsv")
	}
	var clips []clip
	for line := range strings.Lines(string(manifest)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) < 5 || f[0] == "file" {
			continue
		}
		clips = append(clips, clip{file: f[0], reference: f[2], language: f[3], kind: f[4], pcm: readWAV(t, filepath.Join(dir, f[0]))})
	}
	return clips
}

// readWAV reads the samples of a file that is known to be 16 kHz mono.
func readWAV(t testing.TB, path string) []int16 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 12; i+8 <= len(b); {
		size := int(binary.LittleEndian.Uint32(b[i+4:]))
		if string(b[i:i+4]) == "data" {
			b = b[i+8 : min(i+8+size, len(b))]
			pcm := make([]int16, len(b)/2)
			for j := range pcm {
				pcm[j] = int16(binary.LittleEndian.Uint16(b[2*j:]))
			}
			return pcm
		}
		i += 8 + size + size%2
	}
	t.Fatalf("%s has no sound", path)
	return nil
}

// engine opens the real engine, or skips the test where there are no models.
func engine(t testing.TB, cfg Config) *Provider {
	t.Helper()
	cfg.Dir = os.Getenv("HEARKEN_MODELS")
	if cfg.Dir == "" {
		t.Skip("no models: HEARKEN_MODELS names no directory")
	}
	if testing.Verbose() {
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	p := Open(t.Context(), cfg)
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

var spelt = strings.NewReplacer(
	"mr.", "mister", "mrs.", "missus", "dr.", "doctor", "st.", "saint", "ok ", "okay ", "-", " ", "%", " percent",
)

// normal is a text as its words are compared: spelling and punctuation do not
// count.
func normal(text string) []string {
	words := hearken.Terms(spelt.Replace(strings.ToLower(text) + " "))
	out := words[:0]
	for _, w := range words {
		switch w {
		case "uh", "um", "mm", "hmm", "mhm":
		case "mr":
			out = append(out, "mister")
		case "mrs":
			out = append(out, "missus")
		default:
			out = append(out, w)
		}
	}
	return out
}

// errorRate sums word errors over clips.
type errorRate struct{ errors, words int }

func (r *errorRate) add(reference, text string) int {
	want := normal(reference)
	n := stttest.Distance(want, normal(text))
	r.errors += n
	r.words += len(want)
	return n
}

func (r *errorRate) percent() float64 { return 100 * float64(r.errors) / float64(max(r.words, 1)) }

// spokenText joins the text of segments.
func spokenText(segments []hearken.Segment) string {
	var texts []string
	for _, s := range segments {
		if s.Spoken() {
			texts = append(texts, s.Text)
		}
	}
	return strings.Join(texts, " ")
}
