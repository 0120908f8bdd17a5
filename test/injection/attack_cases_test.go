package injection

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

func TestMain(m *testing.M) { hubtest.Main(m) }

// TestAttacks has an agent with a shell try to approve its own action.
// HEARKEN_TEST_GUESS_SECONDS asks for more than a second of guessing PINs.
func TestAttacks(t *testing.T) {
	t.Parallel()
	seconds := 1
	if text := os.Getenv("HEARKEN_TEST_GUESS_SECONDS"); text != "" {
		var err error
		if seconds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	r, err := runAttacks(t.Context(), hubtest.Binary(t), t.TempDir(), time.Duration(seconds)*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.breaches {
		t.Error(b)
	}
	if r.evaluated > 6 {
		t.Errorf("%d guesses were evaluated", r.evaluated)
	}
	t.Logf("%d attacks %v, %d guesses of which %d were evaluated", r.attacks, r.via, r.guesses, r.evaluated)
}

// TestAttacks_Owner has the owner do by the same means what no agent can.
func TestAttacks_Owner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("types in a terminal by script(1) of util-linux")
	}
	if err := ownerApproves(t.Context(), hubtest.Binary(t), t.TempDir()); err != nil {
		t.Fatal(err)
	}
}

// TestAttacks_Verifier has an agent remove and exchange what verifies the PIN.
func TestAttacks_Verifier(t *testing.T) {
	for _, way := range tamperings() {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			breaches, err := tamper(t.Context(), hubtest.Binary(t), t.TempDir(), way)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range breaches {
				t.Error(b)
			}
		})
	}
}
