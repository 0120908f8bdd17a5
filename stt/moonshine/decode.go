package moonshine

import (
	"context"
	"math"

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
	// encode hears sound [1, samples]. The caller closes what it returns.
	encode(pcm *onnx.Value) ([]*onnx.Value, error)
	// begin reads the first tokens of a text and tells what would follow after
	// each of them. The text will have at most room tokens. What encode
	// returned stays open until the run is closed.
	begin(sound []*onnx.Value, tokens []int64, room int) (run, []choice, error)
	close()
}

// A run is one text in the making.
type run interface {
	// step adds a token and tells what would follow.
	step(token int32) (choice, error)
	// trim forgets all but the first n tokens.
	trim(n int) error
	close()
}

// decode finds the text, each time taking the most likely token.
func (m *Model) decode(ctx context.Context, sound []*onnx.Value, limit int, draft []int32, r *Result) error {
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
	run, choices, err := m.network.begin(sound, first, limit+1)
	if err != nil {
		return err
	}
	defer run.close()
	r.Steps = 1

	// The draft is right for as long as the model would have said the same.
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
		next = next.speaking()
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

// speaking is the choice for the first token. Saying nothing is only right if
// it is more likely than all texts together, and not just than each of them;
// long recordings came out empty otherwise.
func (c choice) speaking() choice {
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

// cut leaves the last n tokens out.
func (r *Result) cut(n int) {
	keep := len(r.Tokens) - n
	r.Tokens, r.LogProbs, r.Margins = r.Tokens[:keep], r.LogProbs[:keep], r.Margins[:keep]
}

// loop tells how many tokens at the end only repeat what stands before them.
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
