package moonshine

import (
	"slices"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// find returns one recording by name.
func find(t testing.TB, clips []clip, file string) clip {
	t.Helper()
	i := slices.IndexFunc(clips, func(c clip) bool { return c.file == file })
	if i < 0 {
		t.Skipf("no recording %s", file)
	}
	return clips[i]
}

// The real engine passes the suite that every engine passes.
func TestEngine_Suite(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	c := find(t, recordings(t), "jfk.wav")
	p := engine(t, Config{Model: "tiny", MaxStreams: 20})
	stttest.Run(t, func(*testing.T) hearken.Provider { return p }, stttest.Options{
		Language: "en", Unknown: "tlh", Sound: c.pcm, Words: c.reference,
	})
}

// The ways in which the engine hears.
var ways = map[string]func(*testing.T, *Provider, []int16) []hearken.Segment{"live": stream1, "whole": all1}

// Sound without speech gives no text.
func TestEngine_Noise(t *testing.T) {
	p := engine(t, Config{Model: "base"})
	for _, c := range recordings(t) {
		if c.language != "-" {
			continue
		}
		for way, hear := range ways {
			for _, s := range hear(t, p, c.pcm) {
				if s.Text != "" {
					t.Errorf("%s, %s: %q from %.1f to %.1f", c.file, way, s.Text, s.StartTime, s.EndTime)
				}
			}
		}
	}
}

// Speech in another language is marked, English is not.
func TestEngine_Foreign(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	p := engine(t, Config{Model: "base"})
	for way, hear := range ways {
		t.Run(way, func(t *testing.T) { testForeign(t, p, hear) })
	}
}

func testForeign(t *testing.T, p *Provider, hear func(*testing.T, *Provider, []int16) []hearken.Segment) {
	var mu sync.Mutex
	var foreign, marked, english, wrong int
	var wg sync.WaitGroup
	next := make(chan clip)
	for range p.cfg.Cores {
		wg.Go(func() {
			for c := range next {
				var texts []string
				strange := 0
				for _, s := range hear(t, p, c.pcm) {
					if s.Text == NotUnderstood {
						strange++
					} else if s.Spoken() {
						texts = append(texts, s.Text)
					}
				}
				mu.Lock()
				if c.spoken() == "en" {
					english++
					wrong += btoi(strange > 0)
					if strange > 0 {
						t.Logf("%s: English marked %d times beside %q", c.file, strange, texts)
					}
				} else {
					foreign++
					marked += btoi(strange > len(texts))
					if strange <= len(texts) {
						t.Logf("%s: %s not marked: %q", c.file, c.language, texts)
					}
				}
				mu.Unlock()
			}
		})
	}
	n := 0
	for _, c := range recordings(t) {
		if c.language == "-" {
			continue
		}
		if n++; c.spoken() != "en" || n%4 == 0 || *measuring { // a sample is enough
			next <- c
		}
	}
	close(next)
	wg.Wait()
	t.Logf("marked: %d of %d foreign recordings, %d of %d English ones", marked, foreign, wrong, english)
	if 10*marked < 8*foreign {
		t.Errorf("only %d of %d foreign recordings are marked", marked, foreign)
	}
	if wrong > 1 && 50*wrong > english { // a single one says little
		t.Errorf("%d of %d English recordings are marked", wrong, english)
	}
}

// A vocabulary leaves alone what is right.
func TestEngine_Vocabulary(t *testing.T) {
	p := engine(t, Config{Model: "tiny"})
	c := find(t, recordings(t), "ms-two-cities.wav")
	hear := func(terms ...string) string {
		segments, err := p.TranscribeAll(t.Context(), c.pcm, hearken.StreamConfig{Language: "en", Vocabulary: terms}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return spokenText(segments)
	}
	plain := hear()
	if got := hear("Kubernetes", "Marie Curie", "Hearken", "Timms", "Wisden", "Lyte", "Springer", "Hevin", "Supralative Inc", "Epic", "Sesen"); got != plain {
		t.Errorf("%q became %q", plain, got)
	}
}
