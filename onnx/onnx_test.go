package onnx_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/onnx/graph"
	"github.com/hearken-dev/hearken/test/speech"
)

// open loads the library from the model cache.
func open(t testing.TB) *onnx.Runtime {
	t.Helper()
	rt, err := onnx.Open(onnx.FindLibrary(filepath.Join(speech.Models(t), "lib")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := rt.Live(); n != 0 {
			t.Errorf("%d values or sessions were not closed", n)
		}
		rt.Close()
	})
	return rt
}

// twice is a model that adds x [1, n] to itself and to y, of one element.
func twice() []byte {
	open := []graph.Dim{{Size: 1}, {Name: "n"}}
	m := &graph.Model{
		Opsets: []graph.Opset{{Version: 14}},
		Graph: &graph.Graph{
			Name:    "twice",
			Inputs:  []*graph.Value{graph.NewValue("x", graph.Float32, open...), graph.NewValue("y", graph.Float32, graph.Dim{Size: 1})},
			Outputs: []*graph.Value{graph.NewValue("sum", graph.Float32, open...), graph.NewValue("size", graph.Int64, graph.Dim{Size: 2})},
			Nodes: []*graph.Node{
				{Op: "Add", In: []string{"x", "x"}, Out: []string{"xx"}},
				{Op: "Add", In: []string{"xx", "y"}, Out: []string{"sum"}},
				{Op: "Shape", In: []string{"sum"}, Out: []string{"size"}},
			},
		},
	}
	return append([]byte{0x08, 8}, m.Write()...) // and the version of the format
}

// file writes a model to a file.
func file(t testing.TB, model []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, model, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func loadLibrary(t testing.TB, rt *onnx.Runtime, model []byte) *onnx.Session {
	t.Helper()
	s, err := rt.Open(file(t, model))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func value[T onnx.Element](t *testing.T, rt *onnx.Runtime, data []T, shape ...int64) *onnx.Value {
	t.Helper()
	v, err := onnx.NewTensor[T](rt, shape...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	copy(onnx.Data[T](v), data)
	return v
}

func TestSession_Ports(t *testing.T) {
	s := loadLibrary(t, open(t), twice())
	want := []onnx.Port{{Name: "x", Type: onnx.Float32, Shape: []int64{1, -1}}, {Name: "y", Type: onnx.Float32, Shape: []int64{1}}}
	for _, port := range want {
		got, ok := s.Input(port.Name)
		if diff := cmp.Diff(port, got); diff != "" || !ok {
			t.Error(diff, ok)
		}
	}
	if p, ok := s.Output("size"); !ok || p.Type != onnx.Int64 {
		t.Errorf("output size is %v, %v", p, ok)
	}
	if _, err := s.NewCall([]string{"z"}, nil); err == nil {
		t.Error("no error for an input that is not there")
	}
}

func TestCall_Run(t *testing.T) {
	rt := open(t)
	s := loadLibrary(t, rt, twice())
	c, err := s.NewCall([]string{"x", "y"}, []string{"sum", "size"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetInput(0, value(t, rt, []float32{1, 2, 3}, 1, 3))
	c.SetInput(1, value(t, rt, []float32{0.5}, 1))
	into := value(t, rt, []float32{}, 1, 3)
	for _, given := range []bool{false, true, true, false} {
		clear(onnx.Data[float32](into))
		c.SetOutput(0, nil)
		if given {
			c.SetOutput(0, into)
		}
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		out := into
		if !given {
			out = c.Take(0)
			defer out.Close()
		}
		if diff := cmp.Diff([]float32{2.5, 4.5, 6.5}, onnx.Data[float32](out)); diff != "" {
			t.Errorf("given %v: %s", given, diff)
		}
		size := c.Take(1)
		if diff := cmp.Diff([]int64{1, 3}, onnx.Data[int64](size)); diff != "" {
			t.Error(diff)
		}
		size.Close()
		if c.Take(1) != nil {
			t.Error("a result was handed over twice")
		}
	}
}

func TestCall_RunFails(t *testing.T) {
	rt := open(t)
	c, err := loadLibrary(t, rt, twice()).NewCall([]string{"x", "y"}, []string{"sum"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetInput(0, value(t, rt, []int64{1}, 1, 1)) // of the wrong type
	c.SetInput(1, value(t, rt, []float32{1}, 1))
	if err := c.Run(); err == nil || !strings.Contains(err.Error(), "x") {
		t.Errorf("error is %v", err)
	}
	if c.Take(0) != nil {
		t.Error("a failed run has a result")
	}
}

func TestData_OtherType(t *testing.T) {
	rt := open(t)
	if onnx.Data[int64](value(t, rt, []float32{1, 2, 3, 4}, 4)) != nil {
		t.Error("data of another type")
	}
}

// Several goroutines share a session, and nothing is left behind.
func TestSession_Concurrent(t *testing.T) {
	rt := open(t)
	s := loadLibrary(t, rt, twice())
	before := rt.Live()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := 1; n < 200; n++ {
				if got, err := sum(rt, s, n, float32(g)); err != nil || got != float32(2*n+g) {
					t.Errorf("sum is %v, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := rt.Live(); n != before {
		t.Errorf("%d values live, %d before", n, before)
	}
}

func sum(rt *onnx.Runtime, s *onnx.Session, n int, y float32) (float32, error) {
	c, err := s.NewCall([]string{"x", "y"}, []string{"sum", "size"})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	x, err := onnx.NewTensor[float32](rt, 1, int64(n))
	if err != nil {
		return 0, err
	}
	defer x.Close()
	b, err := onnx.NewTensor[float32](rt, 1)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	onnx.Data[float32](x)[n-1], onnx.Data[float32](b)[0] = float32(n), y
	c.SetInput(0, x)
	c.SetInput(1, b)
	if err := c.Run(); err != nil {
		return 0, err
	}
	out := c.Take(0)
	defer out.Close()
	return onnx.Data[float32](out)[n-1], nil
}

func TestOpen_Damaged(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, onnx.LibraryName())
	if err := os.WriteFile(text, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"Missing": filepath.Join(dir, "none.so"), "Directory": dir, "Text": text} {
		t.Run(name, func(t *testing.T) {
			_, err := onnx.Open(path)
			e, ok := errors.AsType[*hearken.Error](err)
			if !ok || e.Code != hearken.ProviderNotConfigured || !strings.Contains(e.Message, path) || e.Try != "hearken models pull" {
				t.Errorf("error is %#v", err)
			}
		})
	}
}

func TestLoad_Damaged(t *testing.T) {
	rt := open(t)
	whole := twice()
	for name, model := range map[string][]byte{"Empty": nil, "Cut": whole[:len(whole)/2], "Text": []byte("not a model")} {
		t.Run(name, func(t *testing.T) {
			if s, err := rt.Open(file(t, model)); err == nil {
				s.Close()
				t.Error("a damaged model was loaded")
			}
		})
	}
}

func BenchmarkCall(b *testing.B) {
	rt := open(b)
	s := loadLibrary(b, rt, twice())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sum(rt, s, 8, 1); err != nil {
			b.Fatal(err)
		}
	}
}
