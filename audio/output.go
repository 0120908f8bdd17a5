package audio

import "github.com/hearken-dev/hearken"

// blockSamples is the most audio that is delivered at a time.
const blockSamples = hearken.SampleRate / 2

// An output takes decoded samples and delivers them at 16 kHz, one slice per
// channel.
type output struct {
	sink        func(channels ...[]int16) error
	rate        int // of the input
	channels    int // of the input
	outChannels int // that are delivered: 1 or 2
	tracks      [2]track
	out         [2][]int16 // of the tracks, as the sink gets them
	changes     int        // of the input format
}

// maxChanges is how often the format may change: each change costs a filter.
const maxChanges = 64

// A track is one delivered channel.
type track struct {
	in        []int16
	out       []int16
	resampler *Resampler // nil at 16 kHz
}

// set declares the format of the next samples. If want is 2, two channels stay
// apart; otherwise all are mixed.
func (o *output) set(rate, channels, want int) error {
	if rate < 1000 || rate > maxFileRate {
		return undecodable("a sample rate of %d", rate)
	}
	if channels < 1 || channels > 255 {
		return undecodable("%d channels", channels)
	}
	outChannels := 1
	if want == 2 && channels == 2 {
		outChannels = 2
	}
	if o.rate == rate && o.channels == channels && o.outChannels == outChannels {
		return nil // a second file like the first one continues seamlessly
	}
	if o.outChannels != 0 && outChannels != o.outChannels {
		return undecodable("the number of channels changed from %d to %d", o.outChannels, outChannels)
	}
	if o.changes++; o.changes > maxChanges {
		return undecodable("its format changes all the time")
	}
	if err := o.flush(); err != nil {
		return err
	}
	o.rate, o.channels, o.outChannels = rate, channels, outChannels
	for i := range o.tracks[:outChannels] {
		o.tracks[i].resampler = nil
		if rate != hearken.SampleRate {
			o.tracks[i].resampler = NewResampler(rate)
		}
	}
	return nil
}

// interleaved takes whole frames, with one sample per channel in turn.
func (o *output) interleaved(samples []int16) error {
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

// split splits frames into the tracks, or mixes them into one.
func (o *output) split(samples []int16) {
	if o.channels == 1 {
		o.resample(0, samples)
		return
	}
	for i := range o.tracks[:o.outChannels] {
		in := o.tracks[i].in[:0]
		if o.outChannels == 2 {
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
		o.tracks[i].in = in
		o.resample(i, in)
	}
}

// resample puts samples through the resampler of one track.
func (o *output) resample(i int, samples []int16) {
	l := &o.tracks[i]
	if l.resampler == nil {
		o.out[i] = samples
		return
	}
	l.out = l.resampler.Append(l.out[:0], samples)
	o.out[i] = l.out
}

func (o *output) emit() error {
	if len(o.out[0]) == 0 {
		return nil
	}
	return o.sink(o.out[:o.outChannels]...)
}

// block is how many frames of input make one block of output.
func (o *output) block() int {
	return max(1, blockSamples*o.rate/hearken.SampleRate)
}

// flush delivers what the resamplers still hold.
func (o *output) flush() error {
	if o.outChannels == 0 || o.tracks[0].resampler == nil {
		return nil
	}
	for i := range o.tracks[:o.outChannels] {
		l := &o.tracks[i]
		l.out = l.resampler.Flush(l.out[:0])
		o.out[i] = l.out
	}
	return o.emit()
}
