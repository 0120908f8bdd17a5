package mcpserver

import (
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// The toolsets by name.
const (
	AllTools      = "all"
	Transcription = "transcription" // sessions, transcripts, search
	Scribe        = "scribe"        // this computer's microphone and system audio
	Actions       = "actions"       // calendar, messages, reminders
	ReadOnly      = "read"          // only tools that change nothing
)

// CheckToolsets reports a name that is not a toolset. Several names together
// give the tools of each, except that "read" takes away all that change
// something: "read" alone is every read-only tool, "read" with "scribe" the
// read-only ones of scribe.
func CheckToolsets(names []string) error {
	known := []string{AllTools, Transcription, Scribe, Actions, ReadOnly}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return hearken.Errorf(hearken.Invalid, "There is no toolset %q.", name).WithTry("one of %s", strings.Join(known, ", "))
		}
	}
	return nil
}

// in reports whether the tool belongs to the named sets. A name that is not a
// toolset gives no tool, so that a misspelt limit is not a wider one.
func (t *tool) in(names []string) bool {
	if slices.Contains(names, ReadOnly) && !t.Annotations.ReadOnlyHint {
		return false
	}
	return reads(names, t.set)
}

// reads reports whether the named sets let their holder read what belongs to
// a set.
func reads(names []string, set string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
		return name == AllTools || name == set || name == ReadOnly && len(names) == 1
	})
}
