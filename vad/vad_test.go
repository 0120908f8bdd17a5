package vad_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/vad"
)

func load(t testing.TB) *vad.Model {
	t.Helper()
	root := speech.Models(t)
	rt, err := onnx.Open(onnx.FindLibrary(filepath.Join(root, "lib")))
	if err != nil {
		t.Fatal(err)
	}
	m, err := vad.Load(rt, filepath.Join(root, "vad", "silero_vad_v6.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		if n := rt.Live(); n != 0 {
			t.Errorf("%d values or sessions were not closed", n)
		}
		rt.Close()
	})
	return m
}

// share is the part of the frames that are probably speech.
func share(d *vad.Detector, pcm []float32) (float64, error) {
	speech, all := 0, 0
	for ; len(pcm) >= vad.FrameSize; pcm = pcm[vad.FrameSize:] {
		p, err := d.Feed(pcm[:vad.FrameSize])
		if err != nil {
			return 0, err
		}
		all++
		if p >= 0.5 {
			speech++
		}
	}
	return float64(speech) / float64(all), nil
}

func TestDetector(t *testing.T) {
	m := load(t)
	for _, test := range []struct {
		clip      string
		low, high float64
	}{
		{"jfk", 0.5, 0.95},
		{"lj-LJ001-0001", 0.7, 1},
		{"ami-tst00", 0.5, 1},
		{"mfa-cv-ja", 0.3, 1},
		{"silence10", 0, 0},
		{"white-30db", 0, 0.01},
		{"esc10-rain-1-17367-A-10", 0, 0.05},
		{"esc10-dog-1-100032-A-0", 0, 0.05},
	} {
		t.Run(test.clip, func(t *testing.T) {
			pcm := speech.Get(t, test.clip).Floats()
			d, err := m.NewDetector()
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			first, err := share(d, pcm)
			if err != nil || first < test.low || first > test.high {
				t.Errorf("speech in %.2f of the frames, %v", first, err)
			}
			d.Reset()
			if again, err := share(d, pcm); err != nil || again != first {
				t.Errorf("after a reset speech in %.2f of the frames, %v", again, err)
			}
		})
	}
}

// Each detector follows its own stream.
func TestDetector_Concurrent(t *testing.T) {
	m := load(t)
	pcm := speech.Get(t, "jfk").Floats()
	shares := make([]float64, 4)
	var wg sync.WaitGroup
	for i := range shares {
		wg.Go(func() {
			d, err := m.NewDetector()
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			if shares[i], err = share(d, pcm); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range shares {
		if s != shares[0] || s == 0 {
			t.Fatalf("streams with the same sound have %v", shares)
		}
	}
}

func TestDetector_WrongSize(t *testing.T) {
	d, err := load(t).NewDetector()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, vad.FrameSize - 1, vad.FrameSize + 1} {
		if _, err := d.Feed(make([]float32, n)); err == nil {
			t.Errorf("no error for %d samples", n)
		}
	}
	d.Close()
	d.Close()
}

func TestLoad_Damaged(t *testing.T) {
	root := speech.Models(t)
	rt, err := onnx.Open(onnx.FindLibrary(filepath.Join(root, "lib")))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	whole, err := os.ReadFile(filepath.Join(root, "vad", "silero_vad_v6.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.onnx")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{cut, cut + ".none"} {
		_, err := vad.Load(rt, path)
		if e, ok := errors.AsType[*hearken.Error](err); !ok || e.Try != "hearken models pull" {
			t.Errorf("%s: error is %v", path, err)
		}
	}
	if n := rt.Live(); n != 0 {
		t.Errorf("%d values or sessions were not closed", n)
	}
}

func BenchmarkDetector(b *testing.B) {
	d, err := load(b).NewDetector()
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	frame := make([]float32, vad.FrameSize)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Feed(frame); err != nil {
			b.Fatal(err)
		}
	}
}
