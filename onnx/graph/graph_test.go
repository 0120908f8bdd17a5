package graph_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken/onnx/graph"
)

// sample has one of everything that the package knows.
func sample() *graph.Model {
	inner := &graph.Graph{Name: "inner", Nodes: []*graph.Node{{Op: "Neg", In: []string{"w"}, Out: []string{"n"}}}, Outputs: []*graph.Value{graph.NewValue("n", graph.Float32)}}
	return &graph.Model{
		Opsets: []graph.Opset{{Version: 14}, {Domain: "com.microsoft", Version: 1}},
		Graph: &graph.Graph{
			Name:    "sample",
			Inputs:  []*graph.Value{graph.NewValue("x", graph.Int64, graph.Dim{Size: 3}, graph.Dim{Name: "n"})},
			Outputs: []*graph.Value{graph.NewValue("y", graph.Float32)},
			Weights: []*graph.Tensor{
				graph.FloatTensor("w", []float32{1, -2.5}, 2), graph.IntTensor("i", []int64{-1, 7}, 2),
				{Name: "b", Type: graph.Int8, Dims: []int64{2, 1}, Raw: []byte{1, 255}}, graph.FloatTensor("unused", nil, 0),
			},
			Nodes: []*graph.Node{
				{Name: "dead", Op: "Neg", In: []string{"unused"}, Out: []string{"z"}},
				{Name: "a", Op: "Foo", Domain: "com.microsoft", In: []string{"x", "", "i", "b"}, Out: []string{"c"}, Attrs: []*graph.Attr{
					graph.IntAttr("int", -3), graph.FloatAttr("float", 0.25), graph.IntsAttr("ints", 1, 2, -1),
					{Name: "floats", Type: graph.Floats, Floats: []float32{1, 2}},
					{Name: "text", Type: graph.String, S: []byte("hello")}, {Name: "tensor", Type: graph.TensorVal, T: graph.IntTensor("", []int64{5})},
				}},
				{Name: "branch", Op: "If", In: []string{"c"}, Out: []string{"y"}, Attrs: []*graph.Attr{{Name: "then_branch", Type: graph.GraphVal, G: inner}}},
			},
		},
	}
}

func TestModel_RoundTrip(t *testing.T) {
	file := append([]byte{0x08, 8}, sample().Write()...) // and the version of the format
	m, err := graph.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, m.Write()) {
		t.Error("a model that was read is written differently")
	}
	n := m.Graph.Nodes[1]
	if n.Name != "a" || n.Domain != "com.microsoft" {
		t.Fatalf("the second node is %+v", n)
	}
	if diff := cmp.Diff([]string{"x", "", "i", "b"}, n.In); diff != "" {
		t.Error(diff)
	}
	if n.Attr("int").I != -3 || n.Attr("float").F != 0.25 || string(n.Attr("text").S) != "hello" || n.Attr("none") != nil {
		t.Error("attributes were changed")
	}
	if diff := cmp.Diff([]int64{1, 2, -1}, n.Attr("ints").Ints); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float32{1, -2.5}, m.Graph.Weight("w").Float32s()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(graph.IntTensor("i", []int64{-1, 7}, 2).Raw, m.Graph.Weight("i").Raw); diff != "" {
		t.Error(diff)
	}
	shape, err := m.Graph.Inputs[0].Shape()
	if diff := cmp.Diff([]int64{3, -1}, shape); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A branch reads from the graph around it, which Prune must see.
func TestGraph_Prune(t *testing.T) {
	g := sample().Graph
	g.Prune()
	if len(g.Nodes) != 2 || g.Nodes[0].Name != "a" || g.Nodes[1].Name != "branch" {
		t.Errorf("left are %d nodes", len(g.Nodes))
	}
	if g.Weight("w") == nil || g.Weight("i") == nil || g.Weight("unused") != nil {
		t.Error("wrong weights are left")
	}
}

func TestRead_Damaged(t *testing.T) {
	file := sample().Write()
	for n := range file {
		m, err := graph.Read(file[:n])
		if err == nil && m.Graph == nil {
			t.Fatalf("no error and no graph after %d bytes", n)
		}
	}
	if _, err := graph.Read([]byte("this is not a model")); err == nil {
		t.Error("text was read as a model")
	}
}

// Numbers may also be stored one by one, as older exporters do.
func TestRead_Unpacked(t *testing.T) {
	// A model with a graph with one tensor: dims 2, type float32, float_data
	// 1 and 2, name t.
	tensor := []byte{0x08, 2, 0x10, 1, 0x25, 0, 0, 0x80, 0x3f, 0x25, 0, 0, 0, 0x40, 0x42, 1, 't'}
	g := append([]byte{0x2a, byte(len(tensor))}, tensor...)
	m, err := graph.Read(append([]byte{0x3a, byte(len(g))}, g...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{1, 2}, m.Graph.Weight("t").Float32s()); diff != "" {
		t.Error(diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample().Write())
	f.Add([]byte{0x3a, 0})
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := graph.Read(file)
		if err != nil {
			return
		}
		again, err := graph.Read(m.Write())
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Graph.Nodes) != len(m.Graph.Nodes) || len(again.Graph.Weights) != len(m.Graph.Weights) {
			t.Error("a model that was written has lost something")
		}
	})
}
