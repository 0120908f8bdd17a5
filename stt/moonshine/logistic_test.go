package moonshine

import "math"

// An example is a row for a regression: what was measured, what came of it
// between 0 and 1, and how much it counts.
type example struct {
	x      []float64
	y      float64
	weight float64
}

// regress fits a logistic regression with a little shrinkage by Newton's
// method. The first coefficient is the constant.
func regress(rows []example, shrink float64) []float64 {
	n := len(rows[0].x) + 1
	b := make([]float64, n)
	for range 100 {
		grad := make([]float64, n)
		hess := make([][]float64, n)
		for i := range hess {
			hess[i] = make([]float64, n)
			if i > 0 {
				grad[i] = -shrink * b[i]
				hess[i][i] = shrink
			} else {
				hess[i][i] = 1e-9
			}
		}
		for _, r := range rows {
			x := append([]float64{1}, r.x...)
			p := logistic(b, x)
			for i := range n {
				grad[i] += r.weight * (r.y - p) * x[i]
				for j := range n {
					hess[i][j] += r.weight * p * (1 - p) * x[i] * x[j]
				}
			}
		}
		step := solve(hess, grad)
		size := 0.0
		for i := range b {
			b[i] += math.Max(-2, math.Min(2, step[i]))
			size = math.Max(size, math.Abs(step[i]))
		}
		if size < 1e-9 {
			break
		}
	}
	return b
}

// solve solves a·x = y by Gaussian elimination.
func solve(a [][]float64, y []float64) []float64 {
	n := len(y)
	for i := range n {
		p := i
		for j := i + 1; j < n; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[p][i]) {
				p = j
			}
		}
		a[i], a[p], y[i], y[p] = a[p], a[i], y[p], y[i]
		for j := i + 1; j < n; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < n; k++ {
				a[j][k] -= f * a[i][k]
			}
			y[j] -= f * y[i]
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = y[i]
		for k := i + 1; k < n; k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}
