package mcpserver

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf is the JSON schema of T in terms that every client understands:
// one type per value, never a union with null. Our results hold no null: a
// missing value is left out, and an empty list is [].
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time](): {Type: "string", Format: "date-time"},
	}})
	if err != nil {
		panic(fmt.Sprintf("schema of %T: %v", *new(T), err))
	}
	removeNulls(s)
	return s
}

// outlineOf is the output schema that clients get: the names and types of the
// result's own fields, or only of the named ones. Every token of it is paid
// for before a model's first word, and the result shows the rest.
func outlineOf(full *jsonschema.Schema, fields ...string) *jsonschema.Schema {
	s := full.CloneSchemas()
	s.Required = nil
	for name, p := range s.Properties {
		if len(fields) > 0 && !slices.Contains(fields, name) {
			delete(s.Properties, name)
			continue
		}
		p.Format = ""
		for nested := p; nested != nil; nested = nested.Items {
			nested.Properties, nested.PropertyOrder, nested.Required = nil, nil, nil
		}
	}
	return s
}

// removeNulls removes unions with null, and the promise that no field is ever added.
func removeNulls(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 {
		s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
		s.Type, s.Types = s.Types[0], nil
	}
	s.AdditionalProperties = nil
	for _, p := range s.Properties {
		removeNulls(p)
	}
	removeNulls(s.Items)
}
