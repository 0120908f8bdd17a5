package moonshine

import (
	"math"
	"slices"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
)

// features show whether a model is right about a text.
type features struct {
	tokens int
	sure   float64 // mean log-probability of the tokens
	weak   float64 // mean log-probability of the weakest quarter of them
	broken bool    // it repeated itself or found no end

	// The second opinion, if there was one.
	second   bool
	silent   bool    // the other model found no words
	sure2    float64 // the other model's mean log-probability
	disagree float64 // share of the words that the two do not have in common
}

func measureFeatures(r Result) features {
	sorted := slices.Sorted(slices.Values(r.LogProbs))
	return features{
		tokens: len(r.Tokens), sure: mean(r.LogProbs), weak: mean(sorted[:(len(sorted)+3)/4]), broken: r.Looped || r.Capped,
	}
}

// compare adds a second opinion on the same audio.
func (f *features) compare(text string, other Result) {
	f.second = true
	f.silent = len(other.Tokens) == 0
	f.sure2 = mean(other.LogProbs)
	a, b := hearken.Terms(text), hearken.Terms(other.Text)
	f.disagree = float64(editdistance.Levenshtein(a, b)) / float64(max(len(a), len(b), 1))
}

func mean(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(max(len(x), 1))
}

// A plausibility tells speech that was understood from text that a model made
// up for speech that it does not know. With the zero value all text is
// plausible.
type plausibility struct {
	doubt float64   // below this mean log-probability a second opinion is asked for
	alone []float64 // coefficients with one model
	both  []float64 // and with a second opinion

	// From these probabilities on text is implausible: with one model, with
	// two, and for a word or two, which say too little.
	limitAlone, limitBoth, limitShort float64
}

// Fewer tokens than this are a word or two.
const shortText = 9

// englishPlausibility was fitted by TestFit to one half of the recordings: 91
// English utterances and 14 recordings in other languages. With the second
// opinion and without the rule for short texts it marked 12 of those 14 and one
// English utterance; on the other half 7 of 8 and one of 89. Both English ones
// were a few words with a rare name, hence that rule, which was made knowing
// both halves.
var englishPlausibility = plausibility{
	doubt:      -0.3,
	alone:      []float64{-5.428, -2.744, -3.086, -0.122},
	both:       []float64{-6.588, -1.582, -2.039, -0.320, -2.327, 2.357, -0.273},
	limitAlone: 0.7, limitBoth: 0.5, limitShort: 0.85,
}

// plausibilityFor is the one for the models of a language. Only the English
// models were measured, so others must be very unsure to be doubted.
func plausibilityFor(language string) plausibility {
	p := englishPlausibility
	if language != "en" {
		p.limitAlone, p.limitBoth, p.limitShort = 0.95, 0.9, 0.97
	}
	return p
}

func (f *features) regressionInput() []float64 {
	r := []float64{1, f.sure, f.weak, 1 / math.Sqrt(float64(max(f.tokens, 1)))}
	if !f.second {
		return r
	}
	silent := 0.0
	if f.silent {
		silent = 1
	}
	return append(r, f.sure2, f.disagree, silent)
}

// needsSecondOpinion reports whether a second opinion is worth its time.
func (p *plausibility) needsSecondOpinion(f features) bool { return f.sure < p.doubt }

// implausible reports whether nobody said this text.
func (p *plausibility) implausible(f features) bool {
	b, limit := p.alone, p.limitAlone
	if f.second {
		b, limit = p.both, p.limitBoth
	}
	if len(b) == 0 {
		return false
	}
	if f.tokens < shortText {
		limit = max(limit, p.limitShort)
	}
	return f.broken && f.sure < p.doubt || logistic(b, f.regressionInput()) >= limit
}

func logistic(b, x []float64) float64 {
	var sum float64
	for i := range b {
		sum += b[i] * x[i]
	}
	return 1 / (1 + math.Exp(-sum))
}

// confidenceFit turns features into expected word accuracy: a constant, then
// what the mean log-probability, that of the weakest quarter and the shortness
// of the text count for. TestFit found it on one half of the English
// recordings (648 words), with the base model for finals: there confidence and
// accuracy are 0.037 apart on average over five bins of equal size, and on the
// other half (771 words) 0.026.
var confidenceFit = []float64{3.189, 1.010, 1.768, -0.269}

// confidence is the expected word accuracy of a text.
func confidence(f features) float64 {
	return logistic(confidenceFit, f.regressionInput()[:len(confidenceFit)])
}
