package moonshine

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/test/speech"
)

func openRuntime(t testing.TB) *onnx.Runtime {
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

// published makes a directory with a model as it is published, without the
// rewritten graphs that the cache may hold.
func published(t testing.TB, name string) string {
	t.Helper()
	from, dir := filepath.Join(speech.Models(t), "moonshine", name), t.TempDir()
	for _, file := range []string{encoderFile, decoderFile, "tokenizer.txt"} {
		path, err := filepath.Abs(filepath.Join(from, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func loadModel(t testing.TB, rt *onnx.Runtime, dir string, o ModelOptions) *Model {
	t.Helper()
	m, err := LoadModel(rt, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func transcribe(t testing.TB, m *Model, pcm []float32, draft []int32) Result {
	t.Helper()
	r, err := m.Transcribe(t.Context(), pcm, draft)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const jfk = "and so my fellow americans ask not what your country can do for you ask what you can do for your country"

func TestModel_Transcribe(t *testing.T) {
	rt := openRuntime(t)
	for _, name := range []string{"tiny-en", "base-en"} {
		dir := published(t, name)
		if err := Rewrite(dir); err != nil {
			t.Fatal(err)
		}
		for _, unmodified := range []bool{false, true} {
			m := loadModel(t, rt, dir, ModelOptions{Unmodified: unmodified})
			r := transcribe(t, m, speech.Get(t, "jfk").Floats(), nil)
			if wordErrors(jfk, r.Text) > 0.1 {
				t.Errorf("%s, unmodified %v: %q", name, unmodified, r.Text)
			}
			if len(r.LogProbs) != len(r.Tokens) || len(r.Margins) != len(r.Tokens) || r.Looped || r.Capped || r.Steps != len(r.Tokens)+1 {
				t.Errorf("%s, unmodified %v: %+v", name, unmodified, r)
			}
			for i, p := range r.LogProbs {
				if p > 0 || p < -10 || r.Margins[i] < 0 {
					t.Errorf("token %d has the log-probability %v and the margin %v", i, p, r.Margins[i])
				}
			}
			for _, file := range []string{"silence10", "white-30db"} {
				if r := transcribe(t, m, speech.Get(t, file).Floats(), nil); r.Text != "" {
					t.Errorf("%s, unmodified %v: %s says %q", name, unmodified, file, r.Text)
				}
			}
		}
	}
}

// Sound of every kind is taken, however odd.
func TestModel_OddSound(t *testing.T) {
	rt := openRuntime(t)
	dir := published(t, "tiny-en")
	if err := Rewrite(dir); err != nil {
		t.Fatal(err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	loud := make([]float32, hearken.SampleRate)
	for i := range loud {
		loud[i] = 1000
	}
	for _, unmodified := range []bool{false, true} {
		m := loadModel(t, rt, dir, ModelOptions{Unmodified: unmodified})
		for name, pcm := range map[string][]float32{
			"Nothing": nil, "OneSample": {0.5}, "Short": make([]float32, 100), "NotNumbers": {nan, inf, -inf, 0.1}, "Loud": loud,
		} {
			r := transcribe(t, m, pcm, nil)
			if len(r.Tokens) > 8 {
				t.Errorf("%s, unmodified %v: %q", name, unmodified, r.Text)
			}
		}
	}
}

func TestModel_TooLong(t *testing.T) {
	m := &Model{network: &script{}, vocab: newVocab(pieces()), rate: tokensPerSecond}
	if _, err := m.Transcribe(t.Context(), make([]float32, maxAudio+1), nil); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("error is %v", err)
	}
}

// The maxAudio sound fits into both forms of a model.
func TestModel_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	rt := openRuntime(t)
	dir := published(t, "tiny-en")
	if err := Rewrite(dir); err != nil {
		t.Fatal(err)
	}
	m := loadModel(t, rt, dir, ModelOptions{TokensPerSecond: 13})
	if _, err := m.Transcribe(t.Context(), make([]float32, maxAudio), nil); err != nil {
		t.Error(err)
	}
}

func TestModel_Draft(t *testing.T) {
	rt := openRuntime(t)
	dir := published(t, "tiny-en")
	if err := Rewrite(dir); err != nil {
		t.Fatal(err)
	}
	pcm := speech.Get(t, "jfk").Floats()
	for _, unmodified := range []bool{false, true} {
		m := loadModel(t, rt, dir, ModelOptions{Unmodified: unmodified})
		plain := transcribe(t, m, pcm, nil)
		for name, draft := range map[string][]int32{
			"Right":   plain.Tokens[:len(plain.Tokens)-2],
			"Wrong":   {1000, 1001, 1002},
			"HalfWay": append(plain.Tokens[:8:8], 1000, 1001, 1002),
		} {
			r := transcribe(t, m, pcm, draft)
			if wordErrors(plain.Text, r.Text) > 0.1 {
				t.Errorf("%s, unmodified %v: %q and not %q", name, unmodified, r.Text, plain.Text)
			}
			if name == "Right" && r.Steps > plain.Steps/2 {
				t.Errorf("a right draft takes %d steps, none takes %d", r.Steps, plain.Steps)
			}
		}
	}
}

func TestModel_Concurrent(t *testing.T) {
	rt := openRuntime(t)
	dir := published(t, "tiny-en")
	if err := Rewrite(dir); err != nil {
		t.Fatal(err)
	}
	m := loadModel(t, rt, dir, ModelOptions{})
	pcm := speech.Get(t, "jfk").Floats()
	want := transcribe(t, m, pcm, nil)
	live := rt.Live()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2 {
				r, err := m.Transcribe(context.Background(), pcm, nil)
				if diff := cmp.Diff(want.Tokens, r.Tokens); err != nil || diff != "" {
					t.Error(err, diff)
				}
			}
		})
	}
	wg.Wait()
	if n := rt.Live(); n != live {
		t.Errorf("%d values live, %d before", n, live)
	}
}

func TestModel_Cancelled(t *testing.T) {
	rt := openRuntime(t)
	m := loadModel(t, rt, published(t, "tiny-en"), ModelOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Transcribe(ctx, speech.Get(t, "jfk").Floats(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestLoadModel_Damaged(t *testing.T) {
	rt := openRuntime(t)
	for _, file := range []string{encoderFile, decoderFile, "tokenizer.txt"} {
		for _, how := range []string{"Missing", "Cut", "Empty", "Other"} {
			t.Run(file+how, func(t *testing.T) {
				dir := published(t, "tiny-en")
				path := filepath.Join(dir, file)
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				content := map[string][]byte{"Cut": whole[:len(whole)/3], "Empty": {}, "Other": []byte("something else")}[how]
				if how == "Cut" && file == "tokenizer.txt" {
					content = whole[:500]
				}
				if how != "Missing" {
					if err := os.WriteFile(path, content, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				_, err = LoadModel(rt, dir, ModelOptions{})
				e, ok := errors.AsType[*hearken.Error](err)
				if !ok || e.Code != hearken.ProviderNotConfigured || !strings.Contains(e.Message, path) || e.Try != "hearken models pull" {
					t.Errorf("error is %v", err)
				}
			})
		}
	}
}
