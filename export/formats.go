package export

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/toon"
)

func writeJSON(b *bufio.Writer, s *hearken.Session, note *hearken.Note, segments Segments) error {
	if err := writeValue(b, `{"session":`, s); err != nil {
		return err
	}
	if note != nil {
		if err := writeValue(b, `,"note":`, note); err != nil {
			return err
		}
	}
	b.WriteString(`,"segments":[`)
	separator := "\n"
	for seg, err := range segments {
		if err != nil {
			return err
		}
		if seg.Words == nil {
			seg.Words = []hearken.Word{}
		}
		if err := writeValue(b, separator, seg); err != nil {
			return err
		}
		separator = ",\n"
	}
	b.WriteString("\n]}\n")
	return nil
}

func writeValue(b *bufio.Writer, before string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %T: %w", v, err)
	}
	b.WriteString(before)
	b.Write(data)
	return nil
}

func writeText(b *bufio.Writer, both bool, segments []hearken.Segment) {
	for i := range segments {
		seg := &segments[i]
		switch text := oneLine(seg.Text); {
		case seg.Origin == hearken.EventOrigin && text != "":
			b.WriteString(bracketed(text) + "\n")
		case isFinalSpeech(seg):
			b.WriteString(speakerLabel(seg, both) + arrow(seg) + text + "\n")
		}
	}
}

func writeMarkdown(b *bufio.Writer, s *hearken.Session, note *hearken.Note, both bool, segments []hearken.Segment) {
	title := cmp.Or(oneLine(s.Title), "Session of "+s.StartedAt.Format("2 January 2006, 15:04"))
	fmt.Fprintf(b, "# %s\n\n", escapeMarkdown(title))
	fmt.Fprintf(b, "- Started: %s\n", s.StartedAt.Format(time.RFC3339))
	fmt.Fprintf(b, "- Duration: %s\n", formatClock(s.Duration))
	if s.Language != "" {
		fmt.Fprintf(b, "- Language: %s\n", escapeMarkdown(s.Language))
	}
	fmt.Fprintf(b, "- Session: `%s`\n", strings.ReplaceAll(s.ID, "`", ""))
	if both {
		b.WriteString("- M is the microphone, S the far side\n")
	}
	if note != nil && strings.TrimSpace(note.Text) != "" {
		fmt.Fprintf(b, "\n## Note\n\n%s\n", strings.TrimSpace(note.Text)) // already markdown
	}
	b.WriteString("\n## Transcript\n")
	for i := range segments {
		seg := &segments[i]
		switch text := oneLine(seg.Text); {
		case seg.Origin == hearken.EventOrigin && text != "":
			fmt.Fprintf(b, "\n**%s** *%s*\n", formatClock(seg.StartTime), escapeMarkdown(bracketed(text)))
		case isFinalSpeech(seg):
			fmt.Fprintf(b, "\n**%s** %s\n", formatClock(seg.StartTime), escapeMarkdown(speakerLabel(seg, both)+arrow(seg)+text))
		}
	}
}

func writeTOON(b *bufio.Writer, s *hearken.Session, note *hearken.Note, segments Segments) error {
	var all []hearken.Segment
	for seg, err := range segments {
		if err != nil {
			return err
		}
		seg.Words = nil
		all = append(all, seg)
	}
	o := toon.Object{{Key: "session", Value: s.ID}}
	if s.Title != "" {
		o = append(o, toon.Field{Key: "title", Value: s.Title})
	}
	o = append(o,
		toon.Field{Key: "status", Value: string(s.Status)},
		toon.Field{Key: "startedAt", Value: s.StartedAt.Format(time.RFC3339)},
		toon.Field{Key: "duration", Value: s.Duration},
	)
	if note != nil {
		o = append(o, toon.Field{Key: "note", Value: note.Text})
	}
	o = append(o, toon.Field{Key: "transcript", Value: toon.Transcript(all)})
	b.Write(toon.Encode(o))
	b.WriteString("\n")
	return nil
}

// speakerLabel says who speaks, if that is not obvious.
func speakerLabel(s *hearken.Segment, both bool) string {
	switch {
	case both && s.Speaker != nil:
		return string(s.Origin) + strconv.Itoa(*s.Speaker+1) + ": "
	case both:
		return string(s.Origin) + ": "
	case s.Speaker != nil:
		return "Speaker " + strconv.Itoa(*s.Speaker+1) + ": "
	}
	return ""
}

// arrow marks a translation, which nobody said in these words.
func arrow(s *hearken.Segment) string {
	if s.Status == hearken.Translated {
		return "→ "
	}
	return ""
}

// bracketed marks an event, which nobody said.
func bracketed(text string) string {
	if strings.HasPrefix(text, "[") {
		return text
	}
	return "[" + text + "]"
}

// formatClock writes seconds as hours, minutes and seconds.
func formatClock(seconds float64) string {
	n := int64(max(0, seconds))
	return fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
}

// escapeMarkdown keeps text from becoming formatting.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '~', '$', '&':
			b.WriteByte('\\')
		case '#', '+', '-':
			if i == 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// oneLine joins a text's lines and removes what no program shows. Unlike
// safetext.Line it keeps the marks that right-to-left text needs.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}
