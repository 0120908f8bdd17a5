package audio

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"
)

// chirp is a tone that glides from one frequency to another in 1.1 s. The
// files in testdata hold chirp(300, 3000) and, as a second channel,
// chirp(3000, 300).
func chirp(from, to float64, rate int) []int16 {
	const seconds = 1.1
	out := make([]int16, int(seconds*float64(rate)))
	for i := range out {
		t := float64(i) / float64(rate)
		out[i] = int16(math.Round(12000 * math.Sin(2*math.Pi*(from*t+(to-from)/seconds*t*t/2))))
	}
	return out
}

// decode feeds b in pieces of the given size and returns what came out.
func decode(t testing.TB, f Format, b []byte, piece int) ([][]int16, Format, error) {
	t.Helper()
	var out [][]int16
	d, err := NewDecoder(f, func(channels ...[]int16) error {
		if out == nil {
			out = make([][]int16, len(channels))
		}
		for i, c := range channels {
			if len(c) != len(channels[0]) {
				t.Errorf("channel %d has %d samples, the first %d", i, len(c), len(channels[0]))
			}
			out[i] = append(out[i], c...)
		}
		return nil
	})
	if err != nil {
		return nil, Format{}, err
	}
	for len(b) > 0 && err == nil {
		n := min(piece, len(b))
		_, err = d.Write(b[:n])
		b = b[n:]
	}
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	found, _ := d.Format()
	return out, found, err
}

// same reports whether two recordings are equal to the last bit.
func same(a, b [][]int16) bool {
	return slices.EqualFunc(a, b, slices.Equal[[]int16])
}

// likeness is the normalised correlation of two signals, 1 for the same.
func likeness(a, b []int16) float64 {
	var aa, bb, ab float64
	for i := range min(len(a), len(b)) {
		x, y := float64(a[i]), float64(b[i])
		aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
	}
	return ab / math.Sqrt(aa*bb+1)
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecoder_Kinds(t *testing.T) {
	up, down := chirp(300, 3000, 16000), chirp(3000, 300, 16000)
	up8 := chirp(300, 3000, 8000)
	mixed := make([]int16, len(up))
	for i := range mixed {
		mixed[i] = up[i]/2 + down[i]/2
	}
	stereo := EncodeWAV(44100, chirp(300, 3000, 44100), chirp(3000, 300, 44100))
	raw := AppendBytes(nil, up)
	tests := []struct {
		name     string
		declared Format
		data     []byte
		found    Format
		want     [][]int16
		like     float64
		slack    int // samples that the length may differ by
	}{
		{"raw undeclared", Format{}, raw, Format{Linear16, 16000, 1}, [][]int16{up}, 1, 0},
		{"raw declared", Format{Encoding: Linear16, Rate: 48000}, AppendBytes(nil, chirp(300, 3000, 48000)), Format{Linear16, 48000, 1}, [][]int16{up}, 0.9999, 0},
		{"raw two channels", Format{Encoding: Linear16, Channels: 2}, interleave(nil, [][]int16{up, down}), Format{Linear16, 16000, 2}, [][]int16{up, down}, 1, 0},
		{"raw 8 kHz", Format{Rate: 8000}, AppendBytes(nil, up8), Format{Linear16, 8000, 1}, [][]int16{up}, 0.999, 0},
		{"mulaw", Format{Encoding: Mulaw}, encodeWith(mulawTable, up8), Format{Mulaw, 8000, 1}, [][]int16{up}, 0.999, 0},
		{"alaw", Format{Encoding: Alaw}, encodeWith(alawTable, up8), Format{Alaw, 8000, 1}, [][]int16{up}, 0.999, 0},
		{"wav", Format{}, EncodeWAV(16000, up), Format{WAV, 16000, 1}, [][]int16{up}, 1, 0},
		{"wav stereo", Format{}, stereo, Format{WAV, 44100, 2}, [][]int16{up, down}, 0.9999, 0},
		{"wav mixed", Format{Channels: 1}, stereo, Format{WAV, 44100, 1}, [][]int16{mixed}, 0.9999, 0},
		{"ogg", Format{}, testdata(t, "chirp.opus"), Format{OggOpus, 48000, 1}, [][]int16{up}, 0.99, 0},
		{"ogg mixed", Format{}, testdata(t, "chirp-stereo.opus"), Format{OggOpus, 48000, 1}, [][]int16{mixed}, 0.95, 0},
		{"ogg stereo", Format{Channels: 2}, testdata(t, "chirp-stereo.opus"), Format{OggOpus, 48000, 2}, [][]int16{up, down}, 0.98, 0},
		{"webm", Format{}, testdata(t, "chirp.webm"), Format{WebMOpus, 48000, 1}, [][]int16{up}, 0.99, 1},
		{"flac", Format{}, encodeFLAC(t, 44100, chirp(300, 3000, 44100), chirp(3000, 300, 44100)), Format{FLAC, 44100, 2}, [][]int16{up, down}, 0.9999, 0},
		{"flac 24 bits", Format{}, encodeDeepFLAC(t, 16000, 24, up), Format{FLAC, 16000, 1}, [][]int16{up}, 1, 0},
		{"flac 8 bits", Format{}, encodeDeepFLAC(t, 16000, 8, up), Format{FLAC, 16000, 1}, [][]int16{up}, 0.999, 0},
		{"mp3", Format{}, testdata(t, "chirp.mp3"), Format{MP3, 32000, 1}, [][]int16{up}, 0.98, 1200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := decode(t, tt.declared, tt.data, 3200)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Errorf("format (-want +got):\n%s", diff)
			}
			for i, want := range tt.want {
				if d := len(got[i]) - len(want); d < -tt.slack || d > tt.slack {
					t.Errorf("channel %d: %d samples, want %d", i, len(got[i]), len(want))
				}
				// Likeness says nothing of the volume.
				if loud, wanted := int(slices.Max(got[i])), int(slices.Max(want)); 5*loud < 4*wanted || 4*loud > 5*wanted {
					t.Errorf("channel %d: the loudest sample is %d, want %d", i, loud, wanted)
				}
				if l := likeness(got[i], want); l < tt.like-1e-6 {
					t.Errorf("channel %d: likeness %.5f, want %.5f", i, l, tt.like)
				}
			}
			// How the bytes were cut must not matter.
			for _, piece := range []int{1, 7, 997, len(tt.data)} {
				again, _, err := decode(t, tt.declared, tt.data, piece)
				if err != nil {
					t.Fatalf("in pieces of %d: %v", piece, err)
				}
				if !same(got, again) {
					t.Errorf("in pieces of %d it sounds different", piece)
				}
			}
		})
	}
}

