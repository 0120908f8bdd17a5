package injection

import (
	"runtime"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

func TestMain(m *testing.M) { hubtest.Main(m) }

// TestSiege has an agent with a shell try to approve its own action.
func TestSiege(t *testing.T) {
	t.Parallel()
	s, err := Besiege(t.Context(), hubtest.Binary(t), t.TempDir(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Breaches {
		t.Error(b)
	}
	if s.Evaluated > 6 {
		t.Errorf("%d guesses were looked at", s.Evaluated)
	}
	t.Logf("%d attempts %v, %d guesses of which %d were looked at", s.Attempts, s.Doors, s.Guesses, s.Evaluated)
}

// TestSiege_Owner has the owner do by the same means what no agent can.
func TestSiege_Owner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("types in a terminal by script(1) of util-linux")
	}
	if err := Hold(t.Context(), hubtest.Binary(t), t.TempDir()); err != nil {
		t.Fatal(err)
	}
}

// TestSiege_Thefts has an agent remove and exchange what verifies the PIN.
func TestSiege_Thefts(t *testing.T) {
	for _, theft := range Thefts() {
		t.Run(theft.Name, func(t *testing.T) {
			t.Parallel()
			breaches, err := Steal(t.Context(), hubtest.Binary(t), t.TempDir(), theft)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range breaches {
				t.Error(b)
			}
		})
	}
}
