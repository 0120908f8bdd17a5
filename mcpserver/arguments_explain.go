package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hearken-dev/hearken/safetext"
)

// explain says why arguments could not be decoded: what was expected, and what
// was given.
func (a *arguments[T]) explain(raw json.RawMessage, err error) error {
	given := decodeAny(raw)
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return a.explainUnknown(strings.Trim(name, `"`), given)
	}
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return invalid("The arguments of %s are not valid JSON.", a.tool)
	}
	if e.Field == "" {
		return invalid("The arguments of %s must be an object, got %s.", a.tool, describe(given))
	}
	want := reflect.TypeFor[T]()
	for name := range strings.SplitSeq(e.Field, ".") {
		want, given = fieldOf(want, name), memberOf(given, name)
	}
	switch v := given.(type) {
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); errors.Is(err, strconv.ErrRange) && want.Kind() == reflect.Int {
			return a.explainRange(e.Field, v)
		}
	case []any:
		for _, entry := range v {
			if _, ok := entry.(string); !ok && entry != nil && want.Kind() == reflect.Slice {
				return invalid("%s must be an array of strings, got %s in it.", e.Field, describe(entry))
			}
		}
	}
	return invalid("%s must be %s, got %s.", e.Field, typeName(want), describe(given))
}

// explainRange is about a whole number that is too large for an int.
func (a *arguments[T]) explainRange(name string, n json.Number) error {
	for i := range a.checks {
		if bounds := a.checks[i].bounds(); a.checks[i].name == name && bounds != "" {
			return invalid("%s must be%s, got %s.", name, bounds, describe(n))
		}
	}
	return invalid("%s is out of range: %s.", name, describe(n))
}

// explainUnknown is about an argument that the tool, or an object among its
// arguments, does not have.
func (a *arguments[T]) explainUnknown(name string, given any) error {
	owner, fields := a.tool, reflect.TypeFor[T]()
	members, _ := given.(map[string]any)
	_, own := members[name]
	for _, key := range fieldNames(fields) {
		nested, _ := memberOf(given, key).(map[string]any)
		if _, ok := nested[name]; ok && !own {
			owner, fields = key, fieldOf(fields, key)
			break
		}
	}
	return invalid("%s has no argument %q; it takes %s.", owner, safetext.Clip(name, 64), strings.Join(fieldNames(fields), ", "))
}

// decodeAny decodes JSON that is known to be valid, with numbers as written.
func decodeAny(raw json.RawMessage) (v any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// memberOf finds a member of an object as encoding/json does: by its name in
// any case.
func memberOf(object any, name string) any {
	members, _ := object.(map[string]any)
	if v, ok := members[name]; ok {
		return v
	}
	for key, v := range members {
		if strings.EqualFold(key, name) {
			return v
		}
	}
	return nil
}

// fieldOf is the type of a struct's field by its JSON name, without pointers;
// the struct's own type if there is no such field.
func fieldOf(t reflect.Type, name string) reflect.Type {
	if t.Kind() != reflect.Struct {
		return t
	}
	i := slices.Index(fieldNames(t), name)
	if i < 0 {
		return t
	}
	if f := t.Field(i).Type; f.Kind() != reflect.Pointer {
		return f
	}
	return t.Field(i).Type.Elem()
}

func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
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
	case reflect.Struct:
		return "an object"
	}
	return "a string"
}

// describe shows a decoded value in a sentence.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(safetext.Clip(v, 40))
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return safetext.Clip(v.String(), 40)
	case []any:
		return "an array"
	}
	return "an object"
}
