package live

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// forgetStored is [Hub.Forget] for a session that is only in the store. The
// event comes first: if the hub ends before the words are deleted, the same call
// deletes them.
func (h *Hub) forgetStored(ctx context.Context, id string, d time.Duration) (n int, err error) {
	var from float64
	err = h.edit(ctx, eraseTimeout, func(ctx context.Context) error {
		info, err := h.stored(ctx, id)
		if err != nil {
			return err
		}
		last, err := h.findLast(ctx, info, d)
		if err != nil {
			return err
		}
		from = last.at.From
		for _, o := range channelOrigins {
			archived := newSpool("", filepath.Join(h.audioDir(), id, string(o)), 0, 0)
			if err := archived.discard(position(from)); err != nil {
				return err
			}
		}
		if n = last.entries; n == 0 {
			return nil
		}
		if !last.event {
			info.SegmentCount++
			if err := h.cfg.Store.Save(ctx, info, []hearken.Segment{last.forgottenEvent(info, d)}); err != nil {
				return storeFailed(err)
			}
		}
		return storeFailed(h.cfg.Store.Forget(ctx, id, from, math.Inf(1)))
	})
	if err != nil {
		return 0, err
	}
	_, err = h.onDeleted(ctx, id, from, math.Inf(1))
	return n, err
}

// A lastPart is the last part of a stored session.
type lastPart struct {
	at      stretch
	entries int       // how many entries were said in it
	event   bool      // whether an event already says that it was forgotten
	clock   time.Time // wall time of the session's first sample
}

// findLast finds the last d of a stored session. Sessions that were transcribed
// elsewhere may end after their duration.
func (h *Hub) findLast(ctx context.Context, info *hearken.Session, d time.Duration) (*lastPart, error) {
	var all []hearken.Segment
	last := &lastPart{at: stretch{To: info.Duration}, clock: info.StartedAt}
	err := h.segments(ctx, info.ID, false, func(batch []hearken.Segment) error {
		for i := range batch {
			seg := hearken.Segment{
				Origin: batch[i].Origin, Event: batch[i].EventKind(), StartTime: batch[i].StartTime, EndTime: batch[i].EndTime,
			}
			last.at.To = max(last.at.To, seg.EndTime)
			last.clock = batch[i].Timestamp.Add(-time.Duration(seg.StartTime * float64(time.Second)))
			all = append(all, seg)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	last.at.From = last.at.To - d.Seconds()
	for i := range all {
		seg := &all[i]
		if seg.SaidBetween(last.at.From, math.Inf(1)) {
			last.entries++
		}
		last.event = last.event || seg.Event == hearken.EventForgotten && seg.StartTime == max(0, last.at.From) && seg.EndTime == last.at.To
	}
	return last, nil
}

// forgottenEvent is the event that says that the part was forgotten. The session
// already counts it.
func (p *lastPart) forgottenEvent(info *hearken.Session, d time.Duration) hearken.Segment {
	from := max(0, p.at.From)
	return hearken.Segment{
		// No other entry has this epoch.
		ID: fmt.Sprintf("%s%d-%d", hearken.EventOrigin, info.Epoch+1, info.SegmentCount), Line: info.SegmentCount,
		Origin: hearken.EventOrigin, Status: hearken.Confirmed, Event: hearken.EventForgotten, Text: forgottenText(d),
		StartTime: from, EndTime: p.at.To, Words: []hearken.Word{}, IsFinal: true, Durable: true,
		Timestamp: p.clock.Add(time.Duration(from * float64(time.Second))).UTC().Truncate(time.Millisecond),
	}
}
