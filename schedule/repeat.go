package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// maxRule is how many bytes a repetition may be.
const maxRule = 200

// ParseRepeat reads how something repeats that begins at a time: words such as
// "daily", "every Monday" or 毎日, or an RRULE of RFC 5545. It returns the rule
// in its canonical form, empty for once, and where the rule does not quite do
// what its author may think, a sentence that says so.
func ParseRepeat(text string, at time.Time, zone *time.Location) (rule, warn string, err error) {
	if zone == nil {
		zone = at.Location()
	}
	at = at.In(zone)
	if len(text) > maxRule {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "A repetition is at most %d bytes; this one has %d.", maxRule, len(text))
	}
	if strings.ContainsAny(strings.TrimSpace(text), "\r\n\x00") {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "A repetition is one line, without DTSTART or EXDATE.").WithTry("FREQ=WEEKLY;BYDAY=MO")
	}
	spelled, warn, ok := fromWords(text, at)
	if ok && spelled == "" {
		return "", "", nil
	}
	if !ok {
		if spelled = spelledRule(text); !strings.Contains(spelled, "=") {
			return "", "", hearken.Errorf(hearken.InvalidRepeat, "%s is no repetition that is known here.", quoted(text)).
				WithTry("none, daily, weekdays, weekly, monthly, yearly, \"every Monday\", or a rule such as FREQ=WEEKLY;BYDAY=MO,TH")
		}
	}
	r, err := parseRule(spelled, zone)
	if err != nil {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "The repetition %s is not right: %v.", quoted(text), err)
	}
	if !ok {
		warn = rareMonths(r, at)
	}
	first, err := r.occurs(at, zone)
	if err != nil {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "The repetition %s %v.", quoted(text), err)
	}
	if !first.Equal(at) {
		warn = strings.TrimSpace(fmt.Sprintf("The first time is %s, because the repetition leaves out %s. %s", stampOf(first), stampOf(at), warn))
	}
	if rule = r.String(); len(rule) > maxRule {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "A repetition is at most %d bytes; this one has %d when written out.", maxRule, len(rule))
	}
	return rule, warn, nil
}

// spelledRule is a rule as it should have been written.
func spelledRule(text string) string {
	text = strings.ToUpper(strings.Join(strings.Fields(text), ""))
	return strings.TrimPrefix(text, "RRULE:")
}

// rareMonths warns of a rule that leaves out months or years which are too
// short for its day.
func rareMonths(r *rule, at time.Time) string {
	if len(r.monthDays)+len(r.days)+len(r.yearDays) > 0 || at.Day() < 29 {
		return ""
	}
	switch {
	case r.freq == "MONTHLY":
		return fmt.Sprintf("Months without a day %d are left out; BYMONTHDAY=-1 is the last day of each.", at.Day())
	case r.freq == "YEARLY" && at.Month() == time.February:
		return "Years without a 29 February are left out."
	}
	return ""
}

// occurs is the first time of a rule. A repetition whose first or second time
// nobody here will see is a mistake.
func (r *rule) occurs(at time.Time, zone *time.Location) (time.Time, error) {
	s := newSeries(r, at, zone)
	s.reach = usefulWithin
	first, ok := s.next(at.Add(-1))
	if !ok || first.After(at.AddDate(ahead, 0, 0)) {
		return first, fmt.Errorf("never occurs within %d years of %s", ahead, stampOf(at))
	}
	limit := first.AddDate(ahead, 0, 0)
	second, ok := s.next(first)
	over := r.count == 1 || !r.until.IsZero() && r.until.Before(limit)
	if ok && second.After(limit) || !ok && !over {
		return first, fmt.Errorf("occurs on %s and then not within %d years", stampOf(first), ahead)
	}
	return first, nil
}
