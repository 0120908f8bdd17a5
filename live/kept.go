package live

import (
	"context"

	"github.com/hearken-dev/hearken"
)

// Save keeps entries of a session that was heard elsewhere and is over, as far
// as this hub is concerned. Who lists sessions finds it at once.
func (h *Hub) Save(ctx context.Context, info *hearken.Session, entries []hearken.Segment) error {
	return h.edit(ctx, saveWithin, func(ctx context.Context) error {
		if err := h.cfg.Store.Save(ctx, info, entries); err != nil {
			return storeFailed(err)
		}
		return nil
	})
}