func TestDecoder_Speech(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "speech", "*.flac"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, found, err := decode(t, Format{}, b, 4096)
		if err != nil || found.Rate != 16000 || found.Channels != len(got) {
			t.Fatalf("%s: %v %v", name, found, err)
		}
		// As a WAV file it is the same audio.
		wav, _, err := decode(t, Format{}, EncodeWAV(16000, got...), 4096)
		if err != nil || !same(got, wav) {
			t.Errorf("%s as WAV differs: %v", name, err)
		}
		// The same audio without its header is never taken for anything else.
		plain, _, err := decode(t, Format{}, AppendBytes(nil, got[0]), 4096)
		if err != nil || !same(got[:1], plain) {
			t.Errorf("%s without header differs: %v", name, err)
		}
	}
}

func TestDecoder_Undecodable(t *testing.T) {
	random := make([]byte, 5000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	ogg, webm := testdata(t, "chirp.opus"), testdata(t, "chirp.webm")
	tests := map[string]struct {
		data []byte
		want string
	}{
		"random":            {random, "random data"},
		"text":              {[]byte(strings.Repeat("This is a sentence and no sound. ", 40)), "it is text"},
		"m4a":               {append([]byte("\x00\x00\x00\x20ftypM4A "), random...), "MP4"},
		"aac":               {bytes.Repeat([]byte{0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 100), "AAC"},
		"wav compressed":    {append([]byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x11\x00\x01\x00\x80\x3e\x00\x00\x80\x3e\x00\x00\x01\x00\x04\x00data"), random...), "format 17"},
		"wav without fmt":   {append([]byte("RIFF\xff\xff\xff\xffWAVEdata\xff\xff\xff\xff"), random...), "no fmt"},
		"wav cut":           {[]byte("RIFF\xff\xff\xff\xffWAVEfmt "), "header"},
		"wav other":         {[]byte("RIFF\xff\xff\xff\xffAVI LIST1234567890123456789012345678901234567890123456789012345678901234567890"), "not WAVE"},
		"ogg with nothing":  {append([]byte("OggS"), random...), "no Opus"},
		"ogg with rubbish":  {append(append([]byte{}, ogg[:47]...), bytes.Repeat([]byte("OggS"), 300000)...), "no page"},
		"webm with rubbish": {append(append([]byte{}, webm[:200]...), 0, 0, 0, 0, 0), "webm"},
		"webm with vorbis":  {bytes.ReplaceAll(webm, []byte("A_OPUS"), []byte("A_VORB")), "A_VORB"},
		"webm cut":          {webm[:40], "no audio"},
		"flac with rubbish": {append([]byte("fLaC\x00\x00\x00\x22"), random...), "flac"},
		"mp3 with rubbish":  {append([]byte("ID3\x04\x00\x00\x00\x00\x00\x02"), random...), "mp3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{100, len(tt.data)} {
				_, _, err := decode(t, Format{}, tt.data, piece)
				if hearken.CodeOf(err) != hearken.Undecodable {
					t.Fatalf("in pieces of %d: error %v", piece, err)
				}
				for _, want := range []string{tt.want, "send PCM16", "WAV, Ogg/Opus or WebM/Opus"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q does not say %q", err, want)
					}
				}
			}
		})
	}
}

// What was declared as raw is raw, whatever it looks like.
func TestDecoder_DeclaredStaysRaw(t *testing.T) {
	for _, data := range [][]byte{EncodeWAV(16000, chirp(300, 3000, 16000)), testdata(t, "chirp.opus"), []byte("text is sound if you say so")} {
		got, _, err := decode(t, Format{Encoding: Linear16}, data, 333)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[0], AppendPCM16(nil, data)) {
			t.Error("it was not taken as it is")
		}
	}
}

