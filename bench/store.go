package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
)

// A talker makes up sentences in which words are as frequent as in speech: a
// few often, many rarely.
type talker struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	vocab []string
}

func newTalker() *talker {
	rng := rand.New(rand.NewPCG(1, 2))
	t := &talker{rng: rng, zipf: rand.NewZipf(rng, 1.2, 4, 29999)}
	syllables := strings.Fields("ka to mi re so la ne fu ri da po ge wa chi ren tal mon ser vil tor den gar lin pes")
	for i := range 30000 {
		var word strings.Builder
		for n := i; ; n /= len(syllables) {
			word.WriteString(syllables[n%len(syllables)])
			if n < len(syllables) {
				break
			}
		}
		t.vocab = append(t.vocab, word.String())
	}
	return t
}

func (t *talker) sentence() string {
	words := make([]string, 6+t.rng.IntN(12))
	for i := range words {
		words[i] = t.vocab[t.zipf.Uint64()]
	}
	return strings.Join(words, " ") + "."
}

// fillStore fills the store of a data directory with sessions of so many
// entries each, and returns their ids.
func fillStore(b *bench, dir string, counts []int) (ids []string) {
	db, err := sqlite.Open(b.ctx, filepath.Join(dir, "hearken.db"))
	b.check(err)
	defer func() { b.check(db.Close()) }()
	t := newTalker()
	first := time.Now().Add(-time.Duration(len(counts)) * time.Hour).UTC()
	for i, n := range counts {
		started := first.Add(time.Duration(i) * time.Hour)
		stopped := started.Add(time.Duration(n) * 5 * time.Second)
		s := &hearken.Session{
			ID: uuid.NewString(), Status: hearken.Stopped, StopReason: hearken.StopRequested, Language: "en", Provider: "local",
			Title: fmt.Sprintf("Call %d", i), StartedAt: started, StoppedAt: &stopped, Duration: float64(5 * n), SegmentCount: n,
		}
		const batchSize = 2000
		for line := 1; line <= max(n, 1); line += batchSize {
			var batch []hearken.Segment
			for l := line; l < line+batchSize && l <= n; l++ {
				batch = append(batch, t.segment(started, l))
			}
			b.check(db.Save(b.ctx, s, batch))
		}
		ids = append(ids, s.ID)
	}
	return ids
}

func (t *talker) segment(started time.Time, line int) hearken.Segment {
	at := float64(line-1) * 5
	confidence := 0.9
	return hearken.Segment{
		ID: fmt.Sprintf("M0-%d", line), Line: line, Origin: hearken.Microphone, Status: hearken.Confirmed, Text: t.sentence(),
		Words: []hearken.Word{}, StartTime: at, EndTime: at + 4, Confidence: &confidence, Language: "en", IsFinal: true,
		Timestamp: started.Add(time.Duration(at * float64(time.Second))), Durable: true,
	}
}
