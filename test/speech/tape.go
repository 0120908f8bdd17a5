package speech

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/wer"
)

// Select are the clips that are wanted, with their audio, of the collection
// that HEARKEN_SPEECH names or else of the repository's own.
func Select(t testing.TB, want func(c *Clip) bool) []*Clip {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	var clips []*Clip
	for _, c := range list(t, dir) {
		if want(&c) {
			read(t, &c)
			clips = append(clips, &c)
		}
	}
	if len(clips) == 0 {
		t.Fatalf("%s has no such recordings; %s names a larger collection", dir, EnvDir)
	}
	return clips
}

// English are the English clips with a reference, in an order in which any
// beginning is a fair sample: long and short, easy and hard.
func English(t testing.TB) []*Clip {
	t.Helper()
	clips := Select(t, func(c *Clip) bool { return c.Language == "en" && c.Reference != "" })
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(clips), func(i, j int) { clips[i], clips[j] = clips[j], clips[i] })
	return clips
}

// First are as many of the clips as fit into so many seconds.
func First(clips []*Clip, seconds float64) []*Clip {
	for i, c := range clips {
		if seconds -= c.Seconds(); seconds < 0 {
			return clips[:i]
		}
	}
	return clips
}

// Samples is a time in seconds as a number of samples.
func Samples(seconds float64) int { return int(seconds * hearken.SampleRate) }

// RoomNoise is the noise of a quiet room, about 66 dB below full scale.
func RoomNoise(seconds float64) []int16 {
	rng := rand.New(rand.NewPCG(5, 6))
	pcm := make([]int16, Samples(seconds))
	for i := range pcm {
		pcm[i] = int16(16 * rng.NormFloat64())
	}
	return pcm
}

// A Tape is several clips one after the other, with pauses.
type Tape struct {
	PCM   []int16
	Parts []Part
}

// A Part is where a clip lies on a tape, in samples.
type Part struct {
	*Clip
	From, To int
}

// Splice puts clips on a tape, with so many seconds of a quiet room before,
// between and after them.
func Splice(clips []*Clip, pause float64) *Tape {
	t := &Tape{PCM: RoomNoise(pause)}
	for _, c := range clips {
		t.Add(c)
		t.Pause(pause)
	}
	return t
}

// SpliceSeconds is a tape of so many seconds, on which clips may repeat.
func SpliceSeconds(clips []*Clip, pause, seconds float64) *Tape {
	var some []*Clip
	for left := seconds; ; {
		for _, c := range clips {
			if left -= c.Seconds() + pause; left < pause {
				return Splice(some, pause)
			}
			some = append(some, c)
		}
	}
}

// Add appends a clip.
func (t *Tape) Add(c *Clip) {
	t.Parts = append(t.Parts, Part{c, len(t.PCM), len(t.PCM) + len(c.PCM())})
	t.PCM = append(t.PCM, c.PCM()...)
}

// Pause appends the noise of a quiet room.
func (t *Tape) Pause(seconds float64) { t.PCM = append(t.PCM, RoomNoise(seconds)...) }

// Deal makes n tapes of about the same length.
func Deal(clips []*Clip, n int, pause float64) []*Tape {
	dealt, seconds := make([][]*Clip, n), make([]float64, n)
	for _, c := range clips {
		shortest := slices.Index(seconds, slices.Min(seconds))
		dealt[shortest] = append(dealt[shortest], c)
		seconds[shortest] += c.Seconds() + pause
	}
	var tapes []*Tape
	for _, some := range dealt {
		if len(some) > 0 {
			tapes = append(tapes, Splice(some, pause))
		}
	}
	return tapes
}

// Texts gives each part of the tape its text, by index. A segment belongs to
// the part that it overlaps most.
func (t *Tape) Texts(segments []hearken.Segment) []string {
	texts := make([]string, len(t.Parts))
	for _, s := range segments {
		if !s.Spoken() {
			continue
		}
		best, most := 0, -1e9
		for i, p := range t.Parts {
			both := min(s.EndTime, float64(p.To)/hearken.SampleRate) - max(s.StartTime, float64(p.From)/hearken.SampleRate)
			if both > most {
				best, most = i, both
			}
		}
		texts[best] = strings.TrimSpace(texts[best] + " " + s.Text)
	}
	return texts
}

// Scores are the word errors of each part.
func (t *Tape) Scores(segments []hearken.Segment) (scores []wer.Score) {
	for i, text := range t.Texts(segments) {
		scores = append(scores, wer.ScoreOf(t.Parts[i].Reference, text))
	}
	return scores
}
