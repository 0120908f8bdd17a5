package calendar

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A property is a content line of a calendar object.
type property struct {
	name   string // upper case
	params map[string]string
	value  string // still escaped
}

// A component is a VEVENT or VTODO with its properties, without those of its
// alarms.
type component struct {
	kind  string
	props []property
}

// parseComponents reads the events and tasks of a calendar object. It skips
// what it does not understand: it only has to recognise what the hub wrote, and
// to find titles.
func parseComponents(data string) []component {
	var list []component
	var open []string
	data = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "").Replace(data)
	for line := range strings.Lines(data) {
		p, ok := parseProperty(strings.TrimRight(line, "\r\n"))
		switch {
		case !ok:
		case p.name == "BEGIN":
			open = append(open, strings.ToUpper(p.value))
			if kind := open[len(open)-1]; len(open) == 2 && (kind == event || kind == task) {
				list = append(list, component{kind: kind})
			}
		case p.name == "END":
			open = open[:max(0, len(open)-1)]
		case len(open) == 2 && (open[1] == event || open[1] == task):
			last := &list[len(list)-1]
			last.props = append(last.props, p)
		}
	}
	return list
}

// parseProperty splits an unfolded content line. A colon or semicolon in quotes
// is part of a parameter.
func parseProperty(line string) (property, bool) {
	p := property{params: map[string]string{}}
	quoted, start := false, 0
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted || c != ';' && c != ':':
		default:
			part := line[start:i]
			start = i + 1
			if p.name == "" {
				p.name = strings.ToUpper(part)
			} else if name, value, ok := strings.Cut(part, "="); ok {
				p.params[strings.ToUpper(name)] = strings.Trim(value, `"`)
			}
			if c == ':' {
				p.value = line[start:]
				return p, p.name != ""
			}
		}
	}
	return p, false
}

// get returns the first property of a name.
func (c component) get(name string) (property, bool) {
	i := slices.IndexFunc(c.props, func(p property) bool { return p.name == name })
	if i < 0 {
		return property{}, false
	}
	return c.props[i], true
}

// text is the unescaped value of a property, or empty if there is none.
func (c component) text(name string) string {
	p, _ := c.get(name)
	return unescaper.Replace(p.value)
}

var unescaper = strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n", `\N`, "\n")

// instant is the time of a property, if that is in UTC or in a known zone.
func (p property) instant() (time.Time, bool) {
	if t, err := time.Parse(utcLayout, p.value); err == nil {
		return t, true
	}
	zone := p.params["TZID"]
	if zone == "" {
		return time.Time{}, false
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, false
	}
	t, err := time.ParseInLocation(localLayout, p.value, loc)
	return t.UTC(), err == nil
}

// contentProperties are those that a person would notice a change of. What
// servers and apps add for themselves is not among them.
var contentProperties = []string{
	"SUMMARY", "DESCRIPTION", "LOCATION", "DTSTART", "DTEND", "DURATION", "DUE", "STATUS", "COMPLETED",
	"PERCENT-COMPLETE", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID", "ATTENDEE", "ATTACH", "CATEGORIES", "COMMENT", "URL",
}

// content is what a component says to a person, in a form that does not depend
// on which program wrote it.
func (c component) content() map[string]string {
	content := map[string]string{}
	for _, p := range c.props {
		if !slices.Contains(contentProperties, p.name) {
			continue
		}
		value := unescaper.Replace(p.value)
		if t, ok := p.instant(); ok {
			value = t.Format(time.RFC3339)
		} else if p.name == "RRULE" {
			parts := strings.Split(strings.ToUpper(p.value), ";")
			parts = slices.DeleteFunc(parts, func(s string) bool { return s == "INTERVAL=1" || s == "WKST=MO" })
			slices.Sort(parts)
			value = strings.Join(parts, ";")
		}
		if value != "" && !isDefault(p.name, value) {
			content[p.name] += value
		}
	}
	// An end may be given as a time or as a duration.
	if length, ok := parseDuration(content["DURATION"]); ok && content["DTEND"] == "" {
		if start, err := time.Parse(time.RFC3339, content["DTSTART"]); err == nil {
			content["DTEND"] = start.Add(length).Format(time.RFC3339)
			delete(content, "DURATION")
		}
	}
	return content
}

// isDefault reports whether a value means the same as no value.
func isDefault(name, value string) bool {
	return name == "STATUS" && (value == "CONFIRMED" || value == "NEEDS-ACTION") || name == "PERCENT-COMPLETE" && value == "0"
}

// parseDuration reads an iCalendar duration such as PT30M or PT1800S.
func parseDuration(s string) (time.Duration, bool) {
	s = strings.TrimPrefix(s, "P")
	days, clock, _ := strings.Cut(s, "T")
	total := time.Duration(0)
	if n, ok := strings.CutSuffix(days, "D"); ok {
		d, err := time.ParseDuration(n + "h")
		if err != nil {
			return 0, false
		}
		total = 24 * d
	} else if days != "" {
		return 0, false
	}
	if clock != "" {
		d, err := time.ParseDuration(strings.ToLower(clock))
		if err != nil {
			return 0, false
		}
		total += d
	}
	return total, s != "" && total >= 0
}

// hasUID reports whether stored data is the object, even if it was changed
// since.
func (o object) hasUID(data string) bool {
	return slices.ContainsFunc(parseComponents(data), func(c component) bool { return c.text("UID") == o.uid })
}

// isUnchanged reports whether stored data still says what was written, and
// nothing more.
func (o object) isUnchanged(data string) bool {
	stored, written := parseComponents(data), parseComponents(o.resource())
	return len(stored) == 1 && stored[0].kind == o.kind && o.hasUID(data) && maps.Equal(stored[0].content(), written[0].content())
}
