// Package toon writes TOON, a notation for language models that saves tokens: a
// transcript of 100 entries takes half of the tokens that JSON takes.
//
//	session: 2f1c…
//	transcript[2]{timestamp,source,text}:
//	  "2026-01-15T14:30:00+01:00",M,Hello world
//	  "2026-01-15T14:30:05+01:00",S,"Hej, där"
//
// It writes version 3 of the notation with its default options, and is held to
// the specification's fixtures and to the reference library.
package toon

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An Object is a list of fields in their order.
type Object []Field

// A Field has a key and a value: nil, a bool, an int, an int64, a float64, a
// string, an [Object], a [Table], or a []any of such values.
type Field struct {
	Key   string
	Value any
}

// A Table is a list of rows that all have the same columns. Its cells are
// plain values.
type Table struct {
	Columns []string
	Rows    [][]any
}

// Get returns the value of a key, or nil.
func (o Object) Get(key string) any {
	for _, f := range o {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// Encode writes an [Object], or another value that a [Field] may have. There is
// no newline at the end.
func Encode(v any) []byte {
	var b []byte
	switch v := v.(type) {
	case Object:
		b = appendObject(nil, v, 0)
	case Table, []any:
		b = appendArray(nil, v, 0, "[]", true)
	default:
		b = appendValue(nil, v)
	}
	return bytes.TrimSuffix(b, []byte("\n"))
}

func appendObject(b []byte, o Object, depth int) []byte {
	for _, f := range o {
		b = appendIndent(b, depth)
		b = appendKey(b, f.Key)
		switch v := f.Value.(type) {
		case Object:
			b = append(b, ":\n"...)
			b = appendObject(b, v, depth+1)
		case Table, []any:
			b = appendArray(b, v, depth, ": []", true)
		default:
			b = append(b, ": "...)
			b = append(appendValue(b, v), '\n')
		}
	}
	return b
}

// appendArray writes what follows the key of an array, or the hyphen of one
// without a key. How an empty one looks depends on that, and whether it can be a
// table.
func appendArray(b []byte, v any, depth int, empty string, tabular bool) []byte {
	list, _ := v.([]any)
	t, ok := v.(Table)
	if ok && !tabular {
		list = t.list()
	}
	if !ok && tabular {
		t, ok = tableOf(list)
	}
	switch {
	case ok && tabular && len(t.Rows) > 0:
		return appendTable(b, t, depth)
	case len(list) == 0:
		return append(append(b, empty...), '\n')
	}
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(len(list)), 10)
	b = append(b, "]:"...)
	if !slices.ContainsFunc(list, isCompound) {
		b = append(b, ' ')
		return append(AppendRow(b, list...), '\n')
	}
	b = append(b, '\n')
	for _, item := range list {
		b = appendIndent(b, depth+1)
		b = append(b, '-')
		switch v := item.(type) {
		case Object: // its first field is on the line of the hyphen
			if len(v) == 0 {
				b = append(b, '\n')
				break
			}
			b = append(b, appendObject(nil, v, depth+2)[2*(depth+2)-1:]...)
		case Table, []any:
			b = appendArray(append(b, ' '), v, depth+1, "[0]:", false)
		default:
			b = append(appendValue(append(b, ' '), v), '\n')
		}
	}
	return b
}

// isCompound reports whether a value needs lines of its own.
func isCompound(v any) bool {
	switch v.(type) {
	case Object, Table, []any:
		return true
	}
	return false
}

// tableOf makes a table of objects that all have the same keys and plain values.
func tableOf(list []any) (Table, bool) {
	if len(list) == 0 {
		return Table{}, false
	}
	first, ok := list[0].(Object)
	if !ok || len(first) == 0 {
		return Table{}, false
	}
	t := Table{Rows: make([][]any, 0, len(list))}
	for _, f := range first {
		t.Columns = append(t.Columns, f.Key)
	}
	for _, item := range list {
		o, ok := item.(Object)
		if !ok || len(o) != len(first) {
			return Table{}, false
		}
		row := make([]any, len(first))
		for i, key := range t.Columns {
			at := slices.IndexFunc(o, func(f Field) bool { return f.Key == key })
			if at < 0 || isCompound(o[at].Value) {
				return Table{}, false
			}
			row[i] = o[at].Value
		}
		t.Rows = append(t.Rows, row)
	}
	return t, true
}

// list is the table as a list of objects.
func (t Table) list() []any {
	list := make([]any, len(t.Rows))
	for i, row := range t.Rows {
		o := make(Object, len(t.Columns))
		for j, column := range t.Columns {
			o[j] = Field{column, row[j]}
		}
		list[i] = o
	}
	return list
}

func appendTable(b []byte, t Table, depth int) []byte {
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(len(t.Rows)), 10)
	b = append(b, "]{"...)
	for i, c := range t.Columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendKey(b, c)
	}
	b = append(b, "}:\n"...)
	for _, row := range t.Rows {
		b = appendIndent(b, depth+1)
		b = append(AppendRow(b, row...), '\n')
	}
	return b
}

// AppendRow writes plain values with commas between them, as a table's rows
// are written.
func AppendRow(b []byte, cells ...any) []byte {
	for i, cell := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, cell)
	}
	return b
}

func appendIndent(b []byte, depth int) []byte {
	for range depth {
		b = append(b, "  "...)
	}
	return b
}

func appendKey(b []byte, key string) []byte {
	if isPlainKey(key) {
		return append(b, key...)
	}
	return appendQuoted(b, key)
}

func isPlainKey(key string) bool {
	for i := range len(key) {
		c := key[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return key != ""
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendNumber(b, v)
	case string:
		if mustQuote(v) {
			return appendQuoted(b, v)
		}
		return append(b, v...)
	}
	return append(b, "null"...)
}

// appendNumber writes a number in the canonical form: an exponent only for very
// small and very large ones, no zeros at the end, no negative zero.
func appendNumber(b []byte, f float64) []byte {
	abs := math.Abs(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(b, "null"...)
	case f == 0:
		return append(b, '0')
	case abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	return append(b, strings.Replace(s, "e-0", "e-", 1)...)
}

// mustQuote reports whether a string without quotes would be read as something
// else, or not at all.
func mustQuote(s string) bool {
	switch s {
	case "", "true", "false", "null":
		return true
	}
	if s[0] == '-' || s[0] == '#' || isBlank(s[0]) || isBlank(s[len(s)-1]) {
		return true
	}
	if strings.ContainsAny(s, `:"\[]{},`) || looksNumeric(s) {
		return true
	}
	return slices.ContainsFunc([]byte(s), func(c byte) bool { return c < ' ' })
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// looksNumeric reports whether s is digits with perhaps a sign, a fraction and
// an exponent.
func looksNumeric(s string) bool {
	s = strings.TrimLeft(s[:1], "+-") + s[1:]
	s, exponent, exponential := strings.Cut(strings.ToLower(s), "e")
	if exponential {
		if exponent != "" {
			exponent = strings.TrimLeft(exponent[:1], "+-") + exponent[1:]
		}
		if !isDigits(exponent) {
			return false
		}
	}
	whole, fraction, fractional := strings.Cut(s, ".")
	return isDigits(whole) && (!fractional || isDigits(fraction))
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
