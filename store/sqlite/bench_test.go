package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
)

// HEARKEN_BENCH_SEGMENTS is how many segments there are to search, and
// HEARKEN_BENCH_DIR a folder in which that database is kept for the next run.
func benchSegments() int {
	if n, err := strconv.Atoi(os.Getenv("HEARKEN_BENCH_SEGMENTS")); err == nil {
		return n
	}
	return 100_000
}

// speech makes text whose words are as frequent as in speech: the frequency of
// the n-th most frequent one is proportional to 1/n.
type speech struct{ words *rand.Zipf }

func newSpeech() *speech {
	return &speech{rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.07, 2, 60_000)}
}

func (s *speech) word() string { return spell(int(s.words.Uint64())) }

// spell is the n-th most frequent word.
func spell(n int) string {
	const consonants, vowels = "bcdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n++; n > 0; n /= 75 {
		b.WriteByte(consonants[n%75/5])
		b.WriteByte(vowels[n%5])
	}
	return b.String()
}

func (s *speech) segment(line int, at time.Time) hearken.Segment {
	g := hearken.Segment{
		ID: fmt.Sprintf("0190b5a0-0000-7000-8000-%012x", line), Line: line, Origin: hearken.Microphone, Status: hearken.Confirmed,
		StartTime: float64(line) * 4, EndTime: float64(line)*4 + 3.5, IsFinal: true, Durable: true, Language: "en", Timestamp: at,
	}
	var text []string
	for i := range 6 + line%11 {
		text = append(text, s.word())
		start := g.StartTime + float64(i)*0.3
		g.Words = append(g.Words, hearken.Word{Word: text[i], StartTime: start, EndTime: start + 0.25})
	}
	g.Text = strings.Join(text, " ")
	return g
}

// fill saves sessions until there are this many segments.
func fill(b *testing.B, s *sqlite.Store, sessions, segments int) {
	b.Helper()
	from := newSpeech()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range sessions {
		session := &hearken.Session{
			ID: fmt.Sprintf("%08x-1111-4222-8333-%012x", n, n), Title: "Session " + strconv.Itoa(n), Status: hearken.Stopped,
			Language: "en", Provider: "local", StartedAt: at, SegmentCount: segments / sessions,
			Config: hearken.SessionConfig{Encoding: "linear16", SampleRate: 16000, Channels: 1},
		}
		var all []hearken.Segment
		for line := range segments / sessions {
			at = at.Add(4 * time.Second)
			all = append(all, from.segment(line+1, at))
		}
		if err := s.Save(b.Context(), session, all); err != nil {
			b.Fatal(err)
		}
	}
}

func benchStore(b *testing.B, sessions, segments int) (*sqlite.Store, string) {
	b.Helper()
	dir := os.Getenv("HEARKEN_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("bench-%d-%d.db", sessions, segments))
	_, err := os.Stat(path)
	s, openErr := sqlite.Open(b.Context(), path)
	if openErr != nil {
		b.Fatal(openErr)
	}
	b.Cleanup(func() { s.Close() })
	if err != nil {
		start := time.Now()
		fill(b, s, sessions, segments)
		b.Logf("filled %s in %v", path, time.Since(start))
	}
	return s, path
}

// queries is a fixed mix: rare words, common words, two words, phrases and
// prefixes.
func queries() map[string][]string {
	mix := map[string][]string{}
	random := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		common, middle, rare := spell(random.IntN(30)), spell(100+random.IntN(2000)), spell(10_000+random.IntN(40_000))
		mix["common"] = append(mix["common"], common)
		mix["rare"] = append(mix["rare"], rare)
		mix["two"] = append(mix["two"], common+" "+middle)
		mix["twocommon"] = append(mix["twocommon"], common+" "+spell(random.IntN(30)))
		mix["tworare"] = append(mix["tworare"], middle+" "+rare)
		mix["phrase"] = append(mix["phrase"], `"`+common+" "+middle+`"`)
		mix["prefix"] = append(mix["prefix"], rare[:4]+"*")
		mix["wide"] = append(mix["wide"], rare[:1]+"*")
	}
	return mix
}

func BenchmarkSearch(b *testing.B) {
	s, _ := benchStore(b, 1000, benchSegments())
	mix := queries()
	var fixed []string
	for _, name := range []string{"rare", "common", "two", "twocommon", "tworare", "phrase", "prefix", "wide", "mix", "ranked"} {
		list := mix[name]
		switch name {
		case "mix": // the one that is reported
			list = fixed
		case "ranked":
			list = mix["common"]
		case "rare", "common", "two":
			fixed = append(fixed, list...)
		}
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, err := s.Search(b.Context(), hearken.Query{Text: list[i%len(list)], Ranked: name == "ranked"}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
		})
	}
}

// The newest 50 of a session, however long it is.
func BenchmarkSegments(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, _ := benchStore(b, 1, n)
			for b.Loop() {
				got, err := s.Segments(b.Context(), "00000000-1111-4222-8333-000000000000", n-49, 50, false)
				if err != nil || len(got) != 50 {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}

func BenchmarkSessions(b *testing.B) {
	s, path := benchStore(b, 10_000, 10_000)
	for _, limit := range []int{50, 0} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Sessions(b.Context(), hearken.SessionFilter{Limit: limit}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s, err := sqlite.Open(b.Context(), path)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Sessions(b.Context(), hearken.SessionFilter{Status: hearken.Active}); err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
	})
}

// As the hub saves: ten segments at a time.
func BenchmarkSave(b *testing.B) {
	s, _ := benchStore(b, 1, 100)
	from, session := newSpeech(), &hearken.Session{ID: "ffffffff-1111-4222-8333-000000000000"}
	for line := 1; b.Loop(); {
		var all []hearken.Segment
		for range 10 {
			all = append(all, from.segment(line, time.Now()))
			line++
		}
		if err := s.Save(b.Context(), session, all); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDelete(b *testing.B) {
	s, _ := benchStore(b, 1000, benchSegments())
	from, session := newSpeech(), &hearken.Session{ID: "eeeeeeee-1111-4222-8333-000000000000"}
	for b.Loop() {
		b.StopTimer()
		var all []hearken.Segment
		for line := range 100 {
			all = append(all, from.segment(line+1, time.Now()))
		}
		if err := s.Save(b.Context(), session, all); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := s.Delete(b.Context(), session.ID); err != nil {
			b.Fatal(err)
		}
	}
}
