package moonshine

// confidence is the expected word accuracy of a text.
func confidence(f features) float64 {
	return logistic(confidenceFit, f.row()[:4])
}

var confidenceFit = []float64{3, 4, 0, 0}
