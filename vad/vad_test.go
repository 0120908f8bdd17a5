package vad_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/vad"
)

// models is the model cache, or the test is skipped.
func models(t testing.TB) string {
	t.Helper()
	root := os.Getenv("HEARKEN_MODELS")
	if root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("no model cache: ", err)
		}
		root = filepath.Join(cache, "hearken")
	}
	if _, err := os.Stat(root); err != nil {
		t.Skip("no models; hearken models pull, or set HEARKEN_MODELS: ", err)
	}
	return root
}

func load(t testing.TB) *vad.Model {
	t.Helper()
	root := models(t)
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

// recording reads the samples of a 16 kHz wav file, or skips the test.
func recording(t testing.TB, name string) []float32 {
	t.Helper()
	dir := os.Getenv("HEARKEN_SPEECH")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "speech")
	}
	file, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skip("no recordings; set HEARKEN_SPEECH: ", err)
	}
	const header = 44
	pcm := make([]float32, (len(file)-header)/2)
	for i := range pcm {
		pcm[i] = float32(int16(binary.LittleEndian.Uint16(file[header+2*i:]))) / (1 << 15)
	}
	return pcm
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
		file      string
		low, high float64
	}{
		{"jfk.wav", 0.5, 0.95},
		{"lj-LJ001-0001.wav", 0.7, 1},
		{"silence10.wav", 0, 0},
		{"white-30db.wav", 0, 0.01},
		{"esc10-rain-1-17367-A-10.wav", 0, 0.05},
	} {
		t.Run(test.file, func(t *testing.T) {
			pcm := recording(t, test.file)
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
	pcm := recording(t, "jfk.wav")
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
	root := models(t)
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
