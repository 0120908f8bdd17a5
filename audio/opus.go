package audio

import (
	"encoding/binary"

	"github.com/hearken-dev/hearken"
	"github.com/pion/opus"
)

// opusRate is the rate at which Opus counts samples, whatever the output rate.
const opusRate = 48000

// maxOpusPacket is the longest packet, in samples at 16 kHz: 120 ms.
const maxOpusPacket = hearken.SampleRate * 120 / 1000

// An opusStream decodes the packets of one Opus stream, from any container.
type opusStream struct {
	d        *Decoder
	decoder  opus.Decoder
	channels int // 0 until the head has come
	skip     int // samples at 16 kHz still to skip at the start
	good     int // packets decoded
	bad      int // packets in a row that were not
	pcm      []int16
	pending  []int16 // decoded, not yet delivered: the end may have to be cut
}

// start reads the identification header.
func (s *opusStream) start(head []byte) error {
	if len(head) < 19 || string(head[:8]) != "OpusHead" {
		return undecodable("no Opus header")
	}
	channels, family := int(head[9]), head[18]
	if head[8]>>4 != 0 {
		return undecodable("opus version %d", head[8])
	}
	if channels < 1 || channels > 2 || family > 1 {
		return undecodable("opus with %d channels in mapping family %d", channels, family)
	}
	if s.d.found.Encoding == "" {
		s.d.found.Encoding = OggOpus
	}
	// The Opus decoder itself mixes to one channel.
	output := 1
	if channels == 2 && s.d.outputChannels(false) == 2 {
		output = 2
	}
	decoder, err := opus.NewDecoderWithOutput(hearken.SampleRate, output)
	if err != nil {
		return codecError(err)
	}
	s.decoder, s.channels = decoder, output
	s.skip = int(binary.LittleEndian.Uint16(head[10:])) * hearken.SampleRate / opusRate
	s.good, s.bad = 0, 0
	if s.pcm == nil {
		s.pcm = make([]int16, 2*maxOpusPacket)
	}
	return s.d.out.set(hearken.SampleRate, output, output)
}

// packet decodes one packet and holds it until emit.
func (s *opusStream) packet(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	length := opusDuration(p)
	if length == 0 || length > maxOpusPacket {
		return s.concealPacket(0, "a packet of impossible length")
	}
	n, err := s.decoder.DecodeToInt16(p, s.pcm)
	if err != nil || n > length {
		return s.concealPacket(length, "packets that do not decode")
	}
	s.good++
	s.bad = 0
	s.pending = append(s.pending, s.pcm[:n*s.channels]...)
	return nil
}

// concealPacket puts silence in the place of a packet that does not decode, so
// that later audio keeps its time. It gives up if nothing decodes.
func (s *opusStream) concealPacket(length int, why string) error {
	s.bad++
	if s.good == 0 && s.bad > 3 || s.bad > 250 {
		return undecodable("opus: %s", why)
	}
	clear(s.pcm[:length*s.channels])
	s.pending = append(s.pending, s.pcm[:length*s.channels]...)
	return nil
}

// held is the number of samples per channel that emit would deliver.
func (s *opusStream) held() int {
	if s.channels == 0 {
		return 0
	}
	return len(s.pending) / s.channels
}

// emit delivers what was decoded, except for cut samples at the end.
func (s *opusStream) emit(cut int) error {
	pcm := s.pending
	s.pending = s.pending[:0]
	pcm = pcm[:max(0, len(pcm)-cut*s.channels)]
	n := min(s.skip, len(pcm)/max(1, s.channels))
	s.skip -= n
	return s.d.out.interleaved(pcm[n*s.channels:])
}

// opusDuration is the length of a packet according to its first bytes, in
// samples at 16 kHz, or 0 if they are invalid.
func opusDuration(p []byte) int {
	var frame int // in units of 2.5 ms
	switch config := p[0] >> 3; {
	case config < 12:
		frame = [...]int{4, 8, 16, 24}[config&3]
	case config < 16:
		frame = [...]int{4, 8}[config&1]
	default:
		frame = 1 << (config & 3)
	}
	count := 1
	switch p[0] & 3 {
	case 1, 2:
		count = 2
	case 3:
		if len(p) < 2 {
			return 0
		}
		count = int(p[1] & 0x3f)
	}
	return frame * count * hearken.SampleRate / 400
}
