package moonshine

// confidenceFit turns features into expected word accuracy: a constant, then
// what the mean log-probability, that of the weakest quarter and the shortness
// of the text count for. TestFit found it on one half of the English
// recordings (648 words), with the base model for finals: there confidence and
// accuracy are 0.037 apart on average over five bins of equal size, and on the
// other half (771 words) 0.026.
var confidenceFit = []float64{3.189, 1.010, 1.768, -0.269}

// confidence is the expected word accuracy of a text.
func confidence(f features) float64 { return logistic(confidenceFit, f.row()[:len(confidenceFit)]) }
