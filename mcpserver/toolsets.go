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

// CheckToolsets fails if a name is not a toolset. Several toolsets together give
// the tools of each, except that "read" removes all tools that change
// something: "read" alone is every read-only tool, "read" with "scribe" is the
// read-only tools of scribe.
func CheckToolsets(names []string) error {
	known := []string{AllTools, Transcription, Scribe, Actions, ReadOnly}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return hearken.Errorf(hearken.Invalid, "There is no toolset %q.", name).WithTry("one of %s", strings.Join(known, ", "))
		}
	}
	return nil
}

// inToolsets reports whether the tool is in the named toolsets. A name that is not a
// toolset has no tools, so that a misspelt restriction is not a wider one.
func (t *tool) inToolsets(names []string) bool {
	if slices.Contains(names, ReadOnly) && !t.Annotations.ReadOnlyHint {
		return false
	}
	return allowReading(names, t.set)
}

// allowReading reports whether the named toolsets allow reading what a toolset
// gives access to.
func allowReading(names []string, set string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
		return name == AllTools || name == set || name == ReadOnly && len(names) == 1
	})
}
