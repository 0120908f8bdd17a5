package audio

import (
	"encoding/binary"
	"math"
	"strings"
)

// maxChunk limits a chunk or element that must be held in memory as a whole.
const maxChunk = 1 << 20

// A wavParser decodes RIFF/WAVE as it comes. Sizes may be unknown: programs
// that write to a pipe leave them zero or at their maximum, and the audio then
// lasts to the end of the stream. Another file may follow the first one.
type wavParser struct {
	d    *Decoder
	head []byte // of a chunk, and the body of fmt
	need int    // how much of head is needed
	skip int64  // bytes of a chunk to skip
	left int64  // bytes of audio; -1 for all that comes
	odd  bool   // a byte of padding follows the audio
	pcm  pcmParser
	seen bool // a fmt chunk
}

func (w *wavParser) write(p []byte) error {
	for len(p) > 0 {
		switch {
		case w.left != 0:
			n := len(p)
			if w.left > 0 {
				n = int(min(int64(n), w.left))
				w.left -= int64(n)
			}
			if err := w.pcm.write(p[:n]); err != nil {
				return err
			}
			p = p[n:]
			if w.left == 0 {
				w.pcm.rest = w.pcm.rest[:0]
				if w.odd {
					w.skip = 1
				}
			}
		case w.skip > 0:
			n := int(min(int64(len(p)), w.skip))
			w.skip -= int64(n)
			p = p[n:]
		default:
			w.need = max(w.need, 8)
			n := min(len(p), w.need-len(w.head))
			w.head = append(w.head, p[:n]...)
			p = p[n:]
			if len(w.head) == w.need {
				if err := w.chunk(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// chunk handles the head of a chunk, or asks for more of it.
func (w *wavParser) chunk() error {
	id, size := string(w.head[:4]), binary.LittleEndian.Uint32(w.head[4:])
	switch id {
	case "RIFF", "RF64":
		if len(w.head) < 12 {
			w.need = 12
			return nil
		}
		if string(w.head[8:]) != "WAVE" {
			return undecodable("RIFF that is not WAVE")
		}
	case "fmt ":
		if size < 14 || size > maxChunk {
			return undecodable("wav: a fmt chunk of %d bytes", size)
		}
		if want := 8 + int(min(size, 40)); len(w.head) < want {
			w.need = want
			return nil
		}
		if err := w.format(w.head[8:]); err != nil {
			return err
		}
		w.skip = int64(size) + int64(size&1) - int64(len(w.head)-8)
	case "data":
		if !w.seen {
			return undecodable("wav: no fmt chunk before the data")
		}
		w.left, w.odd = int64(size), size&1 == 1
		if size == 0 || size == math.MaxUint32 {
			w.left = -1
		}
	default:
		if !w.seen && strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
			return undecodable("wav: no chunk where one should be")
		}
		w.skip = int64(size) + int64(size&1)
	}
	w.head, w.need = w.head[:0], 0
	return nil
}

func (w *wavParser) format(b []byte) error {
	tag := binary.LittleEndian.Uint16(b)
	channels := int(binary.LittleEndian.Uint16(b[2:]))
	rate := int(binary.LittleEndian.Uint32(b[4:]))
	align := int(binary.LittleEndian.Uint16(b[12:]))
	bits := 8
	if len(b) >= 16 {
		bits = int(binary.LittleEndian.Uint16(b[14:]))
	}
	if tag == 0xfffe && len(b) >= 26 { // extensible: the real tag begins the GUID
		tag = binary.LittleEndian.Uint16(b[24:])
	}
	kind, ok := wavKinds[[2]int{int(tag), bits}]
	if !ok {
		return undecodable("wav: format %d with %d bits", tag, bits)
	}
	if channels == 0 || align != channels*kind.size() {
		return undecodable("wav: %d channels of %d bits in %d bytes", channels, bits, align)
	}
	w.seen = true
	w.pcm = pcmParser{out: &w.d.out, kind: kind, pcm: w.pcm.pcm}
	return w.d.out.set(rate, channels, w.d.outputChannels(true))
}

// wavKinds maps a format tag and the bits of a sample to its layout.
var wavKinds = map[[2]int]sampleKind{
	{1, 8}: pcm8, {1, 16}: pcm16, {1, 24}: pcm24, {1, 32}: pcm32, {3, 32}: float32s, {3, 64}: float64s, {6, 8}: alaw, {7, 8}: mulaw,
}

func (w *wavParser) close() error {
	if !w.seen {
		return undecodable("wav: it ends within its header")
	}
	return nil
}

const wavHeaderSize = 44

// EncodeWAV returns a whole PCM16 file. Sizes that are too large for the format
// are written as unknown.
func EncodeWAV(rate int, channels ...[]int16) []byte {
	samples := 0
	if len(channels) > 0 {
		samples = len(channels[0])
	}
	return interleave(wavHeader(rate, len(channels), int64(samples)), channels)
}

func wavHeader(rate, channels int, samples int64) []byte {
	data := uint32(math.MaxUint32)
	riff := data
	if n := samples * int64(2*channels); n < math.MaxUint32-wavHeaderSize {
		data, riff = uint32(n), uint32(n)+wavHeaderSize-8
	}
	b := make([]byte, 0, wavHeaderSize)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, riff)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*channels*rate))
	b = binary.LittleEndian.AppendUint16(b, uint16(2*channels))
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	return binary.LittleEndian.AppendUint32(b, data)
}

func interleave(dst []byte, channels [][]int16) []byte {
	if len(channels) == 1 {
		return AppendBytes(dst, channels[0])
	}
	if len(channels) == 0 {
		return dst
	}
	for i := range channels[0] {
		for _, c := range channels {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(c[i]))
		}
	}
	return dst
}
