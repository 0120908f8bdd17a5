package act

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
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

// What another process has recorded in the same store counts at once, and if the
// store cannot say who has read, the owner is asked.
func TestExposure_OtherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewFaulty(storetest.NewMemory())
		var hubs [2]*Exposure
		for i := range hubs {
			var err error
			if hubs[i], err = OpenExposure(t.Context(), ExposureConfig{Store: store}); err != nil {
				t.Fatal(err)
			}
		}
		key := &hearken.Key{ID: "key_a"}
		if why := hubs[0].whyExposed(key); why != "" {
			t.Errorf("before anybody reads: %s", why)
		}
		hubs[1].Read(key.ID)
		if why := hubs[0].whyExposed(key); why == "" {
			t.Error("what was read through another process does not count")
		}
		<-time.After(defaultAfterReading + exposureStep)
		if why := hubs[0].whyExposed(key); why != "" {
			t.Errorf("half an hour later: %s", why)
		}
		store.Fail(errors.New("the disk is on fire"))
		if why := hubs[0].whyExposed(key); why == "" {
			t.Error("a grant applies though nobody knows who has read")
		}
	})
}
