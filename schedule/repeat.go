package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
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

const (
	workdays = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
	weekends = "FREQ=WEEKLY;BYDAY=SA,SU"
)

// phrases are what people call a recurrence. Monthly and yearly ones depend on
// the day: see [monthly] and [yearly].
var phrases = map[string]string{
	"": "", "none": "", "no": "", "never": "", "once": "", "なし": "", "一回": "", "1回": "", "一度": "",
	"daily": "FREQ=DAILY", "every day": "FREQ=DAILY", "everyday": "FREQ=DAILY", "each day": "FREQ=DAILY", "毎日": "FREQ=DAILY",
	"every morning": "FREQ=DAILY", "every evening": "FREQ=DAILY", "every night": "FREQ=DAILY", "毎朝": "FREQ=DAILY", "毎晩": "FREQ=DAILY",
	"every other day": "FREQ=DAILY;INTERVAL=2", "隔日": "FREQ=DAILY;INTERVAL=2", "一日おき": "FREQ=DAILY;INTERVAL=2",
	"weekdays": workdays, "weekday": workdays, "every weekday": workdays, "on weekdays": workdays, "each weekday": workdays,
	"every workday": workdays, "workdays": workdays, "平日": workdays, "毎平日": workdays, "平日毎日": workdays,
	"weekends": weekends, "every weekend": weekends, "on weekends": weekends, "週末": weekends, "毎週末": weekends,
	"weekly": "FREQ=WEEKLY", "every week": "FREQ=WEEKLY", "each week": "FREQ=WEEKLY", "毎週": "FREQ=WEEKLY",
	"every other week": "FREQ=WEEKLY;INTERVAL=2", "fortnightly": "FREQ=WEEKLY;INTERVAL=2", "every fortnight": "FREQ=WEEKLY;INTERVAL=2", "隔週": "FREQ=WEEKLY;INTERVAL=2",
	"monthly": "MONTHLY", "every month": "MONTHLY", "each month": "MONTHLY", "毎月": "MONTHLY",
	"quarterly": "MONTHLY;INTERVAL=3", "every quarter": "MONTHLY;INTERVAL=3",
	"every other month": "MONTHLY;INTERVAL=2", "隔月": "MONTHLY;INTERVAL=2",
	"毎月末": "FREQ=MONTHLY;BYMONTHDAY=-1", "月末": "FREQ=MONTHLY;BYMONTHDAY=-1", "end of month": "FREQ=MONTHLY;BYMONTHDAY=-1", "end of every month": "FREQ=MONTHLY;BYMONTHDAY=-1",
	"yearly": "YEARLY", "every year": "YEARLY", "each year": "YEARLY", "annually": "YEARLY", "annual": "YEARLY", "毎年": "YEARLY",
	"every other year": "YEARLY;INTERVAL=2", "隔年": "YEARLY;INTERVAL=2",
}

// units are those of "every 2 weeks" and 2週間ごと.
var units = map[string]string{
	"day": "FREQ=DAILY", "week": "FREQ=WEEKLY", "month": "MONTHLY", "year": "YEARLY",
	"日": "FREQ=DAILY", "週": "FREQ=WEEKLY", "週間": "FREQ=WEEKLY", "か月": "MONTHLY", "ヶ月": "MONTHLY", "カ月": "MONTHLY", "年": "YEARLY",
}

var (
	everyN     = regexp.MustCompile(`^(?:every|each) (\d{1,3}) (day|week|month|year)s?$`)
	everyNJa   = regexp.MustCompile(`^(\d{1,3})(日|週間?|か月|ヶ月|カ月|年)(?:ごと|毎)に?$`)
	monthDayJa = regexp.MustCompile(`^毎月(\d{1,2})日$`)
	dayWord    = regexp.MustCompile(`^(sun|mon|tue|wed|thu|fri|sat)(?:days?|sdays?|s|nesdays?|nes|rsdays?|rs?|urdays?)?$`)
	dayList    = regexp.MustCompile(`^(?:weekly on|every week on|every|each|on) |^(?:weekly:)`)
	every2nd   = regexp.MustCompile(`^every (?:other|second|2nd) `)
)

// parsePhrase turns words into a rule. It returns false for unknown words.
func parsePhrase(text string, at time.Time) (rule, warning string, ok bool) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	rule, ok = phrases[text]
	if !ok {
		rule, ok = parseInterval(text)
	}
	if !ok {
		rule, ok = parseWeekdays(text)
	}
	if m := monthDayJa.FindStringSubmatch(text); m != nil {
		rule, ok = "FREQ=MONTHLY;BYMONTHDAY="+m[1], true
	}
	if rest, is := strings.CutPrefix(rule, "MONTHLY"); is {
		rule, warning = monthly(at, rest)
	}
	if rest, is := strings.CutPrefix(rule, "YEARLY"); is {
		rule, warning = yearly(at, rest)
	}
	return rule, warning, ok
}

func parseInterval(text string) (string, bool) {
	m := everyN.FindStringSubmatch(text)
	if m == nil {
		m = everyNJa.FindStringSubmatch(text)
	}
	if m == nil {
		return "", false
	}
	return units[m[2]] + ";INTERVAL=" + m[1], true
}

// monthly is every month on the day of at. A month without that day has its last
// day instead.
func monthly(at time.Time, rest string) (rule, warning string) {
	if at.Day() < 29 {
		return "FREQ=MONTHLY" + rest, ""
	}
	days := []string{"28", "29", "30", "31"}[:at.Day()-27]
	return "FREQ=MONTHLY" + rest + ";BYMONTHDAY=" + strings.Join(days, ",") + ";BYSETPOS=-1",
		"In months without a day " + strconv.Itoa(at.Day()) + " it is on the last day."
}

// yearly is every year on the day of at, and on 28 February if a year has no
// 29th.
func yearly(at time.Time, rest string) (rule, warning string) {
	if at.Month() != time.February || at.Day() != 29 {
		return "FREQ=YEARLY" + rest, ""
	}
	return "FREQ=YEARLY" + rest + ";BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1", "In years without a 29 February it is on the 28th."
}

// parseWeekdays reads "every Monday and Thursday" and 毎週月・木曜日.
func parseWeekdays(text string) (string, bool) {
	rule := "FREQ=WEEKLY;"
	if every2nd.MatchString(text) {
		rule, text = "FREQ=WEEKLY;INTERVAL=2;", every2nd.ReplaceAllString(text, "")
	}
	days := englishDays(dayList.ReplaceAllString(text, ""))
	if days == nil {
		days = japaneseDays(text)
	}
	if days == nil {
		return "", false
	}
	return rule + "BYDAY=" + strings.Join(days, ","), true
}

func englishDays(text string) (days []string) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ' ' || c == ',' || c == '&' || c == '/' }) {
		if word == "and" {
			continue
		}
		m := dayWord.FindStringSubmatch(word)
		if m == nil {
			return nil
		}
		days = append(days, strings.ToUpper(m[1][:2]))
	}
	return days
}

func japaneseDays(text string) (days []string) {
	rest, ok := strings.CutPrefix(text, "毎週")
	if !ok {
		return nil
	}
	names := []rune("日月火水木金土")
	for _, c := range strings.NewReplacer("曜日", "", "曜", "", "の", "", "・", "", "、", "", ",", "", "と", "", " ", "").Replace(rest) {
		i := slices.Index(names, c)
		if i < 0 {
			return nil
		}
		days = append(days, dayNames[i])
	}
	return days
}
