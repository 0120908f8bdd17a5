package act

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A slowExposures is a store that saves an exposure when it is released.
type slowExposures struct {
	release chan struct{}
	saves   atomic.Int32
}

func (s *slowExposures) SaveExposure(context.Context, string, time.Time) error {
	<-s.release
	s.saves.Add(1)
	return nil
}

func (s *slowExposures) Exposures(context.Context) (map[string]time.Time, error) { return nil, nil }

// Nobody gets a transcript before the reading is on disk, also not while another
// reader of the same key saves it, unless the store does not answer.
func TestExposure_WaitsForStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowExposures{release: make(chan struct{})}
		e, err := OpenExposure(t.Context(), ExposureConfig{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		var read atomic.Int32
		for range 2 {
			go func() {
				e.Read("key_a")
				read.Add(1)
			}()
		}
		synctest.Wait()
		if n := read.Load(); n != 0 {
			t.Errorf("%d have read before it was saved", n)
		}
		store.release <- struct{}{}
		synctest.Wait()
		if n := read.Load(); n != 2 || store.saves.Load() != 1 {
			t.Errorf("%d have read, and %d saved", n, store.saves.Load())
		}
		<-time.After(2 * exposureStep)
		e.Read("key_a") // returns although the store does not
		close(store.release)
	})
}
