package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// maxRule is how many bytes a rule may have.
const maxRule = 200

// ParseRepeat reads a recurrence that begins at a time: words such as "daily",
// "every Monday" or 毎日, or an RRULE of RFC 5545. It returns the rule in its
// canonical form, empty for a single time. The warning is a sentence about what
// the rule does that its author may not expect.
func ParseRepeat(text string, at time.Time, zone *time.Location) (rule, warning string, err error) {
	if zone == nil {
		zone = at.Location()
	}
	at = at.In(zone)
	if len(text) > maxRule {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "A repeat rule may have at most %d bytes; this one has %d.", maxRule, len(text))
	}
	if strings.ContainsAny(strings.TrimSpace(text), "\r\n\x00") {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "A repeat rule is one line, without DTSTART or EXDATE.").WithTry("FREQ=WEEKLY;BYDAY=MO")
	}
	ruleText, warning, ok := parsePhrase(text, at)
	if ok && ruleText == "" {
		return "", "", nil
	}
	if !ok {
		if ruleText = normalizeRule(text); !strings.Contains(ruleText, "=") {
			return "", "", hearken.Errorf(hearken.InvalidRepeat, "%s is not a repeat rule that Hearken knows.", quoted(text)).
				WithTry("none, daily, weekdays, weekly, monthly, yearly, \"every Monday\", or a rule such as FREQ=WEEKLY;BYDAY=MO,TH")
		}
	}
	r, err := parseRule(ruleText, zone)
	if err != nil {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "The repeat rule %s is not valid: %v.", quoted(text), err)
	}
	if !ok {
		warning = skippedDatesWarning(r, at)
	}
	first, err := r.firstTime(at, zone)
	if err != nil {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "The repeat rule %s %v.", quoted(text), err)
	}
	if !first.Equal(at) {
		warning = strings.TrimSpace(fmt.Sprintf("The first time is %s, because the rule does not include %s. %s", formatTime(first), formatTime(at), warning))
	}
	if rule = r.String(); len(rule) > maxRule {
		return "", "", hearken.Errorf(hearken.InvalidRepeat, "A repeat rule may have at most %d bytes; this one has %d when written out.", maxRule, len(rule))
	}
	return rule, warning, nil
}

// normalizeRule is a rule in upper case, without spaces and the name RRULE.
func normalizeRule(text string) string {
	text = strings.ToUpper(strings.Join(strings.Fields(text), ""))
	return strings.TrimPrefix(text, "RRULE:")
}

// skippedDatesWarning warns of a rule that skips the months or years which do
// not have its day.
func skippedDatesWarning(r *rule, at time.Time) string {
	if len(r.monthDays)+len(r.days)+len(r.yearDays) > 0 || at.Day() < 29 {
		return ""
	}
	switch {
	case r.freq == "MONTHLY":
		return fmt.Sprintf("Months without a day %d are skipped; BYMONTHDAY=-1 is the last day of each.", at.Day())
	case r.freq == "YEARLY" && at.Month() == time.February:
		return "Years without a 29 February are skipped."
	}
	return ""
}

// firstTime is the first time of a rule. It fails if the first or the second
// time is too far away: then the rule is a mistake.
func (r *rule) firstTime(at time.Time, zone *time.Location) (time.Time, error) {
	s := newSeries(r, at, zone)
	s.searchDays = usefulDays
	first, ok := s.next(at.Add(-1))
	if !ok || first.After(at.AddDate(maxYearsAhead, 0, 0)) {
		return first, fmt.Errorf("never occurs within %d years of %s", maxYearsAhead, formatTime(at))
	}
	limit := first.AddDate(maxYearsAhead, 0, 0)
	second, ok := s.next(first)
	over := r.count == 1 || !r.until.IsZero() && r.until.Before(limit)
	if ok && second.After(limit) || !ok && !over {
		return first, fmt.Errorf("occurs on %s and then not within %d years", formatTime(first), maxYearsAhead)
	}
	return first, nil
}
