package scribe_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/store/storetest"
	"github.com/hearken-dev/hearken/stt/stttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stored is a scribe that only reads what is kept.
type stored struct {
	*scribe.Scribe
	store *storetest.Memory
}

func newStored(t *testing.T) *stored {
	t.Helper()
	store := storetest.NewMemory()
	hub, err := live.Open(t.Context(), live.Config{Dir: t.TempDir(), Store: store, Providers: []hearken.Provider{stttest.Null{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hub.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &stored{store: store, Scribe: scribe.New(scribe.Config{Hub: hub, Capture: func(context.Context) (hearken.Capture, error) {
		return nil, errors.New("there is no sound here")
	}})}
}
