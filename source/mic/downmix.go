package mic

// cancelled is how much weaker than its channels the sum of a stereo pair is
// when the channels cancel each other.
const cancelled = 1.0 / 16

// A downmixer makes one channel of two. It adds them up, unless they cancel each
// other: speech that one channel plays upside down can be heard by people, so it
// must not be silence in the transcript. Then it uses the left one alone.
type downmixer struct {
	leftOnly float64 // 0 for the sum, 1 for the left channel
	out      []int16
}

// mix returns one channel of interleaved stereo, valid until the next call. A
// change from the one to the other takes a whole block, so that it does not
// click.
func (d *downmixer) mix(stereo []int16) []int16 {
	frames := len(stereo) / 2
	was := d.leftOnly
	d.leftOnly = d.choose(stereo)
	d.out = d.out[:0]
	for i := range frames {
		left, right := float64(stereo[2*i]), float64(stereo[2*i+1])
		share := was + (d.leftOnly-was)*float64(i+1)/float64(frames)
		d.out = append(d.out, int16((left+right)/2+share*(left-right)/2))
	}
	return d.out
}

// choose says what to use for a block. Silence changes nothing.
func (d *downmixer) choose(stereo []int16) float64 {
	var sum, each float64
	for i := 0; i+1 < len(stereo); i += 2 {
		left, right := float64(stereo[i]), float64(stereo[i+1])
		sum += (left + right) * (left + right) / 4
		each += (left*left + right*right) / 2
	}
	switch {
	case each == 0:
		return d.leftOnly
	case sum < cancelled*each:
		return 1
	}
	return 0
}
