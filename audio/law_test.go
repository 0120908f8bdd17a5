package audio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// telephone returns a recording of the repository at 8 kHz.
func telephone(t *testing.T, name string) []int16 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "speech", name))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := decode(t, Format{Channels: 1}, data, len(data))
	if err != nil {
		t.Fatal(err)
	}
	var out []int16
	for i := 0; i+1 < len(got[0]); i += 2 {
		out = append(out, int16((int(got[0][i])+int(got[0][i+1]))/2))
	}
	return out
}

// encodeLaw codes samples with the nearest values of a table.
func encodeLaw(table *[256]int16, samples []int16) []byte {
	nearest := map[int16]byte{}
	out := make([]byte, len(samples))
	for i, s := range samples {
		code, known := nearest[s]
		if !known {
			best := 1 << 20
			for c, v := range table {
				if d := max(int(v)-int(s), int(s)-int(v)); d < best {
					best, code = d, byte(c)
				}
			}
			nearest[s] = code
		}
		out[i] = code
	}
	return out
}

// Telephone audio that nobody declared is refused with the parameters to use,
// also if it begins with silence.
func TestDecoder_UndeclaredLaw(t *testing.T) {
	for _, name := range []string{"jfk.flac", "ls-2033-164915-0001.flac", "ami-tst00.flac"} {
		pcm := append(make([]int16, 8000), telephone(t, name)...)
		for want, data := range map[string][]byte{
			"encoding=mulaw&sample_rate=8000": encodeLaw(&mulawTable, pcm),
			"encoding=alaw&sample_rate=8000":  encodeLaw(&alawTable, pcm),
		} {
			for _, piece := range []int{160, 333, len(data)} {
				_, _, err := decode(t, Format{}, data, piece)
				if hearken.CodeOf(err) != hearken.Undecodable || !strings.Contains(err.Error(), want) {
					t.Errorf("%s in pieces of %d: %v, want %s", name, piece, err, want)
				}
			}
		}
	}
}

// A sender that declared PCM16 is told, and may be right.
func TestDecoder_Doubt(t *testing.T) {
	speech := telephone(t, "jfk.flac")
	for _, tt := range []struct {
		declared Format
		data     []byte
		want     string
	}{
		{Format{Encoding: Linear16, Rate: 8000}, encodeLaw(&mulawTable, speech), "encoding=mulaw"},
		{Format{Encoding: Linear16}, encodeLaw(&alawTable, speech), "encoding=alaw"},
		{Format{Encoding: Mulaw}, encodeLaw(&mulawTable, speech), ""},
		{Format{Encoding: Linear16, Rate: 8000}, AppendBytes(nil, speech), ""},
	} {
		samples := 0
		d, err := NewDecoder(tt.declared, func(channels ...[]int16) error { samples += len(channels[0]); return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range [][]byte{tt.data[:len(tt.data)/2], tt.data[len(tt.data)/2:]} {
			if _, err := d.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if got := d.Doubt(); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%+v: %q, want %q", tt.declared, got, tt.want)
		}
		if err := d.Close(); err != nil || samples == 0 {
			t.Errorf("%+v: %d samples, %v", tt.declared, samples, err)
		}
	}
}

// No recording is taken for telephone audio, however loud it is.
func TestDecoder_PCMIsNoLaw(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "speech", "*.flac"))
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		pcm := telephone(t, filepath.Base(file))
		for _, gain := range []int{1, 4, 30} {
			loud := make([]int16, len(pcm))
			for i, s := range pcm {
				loud[i] = int16(max(-32768, min(32767, int(s)*gain)))
			}
			var l lawDetector
			if found := l.write(AppendBytes(nil, loud)); found != "" {
				t.Errorf("%s, %d times as loud, is taken for %s", file, gain, found)
			}
		}
	}
}
