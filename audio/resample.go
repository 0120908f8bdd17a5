package audio

import (
	"math"
	"slices"
	"sync"

	"github.com/hearken-dev/hearken"
)

// The filter: a sinc that is 32 zero crossings wide on each side, under a
// Kaiser window. Its pass band ends near 6.9 kHz and everything that would
// fold back below 7.9 kHz is at least 80 dB down; it costs 2 ms of delay.
const (
	zeroCrossings = 32
	kaiserBeta    = 8.0
	rolloff       = 0.93 // cut-off relative to the lower Nyquist frequency
	maxPhases     = 1280 // more than any usual rate has
	maxCoeffs     = 1 << 17
)

// A Resampler converts one channel to [hearken.SampleRate]. It is a streaming
// polyphase filter without delay: sample n of the output is at position
// n*rate/16000 of the input. The output does not depend on how the input was
// split.
type Resampler struct {
	bank  *filterBank
	buf   []float32 // input still needed, from half a window before the next output
	next  int       // where in buf the window of the next output starts
	phase int       // of the next output, in units of 1/den of an input sample
	in    int64     // samples taken
	out   int64     // samples given
}

// NewResampler makes a resampler from the given rate.
func NewResampler(rate int) *Resampler {
	r := &Resampler{bank: bankFor(rate)}
	r.Reset()
	return r
}

// Reset makes the resampler as new.
func (r *Resampler) Reset() {
	half := r.bank.taps/2 - 1
	r.buf = append(r.buf[:0], make([]float32, half)...)
	r.next, r.phase, r.in, r.out = 0, 0, 0, 0
}

// Append resamples src and appends what is complete to dst.
func (r *Resampler) Append(dst, src []int16) []int16 {
	r.in += int64(len(src))
	start := len(r.buf)
	r.buf = slices.Grow(r.buf, len(src))[:start+len(src)]
	for i, s := range src {
		r.buf[start+i] = float32(s)
	}
	return r.run(dst)
}

// Flush appends what the filter still holds to dst. Then n samples of input
// have given n*16000/rate samples of output, rounded up.
func (r *Resampler) Flush(dst []int16) []int16 {
	total := (r.in*int64(r.bank.num) + int64(r.bank.den) - 1) / int64(r.bank.den)
	start := len(dst)
	want := int(total - r.out)
	for len(dst)-start < want {
		r.buf = append(r.buf, make([]float32, r.bank.taps)...)
		dst = r.run(dst)
	}
	dst = dst[:start+want]
	r.Reset()
	return dst
}

func (r *Resampler) run(dst []int16) []int16 {
	b := r.bank
	start := len(dst)
	step, frac := b.den/b.num, b.den%b.num
	for r.next+b.taps <= len(r.buf) {
		dst = append(dst, clamp(b.at(r.buf[r.next:r.next+b.taps], r.phase)))
		r.next += step
		if r.phase += frac; r.phase >= b.num {
			r.phase -= b.num
			r.next++
		}
	}
	r.out += int64(len(dst) - start)
	done := min(r.next, len(r.buf))
	r.buf = r.buf[:copy(r.buf, r.buf[done:])]
	r.next -= done
	return dst
}

// A filterBank holds the filter at each position between two input samples.
type filterBank struct {
	num, den int // output and input rate without their common factor
	taps     int // a multiple of 4
	phases   int
	coeffs   []float32 // phases+1 runs of taps
}

// at is the output at phase/num after the middle of the window.
func (b *filterBank) at(window []float32, phase int) float32 {
	if b.phases == b.num {
		return dot(b.coeffs[phase*b.taps:(phase+1)*b.taps], window)
	}
	// An unusual rate: interpolate between the two nearest phases of a fine
	// table.
	pos := float64(phase) / float64(b.num) * float64(b.phases)
	i := int(pos)
	f := float32(pos - float64(i))
	lo := dot(b.coeffs[i*b.taps:(i+1)*b.taps], window)
	hi := dot(b.coeffs[(i+1)*b.taps:(i+2)*b.taps], window)
	return lo + f*(hi-lo)
}

func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	return (s0 + s1) + (s2 + s3)
}

func newBank(rate int) *filterBank {
	g := gcd(rate, hearken.SampleRate)
	b := &filterBank{num: hearken.SampleRate / g, den: rate / g}
	// Frequencies are relative to the input's rate.
	cutoff := rolloff * 0.5 * min(1, float64(hearken.SampleRate)/float64(rate))
	halfWidth := zeroCrossings / (2 * cutoff) * rolloff
	b.taps = (2*int(math.Ceil(halfWidth)) + 3) &^ 3
	b.phases = min(b.num, maxPhases)
	if b.num > maxPhases { // the finer the input, the fewer are needed
		b.phases = min(maxPhases, maxCoeffs/b.taps)
	}
	b.coeffs = make([]float32, (b.phases+1)*b.taps)
	for p := range b.phases + 1 {
		run := b.coeffs[p*b.taps : (p+1)*b.taps]
		var sum float64
		for i := range run {
			x := float64(i-b.taps/2+1) - float64(p)/float64(b.phases)
			v := 2 * cutoff * sinc(2*cutoff*x) * kaiser(x/halfWidth)
			run[i] = float32(v)
			sum += v
		}
		for i := range run { // so that a constant stays unchanged
			run[i] /= float32(sum)
		}
	}
	return b
}

// banks holds the filters of the usual rates, which all streams share.
var banks = func() map[int]func() *filterBank {
	m := map[int]func() *filterBank{}
	for _, rate := range []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 96000} {
		m[rate] = sync.OnceValue(func() *filterBank { return newBank(rate) })
	}
	return m
}()

func bankFor(rate int) *filterBank {
	if bank, ok := banks[rate]; ok {
		return bank()
	}
	return newBank(rate)
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the window at x of -1 to 1.
func kaiser(x float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel(kaiserBeta*math.Sqrt(1-x*x)) / bessel(kaiserBeta)
}

// bessel is the modified Bessel function of the first kind and order zero.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-12; k++ {
		term *= (x / (2 * k)) * (x / (2 * k))
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
