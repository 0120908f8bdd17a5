package moonshine

import (
	"context"
	"math"
	"runtime"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
)

const (
	// maxCost is how many seconds of one core a second of speech may cost with
	// the model for finals: four seconds of speech are then decoded in one.
	maxCost = 0.25
	// speakingTokens is how many tokens people say per second, on average.
	speakingTokens = 3.6
	// overhead is how much more recordings cost than the fastest runs of a few
	// seconds: 1.23 times with tiny and 1.13 with base.
	overhead = 1.2
)

// measureCost measures how many seconds of one core a second of speech costs.
func measureCost(ctx context.Context, m *Model) (float64, error) {
	const seconds = 4
	pcm := make([]float32, seconds*hearken.SampleRate)
	for i := range pcm { // a hum; the encoder takes as long for anything
		pcm[i] = 0.1 * float32(math.Sin(float64(i)*0.05)*math.Sin(float64(i)*0.0007))
	}
	var encoded []*onnx.Value
	defer func() { closeAll(encoded) }()
	encoding, err := fastestRun(3, func() (err error) {
		closeAll(encoded)
		encoded, err = m.encode(pcm)
		return err
	})
	if err != nil {
		return 0, err
	}
	const steps = 8
	run, next, err := m.network.begin(encoded, []int64{beginToken}, steps+1)
	if err != nil {
		return 0, err
	}
	defer run.close()
	token := next[0].second // the best may be the end
	step, err := fastestRun(steps, func() error {
		_, err := run.step(token)
		return err
	})
	if err != nil {
		return 0, err
	}
	return overhead * (encoding/seconds + speakingTokens*step), ctx.Err()
}

// fastestRun is how many seconds the fastest of n runs takes: the one that other
// work disturbed least. An inference stays on the thread that asks for it, so
// that thread's time counts.
func fastestRun(n int, run func() error) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := math.Inf(1)
	for range n {
		began := threadTime()
		if err := run(); err != nil {
			return 0, err
		}
		best = min(best, (threadTime() - began).Seconds())
	}
	return best, nil
}

// maxStreams is how many streams the cores carry when all speak at once. Finals
// and the voice detector take seven tenths of the time, unconfirmed text gets
// the rest. A final costs twice what its audio does, because the model decodes
// the passage before it once more and because some guesses are wrong.
func maxStreams(cores int, cost float64) int {
	const detector, share = 0.006, 0.7
	return max(2*cores, int(share*float64(cores)/(2*cost+detector)))
}
