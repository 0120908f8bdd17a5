package moonshine

import "math"

type gate struct{}

type features struct{}

func measure(r Result, pcm []float32) features { return features{} }
func (f *features) compare(a, b string)        {}
func (g gate) doubtful(f features) bool        { return false }
func (g gate) strange(f features) bool         { return false }
func (g gate) dubious(f features) bool         { return false }
func confidence(f features) float64            { return 1 }
func gateFor(string) gate                      { return gate{} }
func sigmoid(x float64) float64                { return 1 / (1 + math.Exp(-x)) }
