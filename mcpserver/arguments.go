package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// arguments reads the arguments of one tool. Besides json and jsonschema (the
// description), the fields of T may have these tags: default; min and max of a
// number; max of a string's characters or a list's entries; enum, as words
// separated by commas.
//
// Fields without omitempty are required: strings must not be empty, and numbers
// have a minimum above zero or are pointers. A pointer is nil if the argument
// was left out.
type arguments[T any] struct {
	tool     string
	schema   *jsonschema.Schema
	defaults T
	checks   []check
}

// A check is what must hold for one argument.
type check struct {
	name     string
	field    int
	required bool
	min, max *float64
	enum     []string
}

func newArguments[T any](tool string) *arguments[T] {
	a := &arguments[T]{tool: tool, schema: schemaOf[T]()}
	a.schema.AdditionalProperties = noSchema()
	defaults := reflect.ValueOf(&a.defaults).Elem()
	for i := range defaults.NumField() {
		f := defaults.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		c := check{name: name, field: i, required: options == "", min: parseLimit(f.Tag.Get("min")), max: parseLimit(f.Tag.Get("max"))}
		s := a.schema.Properties[name]
		if s.Type == "object" {
			s.AdditionalProperties = noSchema()
		}
		switch f.Type.Kind() {
		case reflect.String:
			s.MaxLength = toInt(c.max)
			if c.required {
				s.MinLength = new(1)
			}
		case reflect.Slice:
			s.MaxItems = toInt(c.max)
		default:
			s.Minimum, s.Maximum = c.min, c.max
		}
		if words := f.Tag.Get("enum"); words != "" {
			c.enum = strings.Split(words, ",")
			for _, w := range c.enum {
				s.Enum = append(s.Enum, w)
			}
		}
		if text, ok := f.Tag.Lookup("default"); ok {
			if f.Type.Kind() == reflect.String {
				text = strconv.Quote(text)
			}
			s.Default = json.RawMessage(text)
			if err := json.Unmarshal(s.Default, defaults.Field(i).Addr().Interface()); err != nil {
				panic(fmt.Sprintf("default of %s.%s: %v", tool, name, err))
			}
		}
		a.checks = append(a.checks, c)
	}
	return a
}

// noSchema is a schema that no value has: decoding refuses unknown fields.
func noSchema() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// read decodes and checks the arguments of a call. A null argument counts as
// left out.
func (a *arguments[T]) read(raw json.RawMessage) (T, error) {
	in := a.defaults
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, a.explain(raw, err)
	}
	v := reflect.ValueOf(&in).Elem()
	for i := range a.checks {
		if err := a.checks[i].verify(v.Field(a.checks[i].field)); err != nil {
			return in, err
		}
	}
	return in, nil
}

func (c *check) verify(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && c.required {
			return invalid("%s is required.", c.name)
		}
		if v.IsNil() {
			return nil
		}
		return c.verify(v.Elem())
	case reflect.Int:
		return c.verifyRange(float64(v.Int()), "")
	case reflect.Float64:
		return c.verifyRange(v.Float(), "")
	case reflect.String:
		s := v.String()
		if c.required && s == "" {
			return invalid("%s is required.", c.name)
		}
		if c.enum != nil && !slices.Contains(c.enum, s) {
			return invalid("%s must be one of %s, got %q.", c.name, strings.Join(c.enum, ", "), safetext.Clip(s, 40))
		}
		return c.verifyRange(float64(utf8.RuneCountInString(s)), " characters long")
	case reflect.Slice:
		return c.verifyRange(float64(v.Len()), " entries long")
	}
	return nil
}

func (c *check) verifyRange(n float64, unit string) error {
	if c.min != nil && n < *c.min || c.max != nil && n > *c.max {
		return invalid("%s must be%s%s, got %s.", c.name, c.bounds(), unit, formatNumber(n))
	}
	return nil
}

// bounds are the limits in words, with a space before them.
func (c *check) bounds() string {
	switch {
	case c.min != nil && c.max != nil:
		return fmt.Sprintf(" between %s and %s", formatNumber(*c.min), formatNumber(*c.max))
	case c.min != nil:
		return " at least " + formatNumber(*c.min)
	case c.max != nil:
		return " at most " + formatNumber(*c.max)
	}
	return ""
}

// invalid is an error that the caller can correct.
func invalid(format string, args ...any) error {
	return hearken.Errorf(hearken.Invalid, format, args...)
}

// formatNumber writes a number as people do, a million without an exponent.
func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func parseLimit(s string) *float64 {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic("limit in a tag: " + err.Error())
	}
	return &n
}

func toInt(n *float64) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}
