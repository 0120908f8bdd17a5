package moonshine

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// In the fakes' language a word is a burst of a square wave, and its loudness
// says which word it is.
const (
	loudStep  = 500
	loudFirst = 3000
	lastWord  = 20
)

// say makes sound: words of half a second with gaps of 100 ms, and pauses in
// seconds between the slices.
func say(pauses float64, sentences ...[]int) []int16 {
	var pcm []int16
	quiet := func(seconds float64) { pcm = append(pcm, make([]int16, int(seconds*hearken.SampleRate))...) }
	quiet(pauses)
	for _, words := range sentences {
		for _, w := range words {
			for i := range hearken.SampleRate / 2 {
				pcm = append(pcm, int16((loudFirst+w*loudStep)*(1-2*(i/40%2))))
			}
			quiet(0.1)
		}
		quiet(pauses)
	}
	return pcm
}

func spoken(sentences ...[]int) string {
	var words []string
	for _, s := range sentences {
		for _, w := range s {
			words = append(words, fmt.Sprintf("w%d", w))
		}
	}
	return strings.Join(words, " ")
}

type fakeDetector struct{}

func (fakeDetector) Reset() {}
func (fakeDetector) Close() {}

func (fakeDetector) Feed(frame []float32) (float32, error) {
	if rms, _ := rmsAndPeak(frame); rms > 0.02 {
		return 0.95, nil
	}
	return 0.01, nil
}

// A fakeModel hears words as the fakes say them. Its gate, if there is one, is
// passed before each inference.
type fakeModel struct {
	gate  chan struct{}
	fail  atomic.Bool
	calls atomic.Int64
}

func (m *fakeModel) Transcribe(ctx context.Context, pcm []float32, draft []int32) (Result, error) {
	m.calls.Add(1)
	if m.gate != nil {
		select {
		case <-m.gate:
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
	if m.fail.Load() {
		return Result{}, fmt.Errorf("inference failed")
	}
	var r Result
	var words []string
	var burst []float64
	flush := func() {
		if len(burst) >= hearken.SampleRate/5 {
			slices.Sort(burst)
			w := int(math.Round((burst[len(burst)/2]*32768 - loudFirst) / loudStep))
			if w >= 0 && w <= lastWord {
				words = append(words, fmt.Sprintf("w%d", w))
				r.Tokens = append(r.Tokens, int32(w))
				r.LogProbs = append(r.LogProbs, -0.01)
			}
		}
		burst = burst[:0]
	}
	still := 0
	for _, s := range pcm {
		if a := math.Abs(float64(s)); a > 0.02 {
			burst = append(burst, a)
			still = 0
		} else if still++; still > 400 {
			flush()
		}
	}
	flush()
	r.Text = strings.Join(words, " ")
	return r, nil
}

func (m *fakeModel) Continue(ctx context.Context, pcm []float32, before []int32) (Result, error) {
	r, err := m.Transcribe(ctx, pcm, nil)
	if err != nil || len(before) > len(r.Tokens) {
		return Result{}, err
	}
	n := len(before)
	r.Text = strings.Join(strings.Fields(r.Text)[n:], " ")
	r.Tokens, r.LogProbs = r.Tokens[n:], r.LogProbs[n:]
	return r, nil
}

// fakeProvider is an engine with fakes for its models.
func fakeProvider(t *testing.T, m *fakeModel, cfg Config) *Provider {
	t.Helper()
	cfg.Dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(cfg.Dir, "moonshine", "tiny-en"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t.Context(), cfg)
	p.load = func(context.Context, []Installed, bool) (*modelSet, error) {
		return &modelSet{
			good: m, quick: m, streams: 20, common: func(string) bool { return true },
			detector: func() (detector, error) { return fakeDetector{}, nil },
		}, nil
	}
	p.loadDefault(t.Context())
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}
