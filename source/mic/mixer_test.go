package mic

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
)

// A script is a backend that plays what a test says.
type script func(ctx context.Context, d *mixer) error

func (s script) check(context.Context) error             { return nil }
func (s script) run(ctx context.Context, d *mixer) error { return s(ctx, d) }
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func scripted(s script) *Capture {
	return &Capture{backend: s, notes: &notes{log: slog.New(slog.DiscardHandler)}}
}

// piece of sound that lasts so long, all of one value.
func level(v int16, d time.Duration) []int16 {
	samples := make([]int16, d.Milliseconds()*millisecond)
	for i := range samples {
		samples[i] = v
	}
	return samples
}

// stretches are the runs of equal samples, in milliseconds.
func stretches(samples []int16) [][2]int {
	var runs [][2]int
	for i, start := 0, 0; i < len(samples); i++ {
		if i+1 == len(samples) || samples[i+1] != samples[start] {
			runs = append(runs, [2]int{int(samples[start]), (i + 1 - start + millisecond/2) / millisecond})
			start = i + 1
		}
	}
	return runs
}

// runFor runs a capture for a time and returns what it delivered.
func runFor(t *testing.T, c *Capture, d time.Duration) [][]int16 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	h := &heard{}
	if err := c.Run(ctx, h.take); err != nil {
		t.Fatal(err)
	}
	if h.uneven {
		t.Error("channels of different lengths")
	}
	return h.channels
}

// every sends a piece to a track again and again, for as long as d.
func every(ctx context.Context, d *mixer, track int, v int16, step, length time.Duration) {
	for range int(length / step) {
		wait(ctx, step)
		d.add(track, level(v, step))
	}
}

func TestMixer_SilenceWhereNothingComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := scripted(func(ctx context.Context, d *mixer) error {
			every(ctx, d, 0, 5, 20*time.Millisecond, time.Second)
			wait(ctx, 2*time.Second) // the device says nothing
			every(ctx, d, 0, 7, 20*time.Millisecond, time.Second)
			d.markSilent(0)
			<-ctx.Done()
			return nil
		})
		got := runFor(t, c, 5*time.Second)
		// The last piece is delivered at the very end or not at all.
		want := [][2]int{{5, 1000}, {0, 2000}, {7, 1000}, {0, 910}}
		runs := stretches(got[0])
		if len(runs) != len(want) {
			t.Fatalf("heard %v and not %v", runs, want)
		}
		for i := range want {
			if runs[i][0] != want[i][0] || math.Abs(float64(runs[i][1]-want[i][1])) > 50 {
				t.Errorf("heard %v and not %v", runs, want)
			}
		}
		if len(stretches(got[1])) != 1 {
			t.Errorf("a device that never spoke was heard: %v", stretches(got[1]))
		}
	})
}

// What comes late, but within the wait, is neither lost nor moved.
func TestMixer_Late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := scripted(func(ctx context.Context, d *mixer) error {
			every(ctx, d, 0, 1, 20*time.Millisecond, time.Second)
			wait(ctx, 900*time.Millisecond) // the computer is busy
			for v := range int16(45) {
				d.add(0, level(v+2, 20*time.Millisecond))
			}
			every(ctx, d, 0, 47, 20*time.Millisecond, time.Second)
			return nil
		})
		got := stretches(runFor(t, c, 4*time.Second)[0])
		want := [][2]int{{1, 1000}}
		for v := 2; v < 47; v++ {
			want = append(want, [2]int{v, 20})
		}
		want = append(want, [2]int{47, 1000})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// Of what comes too late, the newest is kept, in its place.
func TestMixer_TooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := scripted(func(ctx context.Context, d *mixer) error {
			every(ctx, d, 0, 1, 20*time.Millisecond, time.Second)
			wait(ctx, 2*time.Second)
			for v := range int16(100) {
				d.add(0, level(v+2, 20*time.Millisecond))
			}
			every(ctx, d, 0, 199, 20*time.Millisecond, time.Second)
			<-ctx.Done()
			return nil
		})
		got := runFor(t, c, 6*time.Second)[0]
		at := func(d time.Duration) int16 { return got[d.Milliseconds()*millisecond] }
		if v := at(1500 * time.Millisecond); v != 0 {
			t.Errorf("%d where nothing had come", v)
		}
		for _, d := range []time.Duration{3200, 3500, 3900} {
			if v := at(d * time.Millisecond); v != 199 {
				t.Errorf("%d at %d ms", v, d)
			}
		}
		if v := at(4200 * time.Millisecond); v != 0 {
			t.Errorf("%d after the end", v)
		}
	})
}

