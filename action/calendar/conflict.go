package calendar

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// query asks for the objects of a kind that a filter lets through.
const query = `<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<D:prop><D:getetag/><C:calendar-data/></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="%s">%s</C:comp-filter></C:comp-filter></C:filter>
</C:calendar-query>`

const (
	mostConflicts    = 5
	conflictPatience = 3 * time.Second
)

// Conflicts lists the titles of events that take time between start and end in
// the calendar for appointments: a hint for who decides, not a judgement. It
// takes three seconds at most, and at most five are told.
func (c *CalDAV) Conflicts(ctx context.Context, start, end time.Time) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, conflictPatience)
	defer cancel()
	place, err := c.place(ctx, anAppointment, false)
	if err != nil {
		return nil, err
	}
	span := fmt.Sprintf(`<C:time-range start="%s" end="%s"/>`, start.UTC().Format(utcForm), end.UTC().Format(utcForm))
	entries, _, err := c.ask(ctx, "REPORT", place.url, "1", fmt.Sprintf(query, event, span))
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, e := range entries {
		for _, v := range components(e.props().Data) {
			if v.kind != event || v.text("TRANSP") == "TRANSPARENT" || v.text("STATUS") == "CANCELLED" {
				continue
			}
			title := short(v.text("SUMMARY"), 80)
			if title == "" {
				title = "an event without a title"
			}
			if !slices.Contains(titles, title) && len(titles) < mostConflicts {
				titles = append(titles, title)
			}
		}
	}
	return titles, nil
}
