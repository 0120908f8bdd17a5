package audio

import "math"

// A lawDetector notices mu-law and A-law in bytes that were taken for PCM16.
// Telephone systems send them without saying so, and nothing but noise would be
// transcribed. Read as PCM16 they are always loud, because the sign of every
// second sample becomes the top bit of a number. Decoded as what they are, their
// samples resemble their neighbours; the bytes of PCM16 do not. In some 120
// recordings, at several levels, no PCM16 was taken for one of them, and most
// speech was noticed within three seconds of it.
type lawDetector struct {
	window  []byte
	samples []int16
	score   int     // windows of mu-law or A-law, less those of PCM16
	balance float64 // positive for mu-law, negative for A-law
	done    bool
}

const (
	lawWindow = 4000 // bytes: half a second of mu-law
	lawFound  = 3    // the score that is enough
	pcmFound  = -4   // the score at which it is PCM16
)

// write looks at the next bytes. It returns [Mulaw] or [Alaw] when they were
// noticed, once, and otherwise "".
func (l *lawDetector) write(b []byte) string {
	for !l.done && len(b) > 0 {
		n := min(len(b), lawWindow-len(l.window))
		l.window = append(l.window, b[:n]...)
		b = b[n:]
		if len(l.window) < lawWindow {
			break
		}
		l.judge()
		l.window = l.window[:0]
		if l.score >= lawFound || l.score <= pcmFound {
			l.done, l.window, l.samples = true, nil, nil
		}
	}
	switch {
	case !l.done || l.score < lawFound:
		return ""
	case l.balance < 0:
		return Alaw
	}
	return Mulaw
}

// judge counts a window. Silence and noise say nothing.
func (l *lawDetector) judge() {
	const quiet, loud, alike, unlike = 0.003, 0.35, 0.6, 0.4
	l.samples = AppendPCM16(l.samples[:0], l.window)
	level, _ := smoothness(l.samples)
	if level <= quiet {
		return
	}
	l.samples = mulaw.append(l.samples[:0], l.window)
	_, mu := smoothness(l.samples)
	l.samples = alaw.append(l.samples[:0], l.window)
	_, a := smoothness(l.samples)
	switch {
	case level > loud && max(mu, a) > alike:
		l.score++
		l.balance += mu - a
	case level <= loud && max(mu, a) < unlike:
		l.score--
	}
}

// lawName is how messages call an encoding.
func lawName(encoding string) string {
	return map[string]string{Mulaw: "mu-law", Alaw: "A-law"}[encoding]
}

// smoothness returns how loud samples are, from 0 to 1, and how much each is like
// the one before: 1 for a slow wave, 0 for noise. Their mean does not count.
func smoothness(samples []int16) (level, like float64) {
	mean := 0.0
	for _, s := range samples {
		mean += float64(s)
	}
	mean /= float64(len(samples))
	var power, product, previous float64
	for _, s := range samples {
		v := float64(s) - mean
		power += v * v
		product += v * previous
		previous = v
	}
	return math.Sqrt(power/float64(len(samples))) / 32768, product / max(power, 1)
}
