package mic

import (
	"math"
	"testing"

	"github.com/hearken-dev/hearken/audio"
)

// Whatever is the same in both channels, or upside down in one, stays.
func TestDownmixer(t *testing.T) {
	for _, tt := range []struct {
		name        string
		left, right float64
		want        float64 // the level, as a part of the left channel's
	}{
		{"Same", 1, 1, 1},
		{"UpsideDown", 1, -1, 1},
		{"NearlyUpsideDown", 1, -0.8, 1},
		{"LeftOnly", 1, 0, 0.5},
		{"RightOnly", 0, 1, 0.5},
		{"Silence", 0, 0, 0},
		{"FullScale", 3.2, -3.2, 3.2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d downmixer
			var last []int16
			for block := range 5 {
				stereo := make([]int16, 2*40*48)
				for i := range len(stereo) / 2 {
					tone := 10_000 * math.Sin(2*math.Pi*1000*float64(block*len(stereo)/2+i)/48_000)
					stereo[2*i], stereo[2*i+1] = int16(tt.left*tone), int16(tt.right*tone)
				}
				last = d.mix(stereo)
			}
			level, want := audio.Level(last), 20*math.Log10(tt.want*10_000/math.Sqrt2/32768)
			if tt.want == 0 {
				if level != audio.Level(make([]int16, len(last))) {
					t.Errorf("silence has a level of %.1f dB", level)
				}
			} else if math.Abs(level-want) > 0.5 {
				t.Errorf("the level is %.1f dB, want %.1f dB", level, want)
			}
		})
	}
}

// A change of what is used does not click: no step is larger than the signals'
// own.
func TestDownmixer_Change(t *testing.T) {
	var d downmixer
	var all []int16
	for block := range 6 {
		stereo := make([]int16, 2*40*48)
		for i := range len(stereo) / 2 {
			tone := int16(10_000 * math.Sin(2*math.Pi*200*float64(block*len(stereo)/2+i)/48_000))
			stereo[2*i], stereo[2*i+1] = tone, tone
			if block%2 == 1 {
				stereo[2*i+1] = -tone
			}
		}
		all = append(all, d.mix(stereo)...)
	}
	for i := 1; i < len(all); i++ {
		if step := int(all[i]) - int(all[i-1]); step > 300 || step < -300 {
			t.Fatalf("a step of %d at %d", step, i)
		}
	}
}
