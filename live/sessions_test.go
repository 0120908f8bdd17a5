package live

import (
	"context"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// A lateStore answers a list with what it held before something happened.
type lateStore struct {
	hearken.Store
	meanwhile func()
}

func (s *lateStore) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	list, err := s.Store.Sessions(ctx, f)
	if meanwhile := s.meanwhile; meanwhile != nil {
		s.meanwhile = nil
		meanwhile()
	}
	return list, err
}

// A session that leaves memory for the store while a list is made is in it.
func TestHub_SessionStopsWhileListed(t *testing.T) {
	var store *lateStore
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 5)
		store.meanwhile = func() {
			if _, err := h.hub.Stop(h.Context(), id); err != nil {
				h.Error(err)
			}
			wait(time.Minute) // until memory lets go of it
		}
		list, err := h.hub.Sessions(h.Context(), hearken.SessionFilter{})
		if err != nil || len(list) != 1 || list[0].ID != id {
			h.Errorf("%v, %v", list, err)
		}
	}, func(c *Config) {
		store = &lateStore{Store: c.Store}
		c.Store = store
	})
}
