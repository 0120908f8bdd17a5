package moonshine

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
)

// dims are a model's sizes, read from its own files.
type dims struct {
	layers, heads, head int // head is the size of one
}

// A choice is the token that a model finds most likely to come next.
type choice struct {
	token   int32
	second  int32 // the second best token
	logProb float32
	margin  float32 // to the second best
}

// A network is a loaded encoder and decoder. It may be used by several
// goroutines at once.
type network interface {
	// encode encodes audio [1, samples]. The caller closes what it returns.
	encode(pcm *onnx.Value) ([]*onnx.Value, error)
	// begin reads the first tokens of a text and returns what would follow
	// each of them. The text will have at most maxTokens. What encode returned
	// stays open until the run is closed.
	begin(encoded []*onnx.Value, tokens []int64, maxTokens int) (run, []choice, error)
	close()
}

// A run is one text that is being decoded.
type run interface {
	// step adds a token and returns what would follow.
	step(token int32) (choice, error)
	// trim forgets all but the first n tokens.
	trim(n int) error
	close()
}

// decode finds the text. It always takes the most likely token.
func (m *Model) decode(ctx context.Context, encoded []*onnx.Value, limit int, draft []int32, r *Result) error {
	draft = draft[:min(len(draft), limit)]
	first := make([]int64, 1, 1+len(draft))
	first[0] = beginToken
	for _, t := range draft {
		if t <= endToken || int(t) >= len(m.vocab.pieces) {
			break
		}
		first = append(first, int64(t))
	}
	draft = draft[:len(first)-1]
	run, choices, err := m.network.begin(encoded, first, limit+1)
	if err != nil {
		return err
	}
	defer run.close()
	r.Steps = 1

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
		next = next.unlessSilent()
	}
	for next.token != endToken {
		if len(r.Tokens) >= limit {
			r.Capped = true
			return nil
		}
		r.add(next)
		if n := loop(r.Tokens); n > 0 {
			r.cut(n)
			r.Looped = true
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if next, err = run.step(next.token); err != nil {
			return err
		}
		r.Steps++
	}
	return nil
}

// Continue turns audio into text that follows the tokens before, which are the
// beginning of the same audio. They are taken as given, whatever the model
// would make of them now; the result holds only what follows. A model that gets
// a sentence from its beginning understands its end far better.
func (m *Model) Continue(ctx context.Context, pcm []float32, before []int32) (r Result, err error) {
	for n := len(before); n > 0 && strings.Trim(m.vocab.text(before[n-1:]), ".,;:!? ") == ""; n-- {
		before = before[:n-1] // the sentence may not have ended there
	}
	start := time.Now()
	encoded, err := m.encode(pcm)
	if err != nil {
		return r, fmt.Errorf("encode audio: %w", err)
	}
	defer closeAll(encoded)
	r.Encode = time.Since(start)
	start = time.Now()
	defer func() { r.Decode = time.Since(start) }()
	limit := int(float64(len(pcm))/hearken.SampleRate*m.rate) + 1
	first := []int64{beginToken}
	for _, t := range before[:min(len(before), limit)] {
		first = append(first, int64(t))
	}
	run, choices, err := m.network.begin(encoded, first, limit+1)
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

// unlessSilent is the choice for the first token. No text at all is only right
// if it is more likely than all texts together, not just than each of them;
// otherwise long recordings came out empty.
func (c choice) unlessSilent() choice {
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

// cut removes the last n tokens.
func (r *Result) cut(n int) {
	n = len(r.Tokens) - n
	r.Tokens, r.LogProbs, r.Margins = r.Tokens[:n], r.LogProbs[:n], r.Margins[:n]
}

// loop returns how many tokens at the end only repeat what precedes them.
// People do repeat themselves, so a short phrase must come many times.
func loop(tokens []int32) int {
	const longest = 16
	for period := 1; period <= longest; period++ {
		times := max(4, 8/period+2)
		if len(tokens) < period*times {
			return 0
		}
		tail := tokens[len(tokens)-period*times:]
		same := true
		for i := period; i < len(tail) && same; i++ {
			same = tail[i] == tail[i-period]
		}
		if same {
			return period * (times - 1)
		}
	}
	return 0
}
