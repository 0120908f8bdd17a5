package pscribe

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// ParrotScribe's messages to people have no fixed form. They are parsed as far as
// possible, and always returned unchanged as well.

// maxMessage is how many bytes of a message are parsed. A few hundred are usual.
const maxMessage = 16 << 10

var (
	uuid      = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	session   = regexp.MustCompile(`(?i)\bsession(?:[ _-]?id)?["']?\s*[:=#]?\s*["'(\[]?([\p{L}\p{N}][\p{L}\p{N}.:_-]*)`)
	stopped   = regexp.MustCompile(`(?i)\b(?:not|isn't|no longer|nothing|no) (?:currently |yet )?(?:running|recording|active|listening|transcribing)\b|\b(?:running|recording|active|listening|transcribing)["']?\s*[:=]\s*(?:no|false|off)\b|\b(?:stopped|paused|inactive|idle)\b`)
	started   = regexp.MustCompile(`(?i)\b(?:re)?(?:new|started)\b`)
	running   = regexp.MustCompile(`(?i)\b(?:running|recording|active|listening|transcribing|started)\b`)
	stateLine = regexp.MustCompile(`(?im)^[\s"'{]*(?:status|state|service|transcription)["']?\s*[:=]\s*(.*)$`)
	length    = regexp.MustCompile(`(?i)\b(?:duration|length|elapsed)["']?\s*[:=]?\s*["']?([0-9][0-9.: hmins]*)`)
	timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`)
	clock     = regexp.MustCompile(`^\d{1,3}:\d\d(?::\d\d)?(?:\.\d+)?$`)
	noneYet   = regexp.MustCompile(`(?i)^no (?:\w+ ){0,3}sessions?\b`)
	listHead  = regexp.MustCompile(`(?i)^(?:#|id|session|sessions|session[ _]id)\b[^0-9]*$|^\w+\[\d+\]\{.*\}:$|^\w+\{.*\}:$|^\w+(?:\[0\])?: ?(?:\[\])?$|^[-=+| ─━]+$`)
)

// readStatus reads what the program says about itself.
func readStatus(message string) *hearken.ScribeStatus {
	status := &hearken.ScribeStatus{Raw: strings.TrimSpace(message)}
	message = message[:min(len(message), maxMessage)]
	status.Session = namedSession(message)
	about := message
	if m := stateLine.FindStringSubmatch(message); m != nil {
		about = m[1] // something else may also be stopped or active
	}
	ended := stopped.MatchString(about)
	status.Running = !ended && running.MatchString(about)
	status.Unclear = !ended && !status.Running
	if m := length.FindStringSubmatch(message); m != nil {
		status.Length, _ = readLength(m[1])
	}
	status.Since, _ = readTime(timestamp.FindString(message))
	return status
}

// readStarted reads what the program says after it started something. It is
// running unless it only says that it is not. If it names two sessions, the one
// that began counts, not the one that ended.
func readStarted(message string) *hearken.ScribeStatus {
	status := readStatus(message)
	message = message[:min(len(message), maxMessage)]
	at := started.FindStringIndex(message)
	status.Running = at != nil || !stopped.MatchString(message)
	if at != nil {
		status.Session = cmp.Or(namedSession(message[at[0]:]), status.Session)
	}
	return status
}

// namedSession is the id of the session that a message names, or "": a UUID, or
// something with a digit after the word "session".
func namedSession(message string) string {
	for _, m := range session.FindAllStringSubmatch(message, -1) {
		id := strings.TrimRight(m[1], ".:")
		if len(id) >= 4 && strings.ContainsAny(id, "0123456789") {
			return id
		}
	}
	return uuid.FindString(message)
}

// announcedSession is the session that a line announces: the line begins with the
// word "session", or is only a UUID.
func announcedSession(line string) string {
	line = strings.Trim(line[:min(len(line), maxID)], "#=-*─━[]<>: \t")
	if len(line) >= 7 && strings.EqualFold(line[:7], "session") {
		return namedSession(line)
	}
	if id := uuid.FindString(line); id == line {
		return id
	}
	return ""
}

// readList reads one session per line. Rest holds the lines that name none.
func readList(text string) (sessions []hearken.ScribeSession, rest string) {
	var others []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		switch {
		case bare == "":
			continue
		case len(bare) > maxMessage:
			others = append(others, line)
			continue
		case noneYet.MatchString(bare), listHead.MatchString(bare):
			continue
		}
		if one, ok := readSession(bare); ok {
			one.Raw = line
			sessions = append(sessions, one)
		} else {
			others = append(others, line)
		}
	}
	return sessions, strings.Join(others, "\n")
}

// readSession reads an id and, if they exist, a time, a length and a number of
// entries, in this order.
func readSession(line string) (hearken.ScribeSession, bool) {
	one := hearken.ScribeSession{Entries: -1, Running: running.MatchString(line) && !stopped.MatchString(line)}
	line = strings.TrimLeft(line, "*•▶> \t")
	cells := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t,|\"", r) })
	if len(cells) == 0 {
		return one, false
	}
	at := timestamp.FindString(strings.TrimPrefix(line, cells[0]))
	one.StartedAt, _ = readTime(at)
	one.ID = uuid.FindString(line)
	if one.ID == "" {
		one.ID = strings.TrimSuffix(cells[0], ":")
		digits := strings.ContainsAny(one.ID, "0123456789")
		distinct := len(one.ID) >= 6 && strings.Trim(one.ID, "0123456789.") != ""
		if checkSession(one.ID) != nil || strings.ContainsAny(one.ID, "[]{}()") || !digits || at == "" && !distinct {
			return one, false
		}
	}
	dated := strings.FieldsFunc(at, func(r rune) bool { return r == ' ' })
	var numbers []int
	for i, cell := range cells {
		if cell == one.ID || i > 0 && slices.Contains(dated, cell) {
			continue
		}
		if n, err := strconv.Atoi(cell); err == nil && n >= 0 {
			numbers = append(numbers, n)
		} else if d, ok := readLength(cell); ok {
			one.Length += d
		}
	}
	if len(numbers) > 1 && one.Length == 0 {
		one.Length = time.Duration(numbers[0]) * time.Second
	}
	if len(numbers) > 0 {
		one.Entries = numbers[len(numbers)-1]
	}
	return one, true
}

// readLength reads 1:02:03, 12:34, 1h2m3s, 12m 34s, and seconds such as 754.2.
func readLength(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if clock.MatchString(s) {
		var seconds float64
		for part := range strings.SplitSeq(s, ":") {
			n, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return 0, false
			}
			seconds = seconds*60 + n
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	if f, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimRight(s, "s ")), 64); err == nil && f >= 0 && f < 1e8 {
		return time.Duration(f * float64(time.Second)), true
	}
	d, err := time.ParseDuration(strings.ReplaceAll(strings.ReplaceAll(s, "min", "m"), " ", ""))
	return d, err == nil && d >= 0
}
