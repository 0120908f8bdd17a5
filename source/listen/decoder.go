package listen

import (
	"encoding/binary"
	"math"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// A streamDecoder decodes a stream in the format that its query declared.
type streamDecoder struct {
	audioFormat
	inner *audio.Decoder
	sink  func(channels ...[]int16) error
	head  []byte // of a container that is not recognised yet
	rest  []byte // of an incomplete floating-point sample
	pcm   []byte // floating-point samples as PCM16
	mixed []int16
}

// headBytes are enough to recognise a container.
const headBytes = 16

// newStreamDecoder makes a decoder that calls sink with audio at
// [hearken.SampleRate].
func newStreamDecoder(f audioFormat, sink func(channels ...[]int16) error) (*streamDecoder, error) {
	s := &streamDecoder{audioFormat: f, sink: sink}
	var err error
	s.inner, err = audio.NewDecoder(f.Format, s.deliver)
	return s, err
}

// write decodes the next bytes.
func (s *streamDecoder) write(b []byte) error {
	if s.container {
		s.head = append(s.head, b...)
		if len(s.head) < headBytes {
			return nil
		}
		if audio.DetectFormat(s.head) == "" {
			return errNoContainer
		}
		b, s.head, s.container = s.head, nil, false
	}
	if s.floats {
		b = s.linear16(b)
	}
	_, err := s.inner.Write(b)
	return err
}

var errNoContainer = hearken.Errorf(hearken.Undecodable, "this is not Ogg, WebM or FLAC; packets without a container cannot be decoded.")

// close delivers what is still held.
func (s *streamDecoder) close() error {
	if len(s.head) > 0 {
		return errNoContainer
	}
	return s.inner.Close()
}

// linear16 converts whole floating-point samples and keeps what is left over.
func (s *streamDecoder) linear16(b []byte) []byte {
	s.pcm = s.pcm[:0]
	if len(s.rest) > 0 {
		n := min(len(b), 4-len(s.rest))
		s.rest = append(s.rest, b[:n]...)
		b = b[n:]
		if len(s.rest) < 4 {
			return nil
		}
		s.convert(s.rest)
		s.rest = s.rest[:0]
	}
	whole := len(b) - len(b)%4
	s.convert(b[:whole])
	s.rest = append(s.rest, b[whole:]...)
	return s.pcm
}

func (s *streamDecoder) convert(b []byte) {
	for ; len(b) >= 4; b = b[4:] {
		f := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		if f != f {
			f = 0 // not a number
		}
		f = math.Round(max(math.MinInt16, min(math.MaxInt16, f*32768)))
		s.pcm = binary.LittleEndian.AppendUint16(s.pcm, uint16(int16(f)))
	}
}

func (s *streamDecoder) deliver(channels ...[]int16) error {
	if !s.mix || len(channels) < 2 {
		return s.sink(channels...)
	}
	s.mixed = s.mixed[:0]
	for i, left := range channels[0] {
		s.mixed = append(s.mixed, int16((int32(left)+int32(channels[1][i]))/2))
	}
	return s.sink(s.mixed)
}
