// Package toontest reads TOON back, for tests and benchmarks. The program only
// writes the notation.
//
// The decoder is held to the specification's fixtures and to the reference
// library, as far as version 3 goes with its default options. What version 4
// added is not read.
package toontest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hearken-dev/hearken/safetext"
	"github.com/hearken-dev/hearken/toon"
)

// Decode reads an object. Numbers come back as float64, and a list of uniform
// objects as a [toon.Table]. It is strict: lengths must be right, each level is
// indented by two spaces, and keys are quoted where the notation asks for it
// and never repeated.
func Decode(b []byte) (toon.Object, error) {
	v, err := DecodeValue(b)
	if err != nil {
		return nil, err
	}
	o, ok := v.(toon.Object)
	if !ok {
		return nil, fmt.Errorf("toon: not an object")
	}
	return o, nil
}

// DecodeValue reads a value of any kind, as strictly as [Decode].
func DecodeValue(b []byte) (any, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("toon: not UTF-8")
	}
	d := &decoder{}
	if err := d.split(string(b)); err != nil {
		return nil, fmt.Errorf("toon: %w", err)
	}
	v, err := d.root()
	if err == nil && d.at < len(d.lines) {
		err = fmt.Errorf("unexpected %q", safetext.Clip(d.lines[d.at].text, 40))
	}
	if err != nil {
		n := len(d.lines)
		if d.at < n {
			n = d.lines[d.at].number
		}
		return nil, fmt.Errorf("toon: line %d: %w", n, err)
	}
	return v, nil
}

// A line is one of the document without its indentation. Blank ones are skipped.
type line struct {
	number     int
	depth      int
	text       string
	afterBlank bool // a blank line is before it
}

type decoder struct {
	lines []line
	at    int
}

func (d *decoder) split(doc string) error {
	after := false
	n := 0
	for text := range strings.SplitSeq(doc, "\n") {
		n++
		if strings.Trim(text, " ") == "" {
			after = true
			continue
		}
		rest := strings.TrimLeft(text, " ")
		indent := len(text) - len(rest)
		switch {
		case rest[0] == '\t':
			return fmt.Errorf("line %d: a tab in the indentation", n)
		case indent%2 != 0:
			return fmt.Errorf("line %d: an indentation of %d spaces", n, indent)
		}
		d.lines = append(d.lines, line{n, indent / 2, rest, after})
		after = false
	}
	return nil
}

// peek is the current line if it has exactly the given depth.
func (d *decoder) peek(depth int) (string, bool) {
	if d.at >= len(d.lines) || d.lines[d.at].depth != depth {
		return "", false
	}
	return d.lines[d.at].text, true
}

func (d *decoder) root() (any, error) {
	if len(d.lines) == 0 {
		return toon.Object{}, nil
	}
	first, ok := d.peek(0)
	if !ok {
		return nil, fmt.Errorf("unexpected indentation")
	}
	if first == "[]" {
		d.at++
		return []any{}, nil
	}
	if first[0] == '[' {
		h, err := readHeader(first)
		if err != nil {
			return nil, err
		}
		return d.array(h, 1)
	}
	if len(d.lines) == 1 && !isField(first) {
		d.at++
		return readCell(strings.TrimRight(first, " "))
	}
	return d.object(0)
}

// object reads the fields at one depth.
func (d *decoder) object(depth int) (toon.Object, error) {
	o := toon.Object{}
	for {
		text, ok := d.peek(depth)
		if !ok {
			return o, nil
		}
		f, err := d.field(text, depth+1)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(o, func(other toon.Field) bool { return other.Key == f.Key }) {
			return nil, fmt.Errorf("key %q is repeated", safetext.Clip(f.Key, 40))
		}
		o = append(o, f)
	}
}

// field reads a key with its value, whose own lines are at the given depth.
func (d *decoder) field(text string, depth int) (f toon.Field, err error) {
	key, rest, err := readKey(text, ":[")
	if err != nil {
		return f, err
	}
	f.Key = key
	if rest[0] == '[' {
		h, err := readHeader(rest)
		if err != nil {
			return f, err
		}
		f.Value, err = d.array(h, depth)
		return f, err
	}
	d.at++
	switch value := strings.Trim(rest[1:], " "); {
	case value == "":
		f.Value, err = d.object(depth)
	case rest[1] != ' ':
		err = fmt.Errorf("no space after the colon")
	case value == "[]":
		f.Value = []any{}
	default:
		f.Value, err = readCell(value)
	}
	return f, err
}

