package audio

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// wavFile makes a file of chunks; a size of -1 is the body's own.
func wavFile(chunks ...any) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVE")
	for i := 0; i < len(chunks); i += 3 {
		id, size, body := chunks[i].(string), chunks[i+1].(int), chunks[i+2].([]byte)
		if size < 0 {
			size = len(body)
		}
		b = append(b, id...)
		b = binary.LittleEndian.AppendUint32(b, uint32(size))
		b = append(b, body...)
		if size == len(body) && size%2 == 1 {
			b = append(b, 0)
		}
	}
	return b
}

func fmtChunk(tag, channels, rate, bits int) []byte {
	var b []byte
	b = binary.LittleEndian.AppendUint16(b, uint16(tag))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*bits/8))
	return binary.LittleEndian.AppendUint16(b, uint16(bits))
}

func extensible(b []byte, tag int) []byte {
	b = append(slices.Clone(b), 22, 0, b[14], 0, 0, 0, 0, 0, byte(tag), 0)
	binary.LittleEndian.PutUint16(b, 0xfffe)
	return append(b, "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...)
}

func TestDecoder_WAVKinds(t *testing.T) {
	want := ramp()
	var p8, p24, p32, f32, f64 []byte
	for _, s := range want {
		p8 = append(p8, byte(int(s)>>8+128))
		p24 = append(p24, 0, byte(s), byte(s>>8))
		p32 = binary.LittleEndian.AppendUint32(p32, uint32(int32(s)<<16))
		f32 = binary.LittleEndian.AppendUint32(f32, math.Float32bits(float32(s)/32768))
		f64 = binary.LittleEndian.AppendUint64(f64, math.Float64bits(float64(s)/32768))
	}
	p16 := AppendBytes(nil, want)
	list := []byte("INFOISFT\x05\x00\x00\x00hello") // of odd length
	tests := map[string]struct {
		file  []byte
		want  []int16
		slack int
	}{
		"pcm 8":         {wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 8), "data", -1, p8), want, 255},
		"pcm 24":        {wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 24), "data", -1, p24), want, 0},
		"pcm 32":        {wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 32), "data", -1, p32), want, 0},
		"float 32":      {wavFile("fmt ", -1, fmtChunk(3, 1, 16000, 32), "data", -1, f32), want, 0},
		"float 64":      {wavFile("fmt ", -1, fmtChunk(3, 1, 16000, 64), "data", -1, f64), want, 0},
		"extensible":    {wavFile("fmt ", -1, extensible(fmtChunk(1, 1, 16000, 24), 1), "data", -1, p24), want, 0},
		"ext. float":    {wavFile("fmt ", -1, extensible(fmtChunk(3, 1, 16000, 32), 3), "data", -1, f32), want, 0},
		"other chunks":  {wavFile("LIST", -1, list, "fmt ", -1, fmtChunk(1, 1, 16000, 16), "LIST", -1, list, "data", -1, p16, "LIST", -1, list), want, 0},
		"size zero":     {wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 16), "data", 0, p16), want, 0},
		"size maximum":  {wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 16), "data", math.MaxUint32, p16), want, 0},
		"size too much": {wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 16), "data", 1<<30, p16), want, 0},
		"cut sample":    {wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 16), "data", 0, append(slices.Clone(p16), 7)), want, 0},
		"two files":     {append(wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 16), "data", -1, p16), wavFile("fmt ", -1, fmtChunk(1, 1, 16000, 24), "data", -1, p24)...), append(slices.Clone(want), want...), 0},
		"five channels": {wavFile("fmt ", -1, fmtChunk(1, 5, 16000, 16), "data", -1, interleave(nil, [][]int16{want, want, want, want, want})), want, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{1, 13, len(tt.file)} {
				got, found, err := decode(t, Format{}, tt.file, piece)
				if err != nil {
					t.Fatal(err)
				}
				if found.Encoding != WAV || len(got) != 1 || len(got[0]) != len(tt.want) {
					t.Fatalf("%v: %d channels, %d samples, want %d", found, len(got), len(got[0]), len(tt.want))
				}
				for i, s := range got[0] {
					if d := int(s) - int(tt.want[i]); d < -tt.slack || d > tt.slack {
						t.Fatalf("sample %d is %d, want %d", i, s, tt.want[i])
					}
				}
			}
		})
	}
}

// ramp has small and large samples, and the ends of the range.
func ramp() []int16 {
	out := []int16{0, 1, -1, math.MaxInt16, math.MinInt16}
	for i := range 1000 {
		out = append(out, int16(i*i%65536-32768))
	}
	return out
}

func TestFromFloat(t *testing.T) {
	for in, want := range map[float32]int16{0: 0, 1: 32767, -1: -32768, 5: 32767, -5: -32768, 0.5: 16384, float32(math.Inf(1)): 32767, float32(math.Inf(-1)): -32768} {
		if got := fromFloat(in); got != want {
			t.Errorf("%v: %d, want %d", in, got, want)
		}
	}
	if got := fromFloat(float32(math.NaN())); got != 0 {
		t.Errorf("not a number: %d", got)
	}
}

// The values of G.711's tables at their ends and around zero.
func TestG711(t *testing.T) {
	for in, want := range map[byte]int16{0x00: -32124, 0x80: 32124, 0xff: 0, 0x7f: 0, 0xfe: 8, 0x7e: -8, 0x8f: 16764, 0x0f: -16764} {
		if got := mulawTable[in]; got != want {
			t.Errorf("mu-law %#x: %d, want %d", in, got, want)
		}
	}
	for in, want := range map[byte]int16{0xd5: 8, 0x55: -8, 0xaa: 32256, 0x2a: -32256, 0x80: 5504, 0x00: -5504} {
		if got := alawTable[in]; got != want {
			t.Errorf("A-law %#x: %d, want %d", in, got, want)
		}
	}
}

func TestEncodeWAV(t *testing.T) {
	left, right := ramp(), ramp()
	slices.Reverse(right)
	file := EncodeWAV(44100, left, right)
	got, found, err := decode(t, Format{}, file, 1000)
	if err != nil || found != (Format{WAV, 44100, 2}) {
		t.Fatalf("%+v, %v", found, err)
	}
	// A program that writes to a pipe does not know the sizes.
	stream := slices.Clone(file)
	binary.LittleEndian.PutUint32(stream[4:], math.MaxUint32)
	binary.LittleEndian.PutUint32(stream[40:], math.MaxUint32)
	piped, _, err := decode(t, Format{}, stream, 1000)
	if err != nil || !same(got, piped) {
		t.Errorf("the stream differs from the file: %v", err)
	}
}

func TestLevel(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.05 }
	if l := Level(nil); l != Silence {
		t.Errorf("nothing: %v", l)
	}
	if l := Level(make([]int16, 100)); l != Silence {
		t.Errorf("silence: %v", l)
	}
	if l := Level(slices.Repeat([]int16{math.MinInt16}, 100)); l != 0 {
		t.Errorf("full scale: %v", l)
	}
	if l := Level(sine(1000, 16000, 16000)); !near(l, -9.24) {
		t.Errorf("tone: %v", l)
	}
}
