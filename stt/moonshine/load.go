package moonshine

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/vad"
)

// A modelCache holds what was loaded, so that two model sets share a model.
type modelCache struct {
	mu     sync.Mutex // held while something loads
	rt     *onnx.Runtime
	silero *vad.Model
	models map[string]*Model // by directory
}

// loadModels loads the smallest and the largest of some models of one language
// in parallel. If it may choose, a measurement decides which of them makes the
// finals.
func (p *Provider) loadModels(ctx context.Context, found []Installed, mayChoose bool) (*modelSet, error) {
	began := time.Now()
	s := &p.cache
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rt == nil {
		rt, err := onnx.Open(cmp.Or(p.cfg.Library, onnx.FindLibrary(filepath.Join(p.cfg.Dir, "lib"))))
		if err != nil {
			return nil, err
		}
		s.rt, s.models = rt, map[string]*Model{}
	}
	if len(found) > 2 {
		found = []Installed{found[0], found[len(found)-1]}
	}
	if err := s.load(ctx, found, filepath.Join(p.cfg.Dir, "vad", "silero_vad_v6.onnx"), p.cfg.Log); err != nil {
		return nil, err
	}
	small, large := s.models[found[0].Dir], s.models[found[len(found)-1].Dir]
	cost, err := measureCost(ctx, large)
	if err != nil {
		return nil, err
	}
	v := &modelSet{
		quick: small, good: large, plausible: plausibilityFor(found[0].Language), common: commonWords(small.vocab),
		detector: func() (detector, error) { return s.silero.NewDetector() },
	}
	if mayChoose && cost > maxCost && small != large {
		if cost, err = measureCost(ctx, small); err != nil {
			return nil, err
		}
		v.good = small
	}
	v.streams = maxStreams(p.cfg.Cores, cost)
	p.cfg.Log.Info("offline engine ready", "language", found[0].Language, "quick", found[0].Name,
		"good", found[len(found)-1].Name, "good_used", v.good == large, "cost", math.Round(cost*1000)/1000,
		"streams", v.streams, "seconds", math.Round(time.Since(began).Seconds()*100)/100)
	return v, nil
}

// load loads what is not loaded yet.
func (s *modelCache) load(ctx context.Context, found []Installed, silero string, log *slog.Logger) error {
	missing := slices.DeleteFunc(slices.Clone(found), func(f Installed) bool { return s.models[f.Dir] != nil })
	loaded, errs := make([]*Model, len(missing)), make([]error, len(missing)+1)
	var wg sync.WaitGroup
	if s.silero == nil {
		wg.Go(func() { s.silero, errs[len(missing)] = vad.Load(s.rt, silero) })
	}
	for i, f := range missing {
		wg.Go(func() {
			loaded[i], errs[i] = LoadModel(s.rt, f.Dir, ModelOptions{TokensPerSecond: tokenRate(f.Language)})
		})
	}
	wg.Wait()
	for i, m := range loaded {
		if m == nil {
			continue
		}
		s.models[missing[i].Dir] = m
		if m.notRewritten != nil {
			log.Warn("model not prepared and therefore slower; hearken models pull prepares it", "model", missing[i].Name, "error", m.notRewritten)
		}
	}
	// Each error names a file and what to do; one is enough.
	return cmp.Or(append(errs, ctx.Err())...)
}

func (s *modelCache) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.models {
		m.Close()
	}
	if s.silero != nil {
		s.silero.Close()
	}
	if s.rt != nil {
		s.rt.Close()
	}
	s.models, s.silero, s.rt = nil, nil, nil
}

// commonWords reports whether a word is a common one: the model's vocabulary has
// it as one piece. Few sessions ask, so the first one makes the list.
func commonWords(v *vocab) func(word string) bool {
	list := sync.OnceValue(func() map[string]bool {
		words := map[string]bool{}
		for _, p := range v.pieces {
			if w, ok := strings.CutPrefix(p, " "); ok && w != "" && !strings.ContainsFunc(w, notLetter) {
				words[foldLetters(w)] = true
			}
		}
		return words
	})
	return func(word string) bool { return list()[word] }
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// tokenRate is how many tokens people say per second at most: more if the
// vocabulary spells the script byte by byte. 0 is the default.
func tokenRate(language string) float64 {
	switch language {
	case "ar", "ja", "ko", "uk", "vi", "zh":
		return 13
	}
	return 0
}
