package moonshine

import (
	"context"
	"math"
	"runtime"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
)

const (
	// slowest is the seconds of one core that a second of speech may cost for
	// a model to make the finals: four seconds of speech are then there after
	// one.
	slowest = 0.25
	// speakingTokens is how many tokens a second people say on average.
	speakingTokens = 3.6
	// usual is by how much recordings cost more than the fastest runs of a few
	// seconds: 1.23 times with tiny and 1.13 with base.
	usual = 1.2
)

// measureCost tells how many seconds of one core a second of speech costs.
func measureCost(ctx context.Context, m *Model) (float64, error) {
	const seconds = 4
	pcm := make([]float32, seconds*hearken.SampleRate)
	for i := range pcm { // a hum; what it is does not matter to the encoder
		pcm[i] = 0.1 * float32(math.Sin(float64(i)*0.05)*math.Sin(float64(i)*0.0007))
	}
	var sound []*onnx.Value
	defer func() { closeAll(sound) }()
	listening, err := fastest(3, func() (err error) {
		closeAll(sound)
		sound, err = m.encode(pcm)
		return err
	})
	if err != nil {
		return 0, err
	}
	const steps = 8
	run, next, err := m.network.begin(sound, []int64{beginToken}, steps+1)
	if err != nil {
		return 0, err
	}
	defer run.close()
	token := next[0].second // the best may be the end
	step, err := fastest(steps, func() error {
		_, err := run.step(token)
		return err
	})
	if err != nil {
		return 0, err
	}
	return usual * (listening/seconds + speakingTokens*step), ctx.Err()
}

// fastest is how many seconds the fastest of n runs takes: the one that the
// rest of the machine disturbed least. An inference stays on the thread that
// asks for it, so that thread's time is what counts.
func fastest(n int, run func() error) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := math.Inf(1)
	for range n {
		begun := spent()
		if err := run(); err != nil {
			return 0, err
		}
		best = min(best, (spent() - begun).Seconds())
	}
	return best, nil
}

// capacity is how many streams the cores carry when all speak at once: finals
// and the voice detector for each in seven tenths of the time, and unconfirmed
// text in what is left. A final costs twice what its sound does, because the
// model hears the passage before it again and because some guesses are wrong.
func capacity(cores int, cost float64) int {
	const detector, share = 0.006, 0.7
	return max(2*cores, int(share*float64(cores)/(2*cost+detector)))
}