func TestMixer_SlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := scripted(func(ctx context.Context, d *mixer) error {
			every(ctx, d, 0, 1, 20*time.Millisecond, time.Hour)
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began, first, total := time.Now(), true, 0
		err := c.Run(ctx, func(channels ...[]int16) error {
			if first {
				wait(ctx, 40*time.Second)
				first = false
			}
			if total += len(channels[0]); time.Since(began) > 50*time.Second {
				cancel()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if late := 50.2*hearken.SampleRate - float64(total); math.Abs(late) > 0.3*hearken.SampleRate {
			t.Errorf("the clock is off by %v samples", late)
		}
		if note := c.Notes()[0]; note[:2] != "10" && note[:2] != "9." {
			t.Errorf("of what was lost it says %q", note)
		}
	})
}

func TestCapture_RunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		c := scripted(func(ctx context.Context, d *mixer) error { <-ctx.Done(); return nil })
		if err := c.Run(t.Context(), func(...[]int16) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("an error of the reader: %v", err)
		}
		c = scripted(func(ctx context.Context, d *mixer) error {
			d.add(0, level(3, 10*time.Millisecond))
			wait(ctx, 30*time.Millisecond)
			return broken
		})
		var got []int16
		err := c.Run(t.Context(), func(channels ...[]int16) error { got = append(got, channels[0]...); return nil })
		if !errors.Is(err, broken) {
			t.Errorf("an error of the backend: %v", err)
		}
		if len(got) != 10*millisecond || got[0] != 3 {
			t.Errorf("the last sound was %d samples", len(got))
		}
		started := make(chan struct{})
		c = scripted(func(ctx context.Context, d *mixer) error { close(started); <-ctx.Done(); return nil })
		ctx, cancel := context.WithCancel(t.Context())
		go c.Run(ctx, func(...[]int16) error { return nil })
		<-started
		if err := c.Run(ctx, nil); hearken.CodeOf(err) != hearken.Busy {
			t.Errorf("a second Run: %v", err)
		}
		cancel()
		synctest.Wait()
	})
}

// Whatever two devices do, clocks that are off by 0.05 %, arrivals that are
// late, the beat that both hear at the same moment stays together and in its
// place on the session's clock.
func TestDeviceTrack_Drift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const length = 60 * hearken.SampleRate
		l := &deviceTrack{}
		skew := rapid.Float64Range(-0.0005, 0.0005).Draw(t, "skew")
		size := rapid.Int64Range(5, 45).Draw(t, "fragment") * millisecond
		late := rapid.SliceOfN(rapid.Int64Range(0, 60*millisecond), 50, 50).Draw(t, "late")
		// Now and then the computer has time: for as long as it takes to work
		// off what the latest held up. A lateness that never ends cannot be told
		// from a longer way.
		clear(late[len(late)-13:])
		late[0] = 0
		var out []int16
		chunk := make([]int16, size)
		arrived := int64(0)
		for made := int64(0); ; made += size {
			for i := range chunk {
				// The moment at which the device hears this sample, by its own
				// clock; there is a beat of 5 ms once a second.
				moment := int64(float64(made+int64(i)) * (1 + skew))
				chunk[i] = 0
				if moment%hearken.SampleRate < 5*millisecond {
					chunk[i] = 10000
				}
			}
			ready := int64(float64(made+size) * (1 + skew))
			if ready > length {
				break
			}
			arrived = max(arrived, ready+late[int(made/size)%len(late)])
			l.add(chunk, arrived)
			if done := arrived - maxWait; done > int64(len(out)) {
				block := make([]int16, done-int64(len(out)))
				l.take(block, int64(len(out)))
				out = append(out, block...)
			}
		}
		checkBeats(t, out)
	})
}

// checkBeats looks for each beat near its place, but for the first seconds,
// in which a track finds its own.
func checkBeats(t *rapid.T, out []int16) {
	beats := 0
	for second := int64(8); (second+1)*hearken.SampleRate < int64(len(out)); second++ {
		at := second * hearken.SampleRate
		near := out[at-25*millisecond : at+30*millisecond]
		loud := 0
		for _, s := range near {
			if s > 0 {
				loud++
			}
		}
		if loud < 4*millisecond || loud > 6*millisecond {
			t.Fatalf("at %d s there are %d samples of a beat of %d", second, loud, 5*millisecond)
		}
		beats++
	}
	if beats < 45 {
		t.Fatalf("%d beats", beats)
	}
}

// A computer that is too busy for a while delays sound, and tears nothing.
func TestDeviceTrack_Busy(t *testing.T) {
	l := &deviceTrack{}
	const size = 20 * millisecond
	chunk := make([]int16, size)
	var want []int16
	for i := range int64(1000) {
		for j := range chunk {
			chunk[j] = int16(i*7 + int64(j)*3)
		}
		late := int64(0)
		if i > 100 && i < 800 { // for 14 s, by up to 0.7 s
			late = min(i-100, 800-i) * 2 * millisecond
		}
		l.add(chunk, (i+1)*size+late)
		want = append(want, chunk...)
	}
	got := make([]int16, len(want))
	l.take(got, 0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("sound was cut or moved")
	}
}

func TestDeviceTrack_Lost(t *testing.T) {
	l := &deviceTrack{}
	at := int64(0)
	feed := func(d time.Duration, v int16) {
		for range d / (20 * time.Millisecond) {
			at += 20 * millisecond
			l.add(level(v, 20*time.Millisecond), at)
		}
	}
	feed(3*time.Second, 1)
	at += 200 * millisecond // the server threw this away
	feed(time.Minute, 2)
	if off := l.end() - at; off < -tolerance || off > tolerance {
		t.Errorf("after a loss the track is off by %d ms", off/millisecond)
	}
}

func TestFlattest(t *testing.T) {
	samples := make([]int16, correctEvery)
	for i := range samples {
		samples[i] = int16(1000 * math.Sin(float64(i)/8))
	}
	samples[40], samples[41], samples[42] = 3, 3, 3
	if i := flattest(samples); i != 41 {
		t.Errorf("sample %d", i)
	}
	if i := flattest(samples[:2]); i != 1 {
		t.Errorf("of two samples %d", i)
	}
}
