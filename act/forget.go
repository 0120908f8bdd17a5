package act

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hearken-dev/hearken"
)

// ForgetQuotes removes from all actions, whatever their state, what they quote
// of a session between two seconds of its clock. It returns how many actions
// that were. The actions say that the words were deleted, and keep their own
// texts. It works on the store, so that a hub without a queue can use it, too.
func ForgetQuotes(ctx context.Context, store hearken.ActionStore, session string, from, to float64) (int, error) {
	return forgetQuotes(ctx, store, session, func(e *hearken.Evidence) bool {
		return e.Session == session && e.Start < to && e.End > from
	})
}

// ForgetQuotes is like the function of that name. It also reaches the actions
// that are being proposed: their words may have been read before they were
// deleted.
func (q *Queue) ForgetQuotes(ctx context.Context, session string, from, to float64) (int, error) {
	release, err := q.holdProposing(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	n, err := ForgetQuotes(ctx, q.cfg.Store, session, from, to)
	if n > 0 {
		q.changed()
	}
	return n, err
}

// ForgetMissing removes the quotes of entries that no longer exist. There are
// some if the hub ended in the middle of a deletion, or if the deletion was made
// by a version that left quotes. It returns how many actions it changed.
func (q *Queue) ForgetMissing(ctx context.Context, exists func(ctx context.Context, session string, line int) (bool, error)) (int, error) {
	all, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{})
	if err != nil {
		return 0, err
	}
	type entry struct {
		session string
		line    int
	}
	missing := map[entry]bool{}
	for i := range all {
		for _, e := range all[i].Evidence {
			at := entry{e.Session, e.Line}
			if _, known := missing[at]; known || e.Session == "" {
				continue
			}
			found, err := exists(ctx, e.Session, e.Line)
			if err != nil {
				return 0, fmt.Errorf("find quoted entry: %w", err)
			}
			missing[at] = !found // for good, since lines are not used again
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(missing)), true) {
		return 0, nil
	}
	n, err := forgetQuotes(ctx, q.cfg.Store, "", func(e *hearken.Evidence) bool { return missing[entry{e.Session, e.Line}] })
	if n > 0 {
		q.changed()
	}
	return n, err
}

// forgetQuotes removes the words of all evidence that is deleted, which is from
// one session unless session is empty.
func forgetQuotes(ctx context.Context, store hearken.ActionStore, session string, deleted func(e *hearken.Evidence) bool) (int, error) {
	return store.ForgetInActions(ctx, session, func(a *hearken.Action) (changed bool) {
		for i := range a.Evidence {
			if e := &a.Evidence[i]; deleted(e) {
				forgetWords(e)
				changed = true
			}
		}
		return changed
	})
}

// forgetWords removes the words and where they were said. What remains says how
// far to trust the argument, which must not change.
func forgetWords(e *hearken.Evidence) {
	*e = hearken.Evidence{Arg: e.Arg, Source: e.Source, Echo: e.Echo, Overlap: e.Overlap, Deleted: true}
}
