package audio

import "github.com/hearken-dev/hearken"

// blockSamples is how much sound is handed on at a time at most.
const blockSamples = hearken.SampleRate / 2

// An output takes samples as a codec gives them and hands them on at 16 kHz,
// one slice for each channel.
type output struct {
	sink     func(channels ...[]int16) error
	rate     int // of what comes in
	channels int // of what comes in
	kept     int // channels that go out: 1 or 2
	lanes    [2]lane
	out      [2][]int16 // the lanes' buffers, as the sink gets them
	samples  int64      // handed on, each channel
	changes  int        // of what comes in
}

// maxChanges is how often the format may change: each time costs a filter.
const maxChanges = 64

// A lane is one channel on its way out.
type lane struct {
	in        []int16
	out       []int16
	resampler *Resampler // nil at 16 kHz
}

// set says what comes next. want is the number of channels to keep; what is
// more than that is mixed.
func (o *output) set(rate, channels, want int) error {
	if rate < 1000 || rate > maxFileRate {
		return undecodable("a sample rate of %d", rate)
	}
	if channels < 1 || channels > 255 {
		return undecodable("%d channels", channels)
	}
	kept := 1
	if want == 2 && channels == 2 {
		kept = 2
	}
	if o.rate == rate && o.channels == channels && o.kept == kept {
		return nil // a second file like the first one goes on without a seam
	}
	if o.kept != 0 && kept != o.kept {
		return undecodable("the number of channels changed from %d to %d", o.kept, kept)
	}
	if o.changes++; o.changes > maxChanges {
		return undecodable("its format changes all the time")
	}
	if err := o.flush(); err != nil {
		return err
	}
	o.rate, o.channels, o.kept = rate, channels, kept
	for i := range o.lanes[:kept] {
		o.lanes[i].resampler = nil
		if rate != hearken.SampleRate {
			o.lanes[i].resampler = NewResampler(rate)
		}
	}
	return nil
}

// mono takes samples of the only channel and hands them on. The sink may not
// keep them.
func (o *output) mono(samples []int16) error {
	for len(samples) > 0 {
		n := min(len(samples), o.block())
		o.lane(0, samples[:n])
		if err := o.emit(); err != nil {
			return err
		}
		samples = samples[n:]
	}
	return nil
}

// interleaved takes whole frames of samples, one for each channel in turn.
func (o *output) interleaved(samples []int16) error {
	if o.channels == 1 {
		return o.mono(samples)
	}
	for len(samples) >= o.channels {
		n := min(len(samples)/o.channels, o.block())
		o.split(samples[:n*o.channels])
		if err := o.emit(); err != nil {
			return err
		}
		samples = samples[n*o.channels:]
	}
	return nil
}

// split deals frames out to the lanes, mixing them where only one is kept.
func (o *output) split(samples []int16) {
	for i := range o.lanes[:o.kept] {
		in := o.lanes[i].in[:0]
		if o.kept == 2 {
			for j := i; j < len(samples); j += 2 {
				in = append(in, samples[j])
			}
		} else {
			for ; len(samples) >= o.channels; samples = samples[o.channels:] {
				sum := int32(0)
				for _, s := range samples[:o.channels] {
					sum += int32(s)
				}
				in = append(in, int16(sum/int32(o.channels)))
			}
		}
		o.lanes[i].in = in
		o.lane(i, in)
	}
}

// lane puts samples through one lane.
func (o *output) lane(i int, samples []int16) {
	l := &o.lanes[i]
	if l.resampler == nil {
		o.out[i] = samples
		return
	}
	l.out = l.resampler.Append(l.out[:0], samples)
	o.out[i] = l.out
}

func (o *output) emit() error {
	n := len(o.out[0])
	if n == 0 {
		return nil
	}
	o.samples += int64(n)
	return o.sink(o.out[:o.kept]...)
}

// block is how many frames of input make one block of output.
func (o *output) block() int {
	return max(1, blockSamples*o.rate/hearken.SampleRate)
}

// flush hands on what the filters still hold.
func (o *output) flush() error {
	if o.kept == 0 || o.lanes[0].resampler == nil {
		return nil
	}
	for i := range o.lanes[:o.kept] {
		l := &o.lanes[i]
		l.out = l.resampler.Flush(l.out[:0])
		o.out[i] = l.out
	}
	return o.emit()
}
