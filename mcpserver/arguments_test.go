package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
)

func TestArguments_Read(t *testing.T) {
	args := newArguments[readIn]("get_transcription")
	full := readIn{SessionID: "x", Limit: 50}
	for _, tt := range []struct {
		name, raw string
		want      readIn
		err       string // part of the message; empty for none
	}{
		{name: "Defaults", raw: `{"sessionId":"x"}`, want: full},
		{name: "NullIsLeftOut", raw: `{"sessionId":"x","limit":null,"cursor":null}`, want: full},
		{name: "All", raw: `{"sessionId":"x","fromSegment":-5,"limit":7,"includeWords":true,"waitSeconds":20}`,
			want: readIn{SessionID: "x", FromSegment: -5, Limit: 7, IncludeWords: true, WaitSeconds: 20}},
		{name: "Missing", raw: `{}`, err: "sessionId is required."},
		{name: "None", raw: ``, err: "sessionId is required."},
		{name: "LimitZero", raw: `{"sessionId":"x","limit":0}`, err: "limit must be between 1 and 500, got 0."},
		{name: "LimitHuge", raw: `{"sessionId":"x","limit":1000000}`, err: "limit must be between 1 and 500, got 1000000."},
		{name: "LimitOverflows", raw: `{"sessionId":"x","limit":99999999999999999999}`, err: "limit must be between 1 and 500, got 99999999999999999999."},
		{name: "Overflows", raw: `{"sessionId":"x","fromSegment":-99999999999999999999}`, err: "fromSegment is out of range: -99999999999999999999."},
		{name: "WaitNegative", raw: `{"sessionId":"x","waitSeconds":-1}`, err: "waitSeconds must be between 0 and 20"},
		{name: "WrongType", raw: `{"sessionId":"x","limit":"ten"}`, err: `limit must be a whole number, got "ten".`},
		{name: "Fraction", raw: `{"sessionId":"x","limit":1.5}`, err: "limit must be a whole number, got 1.5."},
		{name: "IDNotAString", raw: `{"sessionId":7}`, err: "sessionId must be a string, got 7."},
		{name: "Unknown", raw: `{"sessionId":"x","from":1}`, err: `get_transcription has no argument "from"; it takes sessionId, fromSegment,`},
		{name: "NotAnObject", raw: `[1]`, err: "must be an object, got an array."},
		{name: "CursorLong", raw: `{"sessionId":"x","cursor":"` + strings.Repeat("a", 81) + `"}`, err: "cursor must be at most 80 characters long, got 81."},
		{name: "Broken", raw: `{"sessionId"`, err: "not valid JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := args.read(json.RawMessage(tt.raw))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				if code := hearken.CodeOf(err); code != hearken.Invalid {
					t.Errorf("code %q, want %q", code, hearken.Invalid)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestArguments_EnumAndLists(t *testing.T) {
	list := newArguments[listIn]("list_sessions")
	if got, err := list.read(nil); err != nil || got.Status != "all" || got.Limit != 20 {
		t.Errorf("defaults: %+v, %v", got, err)
	}
	if _, err := list.read(json.RawMessage(`{"status":"paused"}`)); err == nil || err.Error() != `status must be one of active, stopped, all, got "paused".` {
		t.Errorf("unknown status: %v", err)
	}
	start := newArguments[startIn]("start_transcription")
	many := `{"vocabulary":[` + strings.Repeat(`"a",`, 500) + `"a"]}`
	if _, err := start.read(json.RawMessage(many)); err == nil || !strings.Contains(err.Error(), "vocabulary must be at most 500 entries long, got 501.") {
		t.Errorf("long vocabulary: %v", err)
	}
	// A default must not be shared between calls.
	if _, err := start.read(json.RawMessage(`{"vocabulary":["a"]}`)); err != nil {
		t.Fatal(err)
	}
	if got, err := start.read(nil); err != nil || got.Vocabulary != nil {
		t.Errorf("after another call: %+v, %v", got, err)
	}
}

func TestArguments_Explain(t *testing.T) {
	start := newArguments[startIn]("start_transcription")
	message := newArguments[messageIn]("message_send")
	tail := newArguments[tailIn]("pscribe_tail")
	readStart := func(raw string) (err error) { _, err = start.read(json.RawMessage(raw)); return err }
	readMessage := func(raw string) (err error) { _, err = message.read(json.RawMessage(raw)); return err }
	readTail := func(raw string) (err error) { _, err = tail.read(json.RawMessage(raw)); return err }
	for _, tt := range []struct {
		read      func(string) error
		raw, want string
	}{
		{readTail, `{"n":2.5}`, "n must be a whole number, got 2.5."},
		{readTail, `{"N":"two"}`, `n must be a whole number, got "two".`},
		{readTail, `{"n":1e3}`, "n must be a whole number, got 1e3."},
		{readTail, `{"since_line":9223372036854775808}`, "since_line must be at least 1, got 9223372036854775808."},
		{readTail, `{"since_line":[1]}`, "since_line must be a whole number, got an array."},
		{readTail, `{"include_echo":"yes"}`, `include_echo must be true or false, got "yes".`},
		{readTail, `"n"`, `The arguments of pscribe_tail must be an object, got "n".`},
		{readTail, `{"n":1,"null":null}`, `pscribe_tail has no argument "null"; it takes n, since_line, status,`},
		{readStart, `{"vocabulary":"Rhabarber"}`, `vocabulary must be an array of strings, got "Rhabarber".`},
		{readStart, `{"vocabulary":["a",7]}`, "vocabulary must be an array of strings, got 7 in it."},
		{readStart, `{"title":{}}`, "title must be a string, got an object."},
		{readStart, `{"translate":1}`, "translate must be true or false, got 1."},
		{readMessage, `{"evidence":"he said so"}`, `evidence must be an object, got "he said so".`},
		{readMessage, `{"evidence":{"session_id":true}}`, "evidence.session_id must be a string, got true."},
		{readMessage, `{"evidence":{"segment_ids":[null,{}]}}`, "evidence.segment_ids must be an array of strings, got an object in it."},
		{readMessage, `{"evidence":{"said":"x"}}`, `evidence has no argument "said"; it takes session_id, segment_ids, quote.`},
		{readMessage, `{"said":1,"evidence":{"said":"x"}}`, `message_send has no argument "said"; it takes to, text,`},
	} {
		if err := tt.read(tt.raw); err == nil || !strings.Contains(err.Error(), tt.want) || hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%s: %v, want %s", tt.raw, err, tt.want)
		}
	}
}

// What a schema allows is accepted, and what it forbids is refused.
func TestArguments_KeepToTheirSchema(t *testing.T) {
	for _, tool := range tools() {
		t.Run(tool.Name, func(t *testing.T) {
			schema, err := tool.input.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				args := map[string]any{}
				for _, name := range tool.input.PropertyOrder {
					switch rapid.IntRange(0, 9).Draw(t, name+" is") {
					case 0, 1, 2: // left out
					case 3:
						args[name] = anything.Draw(t, name)
					default:
						args[name] = likely(tool.input.Properties[name]).Draw(t, name)
					}
				}
				if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
					args["unknown"] = 1
				}
				data, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				var plain any
				if err := json.Unmarshal(data, &plain); err != nil {
					t.Fatal(err)
				}
				forbidden := schema.Validate(plain)
				refused := tool.read(data)
				if (forbidden == nil) != (refused == nil) {
					t.Fatalf("%s: the schema says %v, the tool %v", data, forbidden, refused)
				}
				if refused != nil && hearken.CodeOf(refused) != hearken.Invalid {
					t.Fatalf("%s: %v", data, refused)
				}
			})
		})
	}
}

