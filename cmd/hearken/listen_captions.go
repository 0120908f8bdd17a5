package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/hearken-dev/hearken"
)

// captions writes what is said: lines that stay as they are, and on a terminal
// below them what may still change and how the capture is doing.
type captions struct {
	w      io.Writer
	width  func() int // of the terminal; 0 if it is none
	colour bool

	mu    sync.Mutex
	open  []hearken.Segment
	meter *meter
	drawn int // lines below the last one that stays
}

// The colours of the sides, and of what is not yet sure.
var colours = map[hearken.Origin]string{hearken.Microphone: "\x1b[36m", hearken.System: "\x1b[33m", hearken.EventOrigin: "\x1b[2m"}

const (
	faint  = "\x1b[2m"
	red    = "\x1b[31m"
	normal = "\x1b[0m"
)

// show writes what has settled and replaces what has not.
func (c *captions) show(settled, open []hearken.Segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	c.erase(&b)
	for i := range settled {
		s := &settled[i]
		text := tame(s.Text)
		switch {
		case s.Status == hearken.NoSpeech:
			continue
		case s.Status == hearken.Translated:
			text = "→ " + text
		case s.Echo:
			text += " (echo)"
		}
		fmt.Fprintf(&b, "%s\n", c.paint(colours[s.Origin], fmt.Sprintf("%s  %-4s  %s", s.Timestamp.Local().Format("15:04:05"), s.Origin.Side(), text)))
	}
	c.open = open
	c.draw(&b)
}

// status shows how the capture is doing.
func (c *captions) status(m *meter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.width() == 0 {
		return
	}
	c.meter = m
	var b strings.Builder
	c.erase(&b)
	c.draw(&b)
}

// say writes a remark that stays.
func (c *captions) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	c.erase(&b)
	fmt.Fprintf(&b, "%s\n", c.paint(faint, "("+tame(text)+")"))
	c.draw(&b)
}

// clear leaves only what stays.
func (c *captions) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	c.erase(&b)
	c.open, c.meter = nil, nil
	fmt.Fprint(c.w, b.String())
}

// erase takes the lines away that may change.
func (c *captions) erase(b *strings.Builder) {
	if c.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA\r\x1b[J", c.drawn)
		c.drawn = 0
	}
}

// draw writes the lines that may change, on a terminal.
func (c *captions) draw(b *strings.Builder) {
	if width := c.width(); width > 0 {
		for i := range c.open {
			s := &c.open[i]
			line := fmt.Sprintf("%s  %-4s  %s", s.Timestamp.Local().Format("15:04:05"), s.Origin.Side(), tail(tame(s.Text), width-17))
			fmt.Fprintf(b, "%s\n", c.paint(faint+colours[s.Origin], line))
			c.drawn++
		}
		if c.meter != nil {
			fmt.Fprintf(b, "%s\n", c.meterLine(width))
			c.drawn++
		}
	}
	fmt.Fprint(c.w, b.String())
}

// meterLine is the state in one line: recording, how long, how loud, how far
// behind.
func (c *captions) meterLine(width int) string {
	m := c.meter
	var line strings.Builder
	line.WriteString(clock(m.Length.Seconds()))
	for i, level := range m.Levels {
		fmt.Fprintf(&line, "  %s %s", []hearken.Origin{hearken.Microphone, hearken.System}[min(i, 1)].Side(), bar(level))
	}
	fmt.Fprintf(&line, "  lag %.1f s", m.Lag)
	if m.Health != "" && m.Health != "ok" {
		line.WriteString("  " + strings.ReplaceAll(m.Health, "_", " "))
	}
	return c.paint(red, "●") + " " + clipRunes(line.String(), width-3)
}

// bar shows a level from 0 to 1; ears work by powers, and so does it.
func bar(level float64) string {
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

// columnsOf is how wide a character is on a terminal, roughly.
func columnsOf(r rune) int {
	if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000) {
		return 2
	}
	return 1
}

// tail is the end of a text that fits: of what is being said now, the newest
// words matter.
func tail(text string, width int) string {
	runes := []rune(text)
	used := 0
	for i, r := range slices.Backward(runes) {
		if used += columnsOf(r); used > width-1 {
			return "…" + string(runes[i+1:])
		}
	}
	return text
}

// clipRunes is the beginning of a text that fits.
func clipRunes(text string, width int) string {
	used := 0
	for i, r := range text {
		if used += columnsOf(r); used > width {
			return text[:i]
		}
	}
	return text
}
