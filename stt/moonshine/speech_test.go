package moonshine

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
	"github.com/hearken-dev/hearken/test/speech"
)

// engine opens the real engine.
func engine(t testing.TB, cfg Config) *Provider {
	t.Helper()
	cfg.Dir = speech.Models(t)
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

// wordErrors is the share of words that differ from what was said.
func wordErrors(said, text string) float64 {
	want := normal(said)
	return float64(editdistance.Levenshtein(want, normal(text))) / float64(len(want))
}

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

// unitRange is sound from -1 to 1.
func unitRange(pcm []int16) []float32 {
	out := make([]float32, len(pcm))
	for i, x := range pcm {
		out[i] = float32(x) / 32768
	}
	return out
}
