package moonshine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken/onnx"
)

// decode finds the text. It always takes the most likely token.
func (m *Model) decode(ctx context.Context, encoded []*onnx.Value, limit int, draft []int32, r *Result) error {
	draft = draft[:min(len(draft), limit)]
	if i := slices.IndexFunc(draft, func(t int32) bool { return t <= endToken || int(t) >= len(m.vocab.pieces) }); i >= 0 {
		draft = draft[:i]
	}
	run, choices, err := m.network.begin(encoded, textTokens(draft), limit+1)
	if err != nil {
		return err
	}
	defer run.close()

	// The draft is right for as long as the model agrees.
	agreed := 0
	for agreed < len(draft) && choices[agreed].token == draft[agreed] {
		r.add(choices[agreed])
		agreed++
	}
	if agreed < len(draft) {
		if err := run.trim(agreed + 1); err != nil {
			return err
		}
	}
	next := choices[agreed]
	if len(r.Tokens) == 0 {
		next = next.preferWords()
	}
	return r.extend(ctx, run, next, limit)
}

// textTokens puts the token that begins a text before others.
func textTokens(tokens []int32) []int64 {
	text := []int64{beginToken}
	for _, t := range tokens {
		text = append(text, int64(t))
	}
	return text
}

// extend adds next and what the model finds after it, until the text ends or
// has as many tokens as the limit allows.
func (r *Result) extend(ctx context.Context, run run, next choice, limit int) (err error) {
	for r.Steps = 1; next.token != endToken; r.Steps++ {
		if len(r.Tokens) >= limit {
			r.Capped = true
			return nil
		}
		r.add(next)
		if n := repeatedTail(r.Tokens); n > 0 {
			r.dropLast(n)
			r.Looped = true
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if next, err = run.step(next.token); err != nil {
			return err
		}
	}
	return nil
}

// Continue turns audio into text that follows the tokens before, which are the
// beginning of the same audio. They are taken as given, whatever the model
// would make of them now; the result holds only what follows. A model that gets
// a sentence from its beginning understands its end far better.
func (m *Model) Continue(ctx context.Context, pcm []float32, before []int32) (r Result, err error) {
	const punctuation = ".,;:!? "
	for n := len(before); n > 0 && strings.Trim(m.vocab.text(before[n-1:]), punctuation) == ""; n-- {
		before = before[:n-1] // the sentence may not have ended there
	}
	encoded, err := m.encode(pcm)
	if err != nil {
		return r, fmt.Errorf("encode audio: %w", err)
	}
	defer closeAll(encoded)
	limit := m.maxTokens(pcm)
	before = before[:min(len(before), limit)]
	run, choices, err := m.network.begin(encoded, textTokens(before), limit+1)
	if err != nil {
		return r, fmt.Errorf("continue text: %w", err)
	}
	defer run.close()
	if err := r.extend(ctx, run, choices[len(choices)-1], limit-len(before)); err != nil {
		return r, fmt.Errorf("continue text: %w", err)
	}
	r.Text = strings.TrimLeft(m.vocab.text(r.Tokens), punctuation)
	return r, nil
}

// preferWords is the choice for the first token. No text at all is only right
// if it is more likely than all texts together, not just than each of them;
// otherwise long recordings came out empty.
func (c choice) preferWords() choice {
	if c.token != endToken || c.logProb >= -math.Ln2 {
		return c
	}
	return choice{token: c.second, second: c.token, logProb: c.logProb - c.margin}
}

func (r *Result) add(c choice) {
	r.Tokens = append(r.Tokens, c.token)
	r.LogProbs = append(r.LogProbs, finite(c.logProb))
	r.Margins = append(r.Margins, finite(c.margin))
}

func (r *Result) dropLast(n int) {
	n = len(r.Tokens) - n
	r.Tokens, r.LogProbs, r.Margins = r.Tokens[:n], r.LogProbs[:n], r.Margins[:n]
}

// repeatedTail returns how many tokens at the end only repeat what precedes them.
// People do repeat themselves, so a short phrase must come many times.
func repeatedTail(tokens []int32) int {
	const longest = 16
	for period := 1; period <= longest; period++ {
		times := max(4, 8/period+2)
		if len(tokens) < period*times {
			return 0
		}
		tail := tokens[len(tokens)-period*times:]
		if slices.Equal(tail[period:], tail[:len(tail)-period]) {
			return period * (times - 1)
		}
	}
	return 0
}
