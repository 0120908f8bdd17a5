package listen

import (
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// A streamDecoder decodes a stream in the format that its query declared.
type streamDecoder struct {
	audioFormat
	inner *audio.Decoder
	sink  func(channels ...[]int16) error
	head  []byte // of a container that is not recognised yet
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
