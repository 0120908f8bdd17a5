package moonshine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken/onnx/graph"
	"github.com/hearken-dev/hearken/test/speech"
)

// The rewritten graphs say what the published ones say.
func TestRewrite(t *testing.T) {
	rt := openRuntime(t)
	for name, files := range map[string][]string{
		"tiny-en": {"jfk", "lj-LJ001-0001", "ls-1089-134686-0000", "ps-0870", "ls-other-367-130732-0008"},
		"base-en": {"jfk", "lj-LJ001-0005"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := published(t, name)
			if Rewritten(dir) {
				t.Fatal("a published model counts as rewritten")
			}
			if err := Rewrite(dir); err != nil {
				t.Fatal(err)
			}
			var sounds [][]float32
			for _, f := range files {
				sounds = append(sounds, speech.Get(t, f).Floats())
			}
			d, err := compareModels(t.Context(), rt, dir, sounds)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(d)
			if d.sure < 20 || d.tooMuch() {
				t.Error(d)
			}
			if !Rewritten(dir) {
				t.Error("a rewritten model does not count as one")
			}
		})
	}
}

// Without recordings, sounds that are made on the spot do.
func TestVerify_OwnSounds(t *testing.T) {
	rt := openRuntime(t)
	dir := published(t, "tiny-en")
	if err := Rewrite(dir); err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.Context(), rt, dir, nil); err != nil || !Rewritten(dir) {
		t.Error(err)
	}
}

// A rewritten model that says something else does not survive.
func TestVerify_Wrong(t *testing.T) {
	rt := openRuntime(t)
	dir := published(t, "tiny-en")
	if err := Rewrite(dir); err != nil {
		t.Fatal(err)
	}
	_, path, err := rewrittenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := graph.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range m.Graph.Nodes {
		if n.Op == "GroupQueryAttention" {
			n.Attr("rotary_interleaved").I = 0 // positions turn the wrong way
		}
	}
	if err := os.WriteFile(path, m.Write(), 0o600); err != nil {
		t.Fatal(err)
	}
	sounds := [][]float32{speech.Get(t, "jfk").Floats(), speech.Get(t, "lj-LJ001-0001").Floats()}
	if err := Verify(t.Context(), rt, dir, sounds); err == nil || Rewritten(dir) {
		t.Errorf("error is %v, rewritten graphs are there: %v", err, Rewritten(dir))
	}
	m2 := loadModel(t, rt, dir, ModelOptions{})
	if r := transcribe(t, m2, sounds[0], nil); wordErrors(jfk, r.Text) > 0.1 {
		t.Errorf("the published model says %q", r.Text)
	}
}

// The sounds that Verify makes must make a model say something.
func TestTestSounds(t *testing.T) {
	rt := openRuntime(t)
	m := loadModel(t, rt, published(t, "tiny-en"), ModelOptions{})
	tokens := 0
	for _, pcm := range testRecordings() {
		tokens += len(transcribe(t, m, pcm, nil).Tokens)
	}
	if tokens < 10 {
		t.Errorf("%d tokens", tokens)
	}
}

// What is not known is left alone.
func TestRewrite_Unknown(t *testing.T) {
	dir := t.TempDir()
	m := &graph.Model{Graph: &graph.Graph{Name: "other", Nodes: []*graph.Node{{Op: "Add"}}}}
	for _, file := range []string{encoderFile, decoderFile} {
		if err := os.WriteFile(filepath.Join(dir, file), m.Write(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Rewrite(dir); err == nil || Rewritten(dir) {
		t.Errorf("error is %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
}

// Rewritten graphs that are damaged, or were made of other files, are passed
// over: the published ones run.
func TestRewrite_Unfit(t *testing.T) {
	rt := openRuntime(t)
	for name, spoil := range map[string]func(t *testing.T, dir, encoder, decoder string){
		"NoEncoder": func(t *testing.T, _, encoder, _ string) { remove(t, encoder) },
		"CutDecoder": func(t *testing.T, _, _, decoder string) {
			if err := os.Truncate(decoder, 1<<20); err != nil {
				t.Fatal(err)
			}
		},
		"OtherModel": func(t *testing.T, dir, _, _ string) { // of the same form, with another ear
			path := filepath.Join(dir, encoderFile)
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			remove(t, path)                   // it may be a link
			file = append(file, 0x12, 1, 'x') // the name of who made it, once more
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := published(t, "tiny-en")
			if err := Rewrite(dir); err != nil {
				t.Fatal(err)
			}
			encoder, decoder, err := rewrittenFiles(dir)
			if err != nil {
				t.Fatal(err)
			}
			spoil(t, dir, encoder, decoder)
			if Rewritten(dir) {
				t.Error("it counts as rewritten, so that nothing would mend it")
			}
			m := loadModel(t, rt, dir, ModelOptions{})
			if _, ok := m.network.(*publishedNetwork); !ok || m.notRewritten == nil {
				t.Errorf("%T runs: %v", m.network, m.notRewritten)
			}
			if _, err := compareModels(t.Context(), rt, dir, testRecordings()[:1]); err == nil {
				t.Error("the published graphs were compared with themselves")
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// Graphs of an older form do no harm and do not stay.
func TestRewrite_OtherForm(t *testing.T) {
	dir := published(t, "tiny-en")
	old := filepath.Join(dir, "hearken_decoder.0.onnx")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if Rewritten(dir) {
		t.Error("an older form counts as rewritten")
	}
	if err := Rewrite(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) || !Rewritten(dir) {
		t.Errorf("the older form is still there: %v", err)
	}
}

func TestColumns(t *testing.T) {
	a := &matrix{in: 2, out: 2, bytes: []byte{1, 2, 3, 4}, scales: []float32{1, 2}, zeros: []byte{5, 6}}
	b := &matrix{in: 2, out: 1, bytes: []byte{7, 8}, scales: []float32{3}, zeros: []byte{9}}
	got, err := joinColumns([]*matrix{a, b}, func(i int) []int { return [][]int{{1, -1, 0}, {0}}[i] })
	if err != nil {
		t.Fatal(err)
	}
	want := &matrix{in: 2, out: 4, bytes: []byte{2, 0, 1, 7, 4, 0, 3, 8}, scales: []float32{2, 1, 1, 3}, zeros: []byte{6, 0, 5, 9}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(matrix{})); diff != "" {
		t.Error(diff)
	}
	if _, err := joinColumns([]*matrix{a, {in: 3, out: 1}}, func(int) []int { return nil }); err == nil {
		t.Error("matrices of different heights were joined")
	}
}

func TestMatrix_Pad(t *testing.T) {
	m := &matrix{in: 2, out: 2, bytes: []byte{1, 2, 3, 4}, scales: []float32{1, 1}, zeros: []byte{8, 9}}
	got := m.padHeads(2, 1, 2)
	if diff := cmp.Diff([]byte{1, 2, 8, 9, 3, 4, 8, 9}, got.bytes); diff != "" || got.in != 4 {
		t.Error(diff, got.in)
	}
}