// A header begins an array: its length, its delimiter, the columns of a table,
// and the values on the same line.
type header struct {
	length    int
	delimiter byte
	columns   []string
	values    string
	inline    bool
}

// readHeader reads a header from its bracket on.
func readHeader(s string) (h header, err error) {
	inside, s, ok := strings.Cut(s[1:], "]")
	h.delimiter = ','
	if n := len(inside) - 1; n >= 0 && (inside[n] == '\t' || inside[n] == '|') {
		h.delimiter, inside = inside[n], inside[:n]
	}
	h.length, err = strconv.Atoi(inside)
	if !ok || err != nil || h.length < 0 || inside != strconv.Itoa(h.length) {
		return h, fmt.Errorf("length %q", safetext.Clip(inside, 40))
	}
	if rest, ok := strings.CutPrefix(s, "{"); ok {
		for s = rest; ; s = s[1:] {
			var column string
			if column, s, err = readKey(s, string(h.delimiter)+"}"); err != nil {
				return h, err
			}
			if slices.Contains(h.columns, column) {
				return h, fmt.Errorf("column %q is repeated", safetext.Clip(column, 40))
			}
			h.columns = append(h.columns, column)
			if s[0] == '}' {
				break
			}
		}
		s = s[1:]
	}
	if !strings.HasPrefix(s, ":") {
		return h, fmt.Errorf("%q after the length", safetext.Clip(s, 40))
	}
	h.values = strings.Trim(s[1:], " ")
	h.inline = h.values != ""
	switch {
	case h.inline && s[1] != ' ':
		return h, fmt.Errorf("no space after the colon")
	case h.inline && h.columns != nil:
		return h, fmt.Errorf("values beside the columns")
	}
	return h, nil
}

// array reads the values of a header. Those on lines of their own have the given
// depth.
func (d *decoder) array(h header, depth int) (any, error) {
	d.at++
	switch {
	case h.inline:
		cells, err := readRow(h.values, h.delimiter)
		if err == nil && len(cells) != h.length {
			err = fmt.Errorf("%d values, not %d", len(cells), h.length)
		}
		return cells, err
	case h.columns != nil:
		return d.table(h, depth)
	}
	list := []any{}
	for {
		text, ok := d.peek(depth)
		if !ok || !strings.HasPrefix(text, "- ") && text != "-" {
			break
		}
		if d.lines[d.at].afterBlank {
			return nil, fmt.Errorf("a blank line inside of an array")
		}
		item, err := d.item(strings.Trim(text[1:], " "), depth)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	if len(list) != h.length {
		return nil, fmt.Errorf("%d items, not %d", len(list), h.length)
	}
	return list, nil
}

// item reads what follows a hyphen at the given depth.
func (d *decoder) item(text string, depth int) (any, error) {
	switch {
	case text == "":
		d.at++
		return toon.Object{}, nil
	case text == "[]":
		d.at++
		return []any{}, nil
	case text[0] == '[':
		h, err := readHeader(text)
		if err == nil && h.columns != nil {
			err = fmt.Errorf("a table without a key")
		}
		if err != nil {
			return nil, err
		}
		return d.array(h, depth+1)
	case !isField(text):
		d.at++
		return readCell(text)
	}
	first, err := d.field(text, depth+2)
	if err != nil {
		return nil, err
	}
	rest, err := d.object(depth + 1)
	if slices.ContainsFunc(rest, func(f toon.Field) bool { return f.Key == first.Key }) {
		return nil, fmt.Errorf("key %q is repeated", safetext.Clip(first.Key, 40))
	}
	return append(toon.Object{first}, rest...), err
}

func (d *decoder) table(h header, depth int) (any, error) {
	t := toon.Table{Columns: h.columns}
	for {
		text, ok := d.peek(depth)
		if !ok || !isRow(text, h.delimiter) {
			break
		}
		if d.lines[d.at].afterBlank {
			return nil, fmt.Errorf("a blank line inside of an array")
		}
		row, err := readRow(text, h.delimiter)
		if err != nil {
			return nil, err
		}
		if len(row) != len(t.Columns) {
			return nil, fmt.Errorf("%d cells, not %d", len(row), len(t.Columns))
		}
		t.Rows = append(t.Rows, row)
		d.at++
	}
	if len(t.Rows) != h.length {
		return nil, fmt.Errorf("%d rows, not %d", len(t.Rows), h.length)
	}
	if len(t.Rows) == 0 {
		return []any{}, nil
	}
	return t, nil
}
