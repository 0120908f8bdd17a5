// Package export writes a session in the forms in which people take it away:
// structured (json), to read (txt, md), as subtitles (srt, vtt) and for
// language models (toon).
//
//	err := export.Write(w, "srt", session, note, segments)
//
// Subtitles hold what was said, in the words in which it was said. What merely
// happened, such as a gap in the sound, is shown in brackets where there is
// room for it: in txt and md, which hold translations too. Stretches without
// speech are left out of all of them, and so is what is not yet confirmed.
package export

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Formats are the names that [Write] knows.
var Formats = []string{"json", "txt", "srt", "vtt", "md", "toon"}

// Segments are a session's entries in order, with their words where there are
// any. They may be gone through more than once. An error is the last thing.
type Segments = iter.Seq2[hearken.Segment, error]

// Batches makes [Segments] of a function that hands them out in batches, such
// as the hub's.
func Batches(read func(yield func([]hearken.Segment) error) error) Segments {
	stop := errors.New("stop")
	return func(yield func(hearken.Segment, error) bool) {
		err := read(func(batch []hearken.Segment) error {
			for _, s := range batch {
				if !yield(s, nil) {
					return stop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(hearken.Segment{}, err)
		}
	}
}

// List makes [Segments] of a slice.
func List(segments []hearken.Segment) Segments {
	return func(yield func(hearken.Segment, error) bool) {
		for _, s := range segments {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// Check reports an unknown format as an [*hearken.Error] with
// [hearken.Invalid].
func Check(format string) error {
	if slices.Contains(Formats, format) {
		return nil
	}
	return hearken.Errorf(hearken.Invalid, "format %.40q is not one of %s.", format, strings.Join(Formats, ", "))
}

// Write writes a session in one of [Formats]. The note may be nil. It writes
// as it reads, except for toon, which must know how many entries there are
// before the first one.
func Write(w io.Writer, format string, s *hearken.Session, note *hearken.Note, segments Segments) error {
	if err := Check(format); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 16<<10)
	var err error
	switch format {
	case "json":
		err = writeJSON(b, s, note, segments)
	case "txt":
		err = writeText(b, s, segments)
	case "srt":
		err = writeCues(b, srtStyle, s, segments)
	case "vtt":
		err = writeCues(b, vttStyle, s, segments)
	case "md":
		err = writeMarkdown(b, s, note, segments)
	case "toon":
		err = writeTOON(b, s, note, segments)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// bothSides reports whether a session holds words of either side, so that the
// reader must be told whose they are.
func bothSides(s *hearken.Session, segments Segments) (bool, error) {
	if s.Config.Channels == 1 {
		return false, nil
	}
	var here, there bool
	for seg, err := range segments {
		if err != nil {
			return false, err
		}
		if settled(&seg) {
			here = here || seg.Origin == hearken.Microphone
			there = there || seg.Origin == hearken.System
		}
		if here && there {
			return true, nil
		}
	}
	return false, nil
}

// settled reports whether an entry holds words that will not change.
func settled(s *hearken.Segment) bool {
	return s.Spoken() && s.Status != hearken.Unconfirmed
}