func TestDecoder_Nothing(t *testing.T) {
	for _, data := range [][]byte{nil, {1}, {1, 2, 3}} {
		if _, _, err := decode(t, Format{}, data, 1); err != nil {
			t.Errorf("%d bytes: %v", len(data), err)
		}
	}
}

func TestDecoder_SinkFails(t *testing.T) {
	full := errors.New("full")
	for _, data := range [][]byte{AppendBytes(nil, chirp(300, 3000, 16000)), encodeFLAC(t, 44100, chirp(300, 3000, 44100)), testdata(t, "chirp.mp3"), testdata(t, "chirp.webm")} {
		d, err := NewDecoder(Format{}, func(...[]int16) error { return full })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Write(data); !errors.Is(err, full) {
			t.Errorf("Write = %v", err)
		}
		if err := d.Close(); !errors.Is(err, full) {
			t.Errorf("Close = %v", err)
		}
	}
}

func TestFormat_Check(t *testing.T) {
	for _, f := range []Format{{Encoding: "opus"}, {Rate: 7999}, {Rate: 48001}, {Rate: -1}, {Channels: 3}, {Channels: -1}} {
		if err := f.Check(); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add(EncodeWAV(16000, chirp(300, 3000, 16000)[:400]), uint8(0), 7)
	for _, name := range []string{"chirp.opus", "chirp-stereo.opus", "chirp.webm", "chirp.mp3"} {
		f.Add(testdata(f, name)[:2500], uint8(2), 500)
	}
	f.Add(encodeFLAC(f, 16000, chirp(300, 3000, 16000)[:4096]), uint8(1), 1000)
	f.Add([]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), uint8(0), 3)
	f.Fuzz(func(t *testing.T, data []byte, channels uint8, piece int) {
		if len(data) > 1<<16 {
			return
		}
		samples := 0
		d, err := NewDecoder(Format{Channels: int(channels % 3)}, func(c ...[]int16) error {
			if samples += len(c[0]); samples > 1<<19 {
				return errors.New("enough")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		piece = 1 + (piece&0xfff+0xfff)&0xfff
		for b := data; len(b) > 0; {
			n := min(piece, len(b))
			if _, err := d.Write(b[:n]); err != nil {
				break
			}
			b = b[n:]
		}
		_ = d.Close()
	})
}

// encodeWith finds the nearest value of a table for each sample.
func encodeWith(table [256]int16, samples []int16) []byte {
	out := make([]byte, len(samples))
	for i, s := range samples {
		best := math.MaxInt
		for b, v := range table {
			if d := max(int(s)-int(v), int(v)-int(s)); d < best {
				best, out[i] = d, byte(b)
			}
		}
	}
	return out
}

func encodeFLAC(t testing.TB, rate int, channels ...[]int16) []byte {
	t.Helper()
	return encodeDeepFLAC(t, rate, 16, channels...)
}

// encodeDeepFLAC encodes with so many bits in a sample.
func encodeDeepFLAC(t testing.TB, rate, bits int, channels ...[]int16) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc, err := flac.NewEncoder(&buf, &meta.StreamInfo{
		BlockSizeMin: 16, BlockSizeMax: 4096, SampleRate: uint32(rate),
		NChannels: uint8(len(channels)), BitsPerSample: uint8(bits),
	})
	if err != nil {
		t.Fatal(err)
	}
	layout := frame.ChannelsMono
	if len(channels) == 2 {
		layout = frame.ChannelsLR
	}
	for at := 0; at < len(channels[0]); at += 4096 {
		n := min(4096, len(channels[0])-at)
		f := &frame.Frame{Header: frame.Header{BlockSize: uint16(n), SampleRate: uint32(rate), Channels: layout, BitsPerSample: uint8(bits)}}
		for _, c := range channels {
			sub := &frame.Subframe{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, NSamples: n}
			for _, s := range c[at : at+n] {
				sub.Samples = append(sub.Samples, int32(s)<<16>>(32-bits))
			}
			f.Subframes = append(f.Subframes, sub)
		}
		if err := enc.WriteFrame(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
