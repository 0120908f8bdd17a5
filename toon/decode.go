package toon

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode reads what [Encode] writes. Numbers come back as float64. It is
// strict: lengths must be right, indentation must be two spaces for each
// level, keys must not be repeated.
func Decode(b []byte) (Object, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("toon: not UTF-8")
	}
	d := &decoder{}
	if len(b) > 0 {
		d.lines = strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	}
	o, err := d.object(0)
	if err == nil && d.at < len(d.lines) {
		err = fmt.Errorf("unexpected indentation")
	}
	if err != nil {
		return nil, fmt.Errorf("toon: line %d: %w", d.at+1, err)
	}
	return o, nil
}

type decoder struct {
	lines []string
	at    int
}

// peek returns the current line without its indentation if it has exactly the
// given depth.
func (d *decoder) peek(depth int) (string, bool) {
	if d.at >= len(d.lines) {
		return "", false
	}
	line := d.lines[d.at]
	rest := strings.TrimLeft(line, " ")
	return rest, len(line)-len(rest) == 2*depth && rest != ""
}

func (d *decoder) object(depth int) (Object, error) {
	o := Object{}
	for {
		line, ok := d.peek(depth)
		if !ok {
			return o, nil
		}
		f, err := d.field(line, depth)
		if err != nil {
			return nil, err
		}
		for _, other := range o {
			if other.Key == f.Key {
				return nil, fmt.Errorf("key %q is repeated", f.Key)
			}
		}
		o = append(o, f)
	}
}

func (d *decoder) field(line string, depth int) (Field, error) {
	key, rest, err := readKey(line, ":[")
	if err != nil {
		return Field{}, err
	}
	f := Field{Key: key}
	if strings.HasPrefix(rest, "[") {
		f.Value, err = d.array(rest, depth)
		return f, err
	}
	switch rest {
	case ":":
		d.at++
		f.Value, err = d.object(depth + 1)
		return f, err
	case ": []":
		d.at++
		f.Value = []any{}
		return f, nil
	}
	rest, ok := strings.CutPrefix(rest, ": ")
	if !ok {
		return f, fmt.Errorf("no space after the colon")
	}
	cells, err := readRow(rest)
	if err != nil {
		return f, err
	}
	if len(cells) != 1 {
		return f, fmt.Errorf("a comma in a plain value")
	}
	d.at++
	f.Value = cells[0]
	return f, nil
}

// array reads a list or a table from its length on.
func (d *decoder) array(s string, depth int) (any, error) {
	length, s, ok := strings.Cut(s[1:], "]")
	n, err := strconv.Atoi(length)
	if !ok || err != nil || n < 1 || length != strconv.Itoa(n) {
		return nil, fmt.Errorf("length %q", length)
	}
	if list, ok := strings.CutPrefix(s, ": "); ok {
		cells, err := readRow(list)
		if err == nil && len(cells) != n {
			err = fmt.Errorf("%d values, not %d", len(cells), n)
		}
		d.at++
		return cells, err
	}
	s, ok = strings.CutPrefix(s, "{")
	if !ok {
		return nil, fmt.Errorf("neither a list nor a table")
	}
	t := Table{}
	for {
		var column string
		if column, s, err = readKey(s, ",}"); err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, column)
		if s[0] == '}' {
			break
		}
		s = s[1:]
	}
	if s != "}:" {
		return nil, fmt.Errorf("%q after the columns", s)
	}
	d.at++
	for range n {
		line, ok := d.peek(depth + 1)
		if !ok {
			return nil, fmt.Errorf("%d rows, not %d", len(t.Rows), n)
		}
		row, err := readRow(line)
		if err != nil {
			return nil, err
		}
		if len(row) != len(t.Columns) {
			return nil, fmt.Errorf("%d cells, not %d", len(row), len(t.Columns))
		}
		t.Rows = append(t.Rows, row)
		d.at++
	}
	if _, more := d.peek(depth + 1); more {
		return nil, fmt.Errorf("more than %d rows", n)
	}
	return t, nil
}

// readKey reads a key up to one of the given characters, which it leaves.
func readKey(s, ends string) (key, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		key, rest, err = readQuoted(s)
	} else {
		i := strings.IndexAny(s, ends)
		if i < 0 {
			return "", "", fmt.Errorf("a key without an end")
		}
		key, rest = s[:i], s[i:]
		if !plainKey(key) {
			return "", "", fmt.Errorf("key %q is not quoted", key)
		}
	}
	if err == nil && (rest == "" || !strings.Contains(ends, rest[:1])) {
		err = fmt.Errorf("a key without an end")
	}
	return key, rest, err
}

func readRow(s string) ([]any, error) {
	var cells []any
	for {
		var cell any
		if strings.HasPrefix(s, `"`) {
			text, rest, err := readQuoted(s)
			if err != nil {
				return nil, err
			}
			cell, s = text, rest
		} else {
			i := strings.IndexByte(s, ',')
			if i < 0 {
				i = len(s)
			}
			var err error
			if cell, err = readPlain(s[:i]); err != nil {
				return nil, err
			}
			s = s[i:]
		}
		cells = append(cells, cell)
		if s == "" {
			return cells, nil
		}
		if s[0] != ',' {
			return nil, fmt.Errorf("%q after a quoted value", s)
		}
		s = s[1:]
	}
}

func readPlain(s string) (any, error) {
	switch s {
	case "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	if s != "" && looksNumeric(s) && s[0] != '+' {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, fmt.Errorf("number %q", s)
		}
		return f, nil
	}
	if mustQuote(s) {
		return nil, fmt.Errorf("value %q is not quoted", s)
	}
	return s, nil
}

func readQuoted(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], nil
		case c < ' ':
			return "", "", fmt.Errorf("a control character in a string")
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(s):
			return "", "", fmt.Errorf("a string without an end")
		default:
			i++
			switch s[i] {
			case '"', '\\':
				b.WriteByte(s[i])
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			case 'u':
				if i+4 >= len(s) {
					return "", "", fmt.Errorf("a string without an end")
				}
				n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
				if err != nil {
					return "", "", fmt.Errorf("escape %q", s[i-1:i+5])
				}
				b.WriteRune(rune(n))
				i += 4
			default:
				return "", "", fmt.Errorf("escape %q", s[i-1:i+1])
			}
		}
	}
	return "", "", fmt.Errorf("a string without an end")
}
