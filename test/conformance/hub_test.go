package conformance

import (
	"testing"

	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
)

func TestMain(m *testing.M) { hubtest.Main(m) }

// startHub runs the program until the test ends. Clients over stdio join it and
// start no other.
func startHub(t *testing.T) *hubtest.Hub {
	t.Helper()
	h := hubtest.Start(t, "HEARKEN_MODELS="+speech.Models(t), "HEARKEN_SPAWN=false")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the hub's log:\n%s", h.Log())
		}
	})
	return h
}
