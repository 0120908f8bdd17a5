package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hearken-dev/hearken"
)

// arguments reads the arguments of one tool. The fields of T may have these
// tags besides json and jsonschema (the description): default; min and max of
// a number; max of a text's characters or a list's entries; enum, words with
// commas between.
// Fields without omitempty are required: texts must not be empty, and numbers
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
	a.schema.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // no others
	defaults := reflect.ValueOf(&a.defaults).Elem()
	for i := range defaults.NumField() {
		f := defaults.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		c := check{name: name, field: i, required: options == "", min: number(f.Tag.Get("min")), max: number(f.Tag.Get("max"))}
		s := a.schema.Properties[name]
		switch f.Type.Kind() {
		case reflect.String:
			s.MaxLength = whole(c.max)
			if c.required {
				s.MinLength = new(1)
			}
		case reflect.Slice:
			s.MaxItems = whole(c.max)
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

// read decodes and checks. An argument that is null counts as left out.
func (a *arguments[T]) read(raw json.RawMessage) (T, error) {
	in := a.defaults
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, a.explain(err)
	}
	v := reflect.ValueOf(&in).Elem()
	for i := range a.checks {
		if err := a.checks[i].hold(v.Field(a.checks[i].field)); err != nil {
			return in, err
		}
	}
	return in, nil
}

func (c *check) hold(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && c.required {
			return wrong("%s is required.", c.name)
		}
		if v.IsNil() {
			return nil
		}
		return c.hold(v.Elem())
	case reflect.Int:
		return c.within(float64(v.Int()), "")
	case reflect.Float64:
		return c.within(v.Float(), "")
	case reflect.String:
		s := v.String()
		if c.required && s == "" {
			return wrong("%s is required.", c.name)
		}
		if c.enum != nil && !slices.Contains(c.enum, s) {
			return wrong("%s must be one of %s, not %q.", c.name, strings.Join(c.enum, ", "), clip(s, 40))
		}
		return c.within(float64(utf8.RuneCountInString(s)), " characters long")
	case reflect.Slice:
		return c.within(float64(v.Len()), " entries long")
	}
	return nil
}

func (c *check) within(n float64, what string) error {
	switch {
	case c.min != nil && c.max != nil && (n < *c.min || n > *c.max):
		return wrong("%s must be between %s and %s%s, not %s.", c.name, digits(*c.min), digits(*c.max), what, digits(n))
	case c.min != nil && n < *c.min:
		return wrong("%s must be at least %s%s, not %s.", c.name, digits(*c.min), what, digits(n))
	case c.max != nil && n > *c.max:
		return wrong("%s must be at most %s%s, not %s.", c.name, digits(*c.max), what, digits(n))
	}
	return nil
}

// explain says in plain words why arguments could not be decoded.
func (a *arguments[T]) explain(err error) error {
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		var names []string
		for _, c := range a.checks {
			names = append(names, c.name)
		}
		return wrong("%s has no argument %s; it takes %s.", a.tool, clip(name, 64), strings.Join(names, ", "))
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		got, _, _ := strings.Cut(e.Value, " ") // "number 5.5"
		if e.Field == "" {
			return wrong("The arguments of %s must be an object, not %s.", a.tool, article(got))
		}
		return wrong("%s must be %s, not %s.", e.Field, typeName(e.Type), article(got))
	}
	return wrong("The arguments of %s are not valid JSON.", a.tool)
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array of strings"
	}
	return "a string"
}

func article(noun string) string {
	switch noun {
	case "array", "object":
		return "an " + noun
	case "bool":
		return "true or false"
	}
	return "a " + noun
}

// wrong is an error that the caller can mend.
func wrong(format string, args ...any) error {
	return hearken.Errorf(hearken.Invalid, format, args...)
}

// digits writes a number as people do, a million without an exponent.
func digits(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func number(s string) *float64 {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic("limit in a tag: " + err.Error())
	}
	return &n
}

func whole(n *float64) *int {
	if n == nil {
		return nil
	}
	i := int(*n)
	return &i
}
