package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// captions writes confirmed lines, which stay. On a terminal it also shows below
// them the unconfirmed lines and the meter, which change.
type captions struct {
	w      io.Writer
	width  func() int // of the terminal; 0 without one
	colour bool

	mu          sync.Mutex
	unconfirmed []hearken.Segment
	meter       *meter
	drawn       int // lines that change, below those that stay
}

// colours are the colours of the channels.
var colours = map[hearken.Origin]string{hearken.Microphone: "\x1b[36m", hearken.System: "\x1b[33m", hearken.EventOrigin: "\x1b[2m"}

const (
	faint  = "\x1b[2m"
	red    = "\x1b[31m"
	normal = "\x1b[0m"
)

// show writes confirmed lines and replaces the unconfirmed ones.
func (c *captions) show(confirmed, unconfirmed []hearken.Segment) {
	c.update(func(b *strings.Builder) {
		for i := range confirmed {
			s := &confirmed[i]
			text := safetext.Line(s.Text)
			switch {
			case s.Status == hearken.NoSpeech && text == "":
				continue // what was not understood has a text that says so
			case s.Status == hearken.Translated:
				text = "→ " + text
			case s.Echo:
				text += " (echo)"
			}
			c.writeLine(b, colours[s.Origin], s, text)
		}
		c.unconfirmed = unconfirmed
	})
}

// status shows the meter.
func (c *captions) status(m *meter) {
	if c.width() > 0 {
		c.update(func(*strings.Builder) { c.meter = m })
	}
}

// remark writes a remark that stays.
func (c *captions) remark(text string) {
	c.update(func(b *strings.Builder) { fmt.Fprintln(b, c.paint(faint, "("+safetext.Line(text)+")")) })
}

// clear removes the lines that change.
func (c *captions) clear() {
	c.update(func(*strings.Builder) { c.unconfirmed, c.meter = nil, nil })
}

// update erases the lines that change, calls change, which may write lines that
// stay, and on a terminal writes the lines that change again.
func (c *captions) update(change func(*strings.Builder)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	if c.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", c.drawn)
		c.drawn = 0
	}
	change(&b)
	if width := c.width(); width > 0 {
		for i := range c.unconfirmed {
			s := &c.unconfirmed[i]
			c.writeLine(&b, faint+colours[s.Origin], s, lastColumns(safetext.Line(s.Text), width-17))
			c.drawn++
		}
		if c.meter != nil {
			fmt.Fprintln(&b, c.meterLine(width))
			c.drawn++
		}
	}
	fmt.Fprint(c.w, b.String())
}

// writeLine writes one caption: when, who, and the text.
func (c *captions) writeLine(b *strings.Builder, colour string, s *hearken.Segment, text string) {
	fmt.Fprintln(b, c.paint(colour, fmt.Sprintf("%s  %-4s  %s", s.Timestamp.Local().Format("15:04:05"), s.Origin.Side(), text)))
}

// meterLine shows the length, the levels, the lag and any trouble in one line.
func (c *captions) meterLine(width int) string {
	m := c.meter
	var line strings.Builder
	line.WriteString(formatSeconds(m.Length.Seconds()))
	for i, level := range m.Levels {
		fmt.Fprintf(&line, "  %s %s", []hearken.Origin{hearken.Microphone, hearken.System}[min(i, 1)].Side(), levelBar(level))
	}
	fmt.Fprintf(&line, "  lag %.1f s", m.Lag)
	if m.Health != "" && m.Health != "ok" {
		line.WriteString("  " + strings.ReplaceAll(m.Health, "_", " "))
	}
	return c.paint(red, "●") + " " + firstColumns(line.String(), width-3)
}

// levelBar shows a level from 0 to 1. Its scale is logarithmic, like hearing.
func levelBar(level float64) string {
	const wide = 8
	full := 0
	for v := min(level, 1); v > 1.0/(1<<(wide+1)) && full < wide; v /= 2 {
		full++
	}
	return strings.Repeat("▮", full) + strings.Repeat("▯", wide-full)
}

func (c *captions) paint(colour, text string) string {
	if !c.colour || colour == "" {
		return text
	}
	return colour + text + normal
}

// runeWidth returns the width of a character on a terminal, roughly.
func runeWidth(r rune) int {
	if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000) {
		return 2
	}
	return 1
}

// lastColumns returns the end of a text that fits into width columns: while
// somebody speaks, the newest words matter.
func lastColumns(text string, width int) string {
	runes := []rune(text)
	used := 0
	for i, r := range slices.Backward(runes) {
		if used += runeWidth(r); used > width-1 {
			return "…" + string(runes[i+1:])
		}
	}
	return text
}

// firstColumns returns the beginning of a text that fits into width columns.
func firstColumns(text string, width int) string {
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used > width {
			return text[:i]
		}
	}
	return text
}
