package upgrade

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// maxLine is how long a line of laid out JSON may be, except where it is one
// long string.
const maxLine = 300

// layout writes a value as JSON that people can read and that is not mostly
// white space: what fits on a line is on one line.
func layout(v any) ([]byte, error) {
	t, err := tree(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = write(&b, t, "\n")
	return b.Bytes(), err
}

// write writes a tree. Newline is what begins a line at its depth.
func write(b *bytes.Buffer, t any, newline string) error {
	line, err := compact(t)
	if err != nil {
		return err
	}
	inner := newline + " "
	switch t := t.(type) {
	case map[string]any:
		if len(newline)+len(line) <= maxLine {
			break
		}
		b.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(t)) {
			if i > 0 {
				b.WriteByte(',')
			}
			quoted, err := compact(name)
			if err != nil {
				return err
			}
			b.WriteString(inner + string(quoted) + ": ")
			if err := write(b, t[name], inner); err != nil {
				return err
			}
		}
		b.WriteString(newline + "}")
		return nil
	case []any:
		if len(newline)+len(line) <= maxLine {
			break
		}
		b.WriteByte('[')
		for i, v := range t {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			if err := write(b, v, inner); err != nil {
				return err
			}
		}
		b.WriteString(newline + "]")
		return nil
	}
	b.Write(line)
	return nil
}

// compact is a value as JSON on one line.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
