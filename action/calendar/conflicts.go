package calendar

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// calendarQuery is a REPORT for the objects of a kind that match a filter.
const calendarQuery = `<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<D:prop><D:getetag/><C:calendar-data/></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="%s">%s</C:comp-filter></C:comp-filter></C:filter>
</C:calendar-query>`

const (
	maxConflicts    = 5
	conflictTimeout = 3 * time.Second
)

// Conflicts lists the titles of busy events between start and end in the
// calendar for appointments, at most five. It is a hint for the person who
// decides, and takes at most three seconds.
func (c *CalDAV) Conflicts(ctx context.Context, start, end time.Time) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, conflictTimeout)
	defer cancel()
	cal, err := c.calendarFor(ctx, anyAppointment, false)
	if err != nil {
		return nil, err
	}
	span := fmt.Sprintf(`<C:time-range start="%s" end="%s"/>`, start.UTC().Format(utcLayout), end.UTC().Format(utcLayout))
	entries, _, err := c.entries(ctx, "REPORT", cal.url, "1", fmt.Sprintf(calendarQuery, event, span))
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, e := range entries {
		for _, v := range parseComponents(e.props().Data) {
			if v.kind != event || v.text("TRANSP") == "TRANSPARENT" || v.text("STATUS") == "CANCELLED" {
				continue
			}
			title := shortLine(v.text("SUMMARY"), 80)
			if title == "" {
				title = "an event without a title"
			}
			titles = appendConflict(titles, title)
		}
	}
	return titles, nil
}

func appendConflict(titles []string, title string) []string {
	if len(titles) == maxConflicts || slices.Contains(titles, title) {
		return titles
	}
	return append(titles, title)
}
