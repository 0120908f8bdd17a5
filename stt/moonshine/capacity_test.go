package moonshine

import (
	"errors"
	"testing"
)

func TestCapacity(t *testing.T) {
	for _, tt := range []struct {
		cores int
		cost  float64
		want  int
	}{
		{2, 0.015, 38}, {2, 0.04, 16}, {8, 0.04, 65},
		{2, 1, 4}, // too slow for anybody, but two for each core may try
	} {
		if got := maxStreams(tt.cores, tt.cost); got != tt.want {
			t.Errorf("%d cores at %v carry %d streams, not %d", tt.cores, tt.cost, got, tt.want)
		}
	}
}

func TestMeasureCost(t *testing.T) {
	m := &Model{network: &script{}, rt: openRuntime(t), vocab: newVocab(pieces())}
	cost, err := measureCost(t.Context(), m)
	if err != nil || cost < 0 || cost > maxCost {
		t.Errorf("a network that does nothing costs %v: %v", cost, err)
	}
	broken := errors.New("broken")
	m.network = &script{fail: broken}
	if _, err := measureCost(t.Context(), m); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}
