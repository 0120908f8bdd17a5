package moonshine

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken/onnx"
)

// A script is a network that knows its text by heart.
type script struct {
	text   []int32 // what it says, whatever it hears
	begun  [][]int64
	steps  int
	logEnd float32 // how sure it is that there is nothing to say
	fail   error
}

func (s *script) encode(*onnx.Value) ([]*onnx.Value, error) { return nil, nil }
func (s *script) close()                                    {}

// at is what follows after n tokens.
func (s *script) at(n int) choice {
	if n < len(s.text) {
		return choice{token: s.text[n], second: 9, logProb: -0.5, margin: 1}
	}
	return choice{token: endToken, second: 9, logProb: s.logEnd, margin: 0.1}
}

func (s *script) begin(_ []*onnx.Value, tokens []int64, _ int) (run, []choice, error) {
	s.begun = append(s.begun, tokens)
	var choices []choice
	for i := range tokens {
		choices = append(choices, s.at(i))
	}
	return &scriptedRun{s, len(tokens) - 1}, choices, s.fail
}

type scriptedRun struct {
	*script
	n int
}

func (r *scriptedRun) step(int32) (choice, error) {
	r.steps++
	r.n++
	return r.at(r.n), r.fail
}

func (r *scriptedRun) trim(n int) error {
	r.n = n - 1
	return nil
}

func decodeScript(t *testing.T, s *script, limit int, draft []int32) Result {
	t.Helper()
	m := &Model{network: s, vocab: newVocab(pieces())}
	var r Result
	if err := m.decode(t.Context(), nil, limit, draft, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDecode(t *testing.T) {
	s := &script{text: []int32{300, 301, 302}, logEnd: -0.25}
	r := decodeScript(t, s, 10, nil)
	want := Result{Tokens: s.text, LogProbs: []float32{-0.5, -0.5, -0.5}, Margins: []float32{1, 1, 1}, Steps: 4}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

// A draft changes how long it takes and not what comes out.
func TestDecode_Draft(t *testing.T) {
	text := []int32{300, 301, 302, 303, 304}
	for name, test := range map[string]struct {
		draft []int32
		steps int
	}{
		"None":      {nil, 5},
		"Right":     {text[:3], 2},
		"Whole":     {text, 0},
		"TooLong":   {append(text[:5:5], 305, 306), 0},
		"Wrong":     {[]int32{310, 311}, 5},
		"HalfWay":   {[]int32{300, 301, 310, 303}, 3},
		"Ended":     {[]int32{300, endToken, 302}, 4},
		"Senseless": {[]int32{300, -7, 99999}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{text: text}
			r := decodeScript(t, s, 20, test.draft)
			if diff := cmp.Diff(text, r.Tokens); diff != "" {
				t.Error(diff)
			}
			if s.steps != test.steps || len(r.LogProbs) != len(text) {
				t.Errorf("%d steps, %d probabilities", s.steps, len(r.LogProbs))
			}
		})
	}
}

func TestDecode_Capped(t *testing.T) {
	r := decodeScript(t, &script{text: []int32{300, 301, 302, 303}}, 2, []int32{300, 301, 302})
	if diff := cmp.Diff([]int32{300, 301}, r.Tokens); diff != "" || !r.Capped {
		t.Errorf("%s, capped %v", diff, r.Capped)
	}
}

func TestDecode_Looped(t *testing.T) {
	text := []int32{300, 301}
	for range 20 {
		text = append(text, 400, 401, 402)
	}
	r := decodeScript(t, &script{text: text}, 60, nil)
	if diff := cmp.Diff([]int32{300, 301, 400, 401, 402}, r.Tokens); diff != "" || !r.Looped {
		t.Errorf("%s, looped %v", diff, r.Looped)
	}
	if len(r.LogProbs) != len(r.Tokens) || len(r.Margins) != len(r.Tokens) {
		t.Error("there are more numbers than tokens")
	}
}

// Nothing is said only if that is more likely than all else.
func TestDecode_Silence(t *testing.T) {
	if r := decodeScript(t, &script{logEnd: -0.6}, 10, nil); len(r.Tokens) != 0 {
		t.Errorf("tokens are %v", r.Tokens)
	}
	r := decodeScript(t, &script{logEnd: -1}, 10, nil)
	if diff := cmp.Diff([]int32{9}, r.Tokens); diff != "" || math.Abs(float64(r.LogProbs[0])+1.1) > 1e-6 {
		t.Errorf("%s, %v", diff, r.LogProbs)
	}
}

func TestDecode_Ends(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &Model{network: &script{text: []int32{300, 301}}, vocab: newVocab(pieces())}
	if err := m.decode(ctx, nil, 10, nil, new(Result)); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	broken := errors.New("broken")
	m.network = &script{fail: broken}
	if err := m.decode(t.Context(), nil, 10, nil, new(Result)); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

func TestLoop(t *testing.T) {
	repeat := func(times int, phrase ...int32) []int32 {
		list := []int32{1, 2, 3}
		for range times {
			list = append(list, phrase...)
		}
		return list
	}
	for name, test := range map[string]struct {
		tokens []int32
		want   int
	}{
		"Plain":      {repeat(1, 4, 5, 6, 7, 8), 0},
		"VeryVery":   {repeat(5, 4), 0},
		"OneWord":    {repeat(10, 4), 9},
		"TwoWords":   {repeat(6, 4, 5), 10},
		"ThreeTimes": {repeat(3, 4, 5, 6, 7), 0},
		"FourTimes":  {repeat(4, 4, 5, 6, 7), 12},
		"Broken":     {append(repeat(4, 4, 5, 6, 7), 9), 0},
		"Empty":      {nil, 0},
	} {
		if got := repeatedTail(test.tokens); got != test.want {
			t.Errorf("%s: %d tokens repeat and not %d", name, got, test.want)
		}
	}
}

func TestChoose(t *testing.T) {
	logits := make([]float32, 100)
	logits[7], logits[50] = 5, 3
	c := mostLikely(logits)
	want := 5 - math.Log(98+math.Exp(5)+math.Exp(3))
	if c.token != 7 || c.second != 50 || c.margin != 2 || math.Abs(float64(c.logProb)-want) > 1e-5 {
		t.Errorf("choice is %+v and not %.4f", c, want)
	}
}
