package audio

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var rates = []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 96000, 10007, 47999}

func sine(hz float64, rate, n int) []int16 {
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(math.Round(16000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))))
	}
	return out
}

func resample(rate int, in []int16) []int16 {
	r := NewResampler(rate)
	return r.Flush(r.Append(nil, in))
}

// What is well below both Nyquist frequencies comes out as it went in: at the
// same level and at the same time.
func TestResampler_PassBand(t *testing.T) {
	for _, rate := range rates {
		top := 0.42 * float64(min(rate, 16000))
		for _, hz := range []float64{50, 440, 1000, 3000, top} {
			got := resample(rate, sine(hz, rate, rate/4))
			want := sine(hz, 16000, 4000)
			if len(got) != (rate/4*16000+rate-1)/rate {
				t.Fatalf("%d Hz: %d samples", rate, len(got))
			}
			worst := 0.0
			for i := 200; i < len(want)-200; i++ { // but for the edges
				worst = max(worst, math.Abs(float64(got[i])-float64(want[i])))
			}
			if worst > 16 { // -60 dB of the tone
				t.Errorf("%d Hz: a tone of %.0f Hz is off by %.0f", rate, hz, worst)
			}
		}
	}
}

// What the output cannot hold does not come out as something else.
func TestResampler_StopBand(t *testing.T) {
	for _, rate := range []int{22050, 24000, 32000, 44100, 48000, 96000, 47999} {
		for hz := 8200.0; hz < float64(rate)/2; hz += 1310 {
			got := resample(rate, sine(hz, rate, rate/8))
			if level := Level(got[200 : len(got)-200]); level > -78 {
				t.Errorf("%d Hz: a tone of %.0f Hz leaves %.1f dB", rate, hz, level)
			}
		}
	}
}

func TestResampler_Constant(t *testing.T) {
	for _, rate := range rates {
		in := slices.Repeat([]int16{12345}, rate/2)
		got := resample(rate, in)
		for i := 200; i < len(got)-200; i++ {
			if d := got[i] - 12345; d < -1 || d > 1 {
				t.Fatalf("%d Hz: %d at %d", rate, got[i], i)
			}
		}
	}
}

func TestResampler_FullScale(t *testing.T) {
	in := make([]int16, 48000)
	for i := range in {
		in[i] = math.MaxInt16
		if i/50%2 == 0 {
			in[i] = math.MinInt16
		}
	}
	for i, s := range resample(48000, in) { // overshoot must clip, not wrap
		if positive := i*3/50%2 == 1; i > 100 && i*3%50 > 15 && i*3%50 < 35 && positive != (s > 0) {
			t.Fatalf("sample %d is %d", i, s)
		}
	}
}

func TestResampler_Cuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom(rates).Draw(t, "rate")
		in := sine(700, rate, rapid.IntRange(0, 5000).Draw(t, "samples"))
		want := resample(rate, in)
		if n := (len(in)*16000 + rate - 1) / rate; len(want) != n {
			t.Fatalf("%d samples, want %d", len(want), n)
		}
		r := NewResampler(rate)
		var got []int16
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "piece")
			if n == 0 {
				n = 1
			}
			got = r.Append(got, rest[:n])
			rest = rest[n:]
		}
		if got = r.Flush(got); !slices.Equal(got, want) {
			t.Fatal("it sounds different")
		}
		if again := r.Flush(r.Append(nil, in)); !slices.Equal(again, want) {
			t.Fatal("something was left over")
		}
	})
}

func BenchmarkResampler(b *testing.B) {
	for _, rate := range []int{8000, 44100, 48000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			r, in := NewResampler(rate), sine(440, rate, rate/10)
			var out []int16
			b.ReportAllocs()
			for b.Loop() {
				out = r.Append(out[:0], in)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)*10, "µs/s-of-sound")
		})
	}
}

func BenchmarkDecoder_Raw(b *testing.B) {
	for _, f := range []Format{{Encoding: Linear16}, {Encoding: Linear16, Channels: 2}, {Encoding: Mulaw}, {Encoding: Linear16, Rate: 48000}} {
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			d, err := NewDecoder(f, func(...[]int16) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
			raw := f.raw()
			frame := make([]byte, raw.Rate/10*raw.Channels*map[string]int{Linear16: 2, Mulaw: 1}[raw.Encoding])
			b.ReportAllocs()
			for b.Loop() {
				_, _ = d.Write(frame)
			}
		})
	}
}
