package moonshine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// Continue turns sound into text that goes on from what was said before in the
// same sound. The tokens before are taken as said, whatever the model would
// make of them now; the result holds only what follows. A model that hears the
// sentence from its beginning understands its end far better.
func (m *Model) Continue(ctx context.Context, pcm []float32, before []int32) (r Result, err error) {
	for n := len(before); n > 0 && strings.Trim(m.vocab.text(before[n-1:]), ".,;:!? ") == ""; n-- {
		before = before[:n-1] // the sentence may not have ended there
	}
	start := time.Now()
	sound, err := m.encode(pcm)
	if err != nil {
		return r, fmt.Errorf("encode sound: %w", err)
	}
	defer closeAll(sound)
	r.Encode = time.Since(start)
	start = time.Now()
	defer func() { r.Decode = time.Since(start) }()
	limit := int(float64(len(pcm))/hearken.SampleRate*m.rate) + 1
	first := []int64{beginToken}
	for _, t := range before[:min(len(before), limit)] {
		first = append(first, int64(t))
	}
	run, choices, err := m.network.begin(sound, first, limit+1)
	if err != nil {
		return r, fmt.Errorf("continue text: %w", err)
	}
	defer run.close()
	r.Steps = 1
	for next := choices[len(choices)-1]; ; r.Steps++ {
		if next.token == endToken {
			break
		}
		if len(first)+len(r.Tokens) > limit {
			r.Capped = true
			break
		}
		r.add(next)
		if n := loop(r.Tokens); n > 0 {
			r.cut(n)
			r.Looped = true
			break
		}
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if next, err = run.step(next.token); err != nil {
			return r, fmt.Errorf("continue text: %w", err)
		}
	}
	r.Text = strings.TrimLeft(m.vocab.text(r.Tokens), ".,;:!? ")
	return r, nil
}