var anything = rapid.OneOf(
	rapid.Just[any](true), rapid.Just[any](""), rapid.Just[any](map[string]any{}), rapid.Just[any]([]any{1}), rapid.Just[any]([]any{}),
	rapid.Just[any](strings.Repeat("é", 201)), rapid.Just[any](1.5), rapid.Map(rapid.IntRange(-3, 2000), toAny))

func toAny[T any](v T) any { return v }

// likely generates values that a schema mostly allows.
func likely(s *jsonschema.Schema) *rapid.Generator[any] {
	switch s.Type {
	case "boolean":
		return rapid.Map(rapid.Bool(), toAny)
	case "integer":
		return rapid.Map(rapid.IntRange(-1, 502), toAny)
	case "number":
		return rapid.Map(rapid.Float64Range(-1, 1500), toAny)
	case "array":
		return rapid.Map(rapid.SliceOfN(rapid.StringN(0, 5, -1), 0, 5), toAny)
	}
	if s.Enum != nil {
		return rapid.SampledFrom(append([]any{"other"}, s.Enum...))
	}
	return rapid.Map(rapid.StringN(0, 120, -1), toAny)
}

func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"sessionId":"x","limit":5,"cursor":null}`))
	f.Add([]byte(`{"query":"\ud800","vocabulary":["a"]}`))
	f.Add([]byte(`[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, tool := range tools() {
			if err := tool.read(data); err != nil && hearken.CodeOf(err) != hearken.Invalid {
				t.Errorf("%s: %v", tool.Name, err)
			}
		}
	})
}

func TestCursor(t *testing.T) {
	const id, other = "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	c := cursor{id, 2, 117}
	if got, err := parseCursor(c.String(), id); err != nil || got != c {
		t.Errorf("there and back: %+v, %v", got, err)
	}
	for _, text := range []string{c.String() + ".1", "x", "7728950e.2", "7728950e.-1.3", "7728950e.1.-3", "7728950e.1.x", ".1.1", "7728950e.1.99999999999999999999", cursor{other, 1, 1}.String()} {
		if _, err := parseCursor(text, id); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%q: %v, want an invalid cursor", text, err)
		}
	}
}

func TestToolsets(t *testing.T) {
	count := func(names ...string) (n int) {
		for _, tool := range tools() {
			if tool.inToolsets(names) {
				n++
			}
		}
		return n
	}
	all := len(tools())
	if count() != all || count(AllTools) != all || count(Scribe, AllTools) != all {
		t.Errorf("not all tools: %d, %d of %d", count(), count(AllTools), all)
	}
	for _, tool := range tools() {
		if tool.inToolsets([]string{ReadOnly}) != tool.Annotations.ReadOnlyHint {
			t.Errorf("%s does not belong in read, or does", tool.Name)
		}
		if tool.inToolsets([]string{tool.set, ReadOnly}) != tool.Annotations.ReadOnlyHint {
			t.Errorf("%s with its set and read", tool.Name)
		}
	}
	if n := count("reed"); n != 0 {
		t.Errorf("a misspelt toolset gives %d tools", n)
	}
	if err := CheckToolsets([]string{"transcription", "read"}); err != nil {
		t.Error(err)
	}
	if err := CheckToolsets([]string{"reed"}); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("misspelt: %v", err)
	}
}
