package mcpserver

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf is the JSON schema of T in words that every client understands:
// one type for each value, never a union with null. Our outputs hold no null:
// what may be missing is left out, and lists are empty instead.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time](): {Type: "string", Format: "date-time"},
	}})
	if err != nil {
		panic(fmt.Sprintf("schema of %T: %v", *new(T), err))
	}
	plain(s)
	return s
}

// plain takes the unions with null out of s, and the promise that no field is
// ever added.
func plain(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 {
		s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
		s.Type, s.Types = s.Types[0], nil
	}
	s.AdditionalProperties = nil
	for _, p := range s.Properties {
		plain(p)
	}
	plain(s.Items)
}
