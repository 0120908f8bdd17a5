package audio

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"
)

// AppendPCM16 appends little-endian PCM16 to dst. It ignores a last odd byte.
func AppendPCM16(dst []int16, b []byte) []int16 {
	n := len(b) / 2
	start := len(dst)
	dst = slices.Grow(dst, n)[:start+n]
	out := dst[start:]
	b = b[:2*n]
	if littleEndian {
		copy(bytesOf(out), b)
		return dst
	}
	for i := range out {
		out[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return dst
}

// AppendBytes appends samples to dst as little-endian PCM16.
func AppendBytes(dst []byte, samples []int16) []byte {
	if littleEndian {
		return append(dst, bytesOf(samples)...)
	}
	dst = slices.Grow(dst, 2*len(samples))
	for _, s := range samples {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s))
	}
	return dst
}

// littleEndian says that samples have the same layout in memory as on the wire.
// A copy is then enough, which is far cheaper than a loop.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf is the memory of samples.
func bytesOf(samples []int16) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(samples))), 2*len(samples))
}

// A sampleKind is the layout of one sample.
type sampleKind int

const (
	pcm8 sampleKind = iota
	pcm16
	pcm24
	pcm32
	float32s
	float64s
	mulaw
	alaw
)

func (k sampleKind) size() int {
	return [...]int{pcm8: 1, pcm16: 2, pcm24: 3, pcm32: 4, float32s: 4, float64s: 8, mulaw: 1, alaw: 1}[k]
}

// append converts whole samples and appends them to dst.
func (k sampleKind) append(dst []int16, b []byte) []int16 {
	if k == pcm16 {
		return AppendPCM16(dst, b)
	}
	size := k.size()
	n := len(b) / size
	start := len(dst)
	dst = slices.Grow(dst, n)[:start+n]
	out := dst[start:]
	switch k {
	case pcm8:
		for i := range out {
			out[i] = (int16(b[i]) - 128) << 8
		}
	case pcm24:
		for i := range out {
			out[i] = round(int64(int32(uint32(b[3*i])<<8|uint32(b[3*i+1])<<16|uint32(b[3*i+2])<<24)>>8), 8)
		}
	case pcm32:
		for i := range out {
			out[i] = round(int64(int32(binary.LittleEndian.Uint32(b[4*i:]))), 16)
		}
	case float32s:
		for i := range out {
			out[i] = fromFloat(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case float64s:
		for i := range out {
			out[i] = fromFloat(float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))))
		}
	case mulaw:
		for i := range out {
			out[i] = mulawTable[b[i]]
		}
	case alaw:
		for i := range out {
			out[i] = alawTable[b[i]]
		}
	}
	return dst
}

// round removes shift bits from a sample and rounds to the nearest.
func round(v int64, shift uint) int16 {
	return int16(min((v+1<<(shift-1))>>shift, math.MaxInt16))
}

// fromFloat converts a sample of -1 to 1. Values outside are clipped, and NaN
// is silence.
func fromFloat(f float32) int16 {
	return clamp(f * 32768)
}

// clamp rounds to the nearest sample.
func clamp(f float32) int16 {
	switch {
	case f >= math.MaxInt16:
		return math.MaxInt16
	case f <= math.MinInt16:
		return math.MinInt16
	case f >= 0:
		return int16(f + 0.5)
	case f < 0:
		return int16(f - 0.5)
	}
	return 0 // not a number
}

// The two codings of G.711 as tables of all their values. Telephones use them.
var mulawTable, alawTable = func() (mu, a [256]int16) {
	for i := range 256 {
		mu[i], a[i] = mulawSample(byte(i)), alawSample(byte(i))
	}
	return mu, a
}()

func mulawSample(b byte) int16 {
	b = ^b
	magnitude := (int16(b&0x0f)<<3+0x84)<<(b>>4&7) - 0x84
	if b&0x80 != 0 {
		return -magnitude
	}
	return magnitude
}

func alawSample(b byte) int16 {
	b ^= 0x55
	magnitude := int16(b&0x0f)<<4 + 8
	if exponent := b >> 4 & 7; exponent > 0 {
		magnitude = (magnitude + 0x100) << (exponent - 1)
	}
	if b&0x80 == 0 {
		return -magnitude
	}
	return magnitude
}

// Silence is the level of digital silence, in dBFS: below what 16 bits hold.
const Silence = -96.0

// Level returns the RMS level of samples in dBFS.
func Level(samples []int16) float64 {
	var sum int64
	for _, s := range samples {
		sum += int64(s) * int64(s)
	}
	if sum == 0 {
		return Silence
	}
	return max(Silence, 20*math.Log10(math.Sqrt(float64(sum)/float64(len(samples)))/32768))
}
