package toontest

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken/toon"
)

func TestDecode_Strict(t *testing.T) {
	for name, text := range map[string]string{
		"no length":       "transcript{a,b}:\n  1,2",
		"too few rows":    "t[2]{a}:\n  1",
		"too many rows":   "t[1]{a}:\n  1\n  2",
		"too few cells":   "t[1]{a,b}:\n  1",
		"bare timestamp":  "t[1]{a}:\n  2024-01-15T14:30:00Z",
		"tab":             "a:\n\tb: 1",
		"odd indent":      "a:\n   b: 1",
		"repeated":        "a: 1\na: 2",
		"no end":          `a: "x`,
		"bad escape":      `a: "\x"`,
		"blank in table":  "t[2]{a}:\n  1\n\n  2",
		"no space":        "a:1",
		"length with 0":   "a[01]: 1",
		"wrong list":      "a[2]: 1",
		"unquoted key":    "a-b: 1",
		"surrogate":       `a: "\ud800"`,
		"repeated column": "t[1]{a,a}:\n  1,2",
		"a value":         "a",
		"rest":            `a: "x"y`,
		"deeper at start": "  a: 1",
	} {
		if o, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s: decoded as %v", name, o)
		}
	}
}

// objects generates any object that can be written.
func objects() *rapid.Generator[toon.Object] {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+#0-9eE.,:"\\ \[\]{}a\n\t]{0,8}`))
	plain := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Map(rapid.Float64(), func(v float64) any {
			if math.IsInf(v, 0) || v == 0 {
				return 0.0
			}
			return v
		}),
		rapid.Map(text, func(v string) any { return strings.ToValidUTF8(v, "?") }),
	)
	key := rapid.OneOf(rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_.]{0,6}`), rapid.StringMatching(`([^0-9][^\x00]{0,4})?`)) // a number as a key moves to the front in JavaScript
	var draw func(t *rapid.T, depth int) toon.Object
	draw = func(t *rapid.T, depth int) toon.Object {
		o := toon.Object{}
		for _, k := range rapid.SliceOfNDistinct(key, 0, 4, rapid.ID).Draw(t, "keys") {
			f := toon.Field{Key: k}
			switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case kind == 0 && depth < 3:
				f.Value = draw(t, depth+1)
			case kind == 1:
				columns := rapid.SliceOfNDistinct(key, 1, 4, rapid.ID).Draw(t, "columns")
				table := toon.Table{Columns: columns}
				for range rapid.IntRange(1, 4).Draw(t, "rows") {
					table.Rows = append(table.Rows, rapid.SliceOfN(plain, len(columns), len(columns)).Draw(t, "row"))
				}
				f.Value = table
			case kind == 2:
				f.Value = rapid.SliceOfN(plain, 0, 4).Draw(t, "list")
			default:
				f.Value = plain.Draw(t, "value")
			}
			o = append(o, f)
		}
		return o
	}
	return rapid.Custom(func(t *rapid.T) toon.Object { return draw(t, 0) })
}

// trees generates any value: lists of lists, lists of different objects, and so
// on.
func trees() *rapid.Generator[any] {
	text := rapid.StringMatching(`[-+#0-9eE.,:"\\ \[\]{}a\n\t]{0,6}`)
	key := rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_.]{0,4}|[-: ,a]{0,3}`)
	var draw func(t *rapid.T, depth int) any
	draw = func(t *rapid.T, depth int) any {
		switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
		case kind < 2 && depth < 4:
			o := toon.Object{}
			for _, k := range rapid.SliceOfNDistinct(key, 0, 3, rapid.ID).Draw(t, "keys") {
				o = append(o, toon.Field{Key: k, Value: draw(t, depth+1)})
			}
			return o
		case kind < 5 && depth < 4:
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				list = append(list, draw(t, depth+1))
			}
			return list
		case kind == 5:
			return float64(rapid.IntRange(-5, 100).Draw(t, "number"))
		case kind == 6:
			return rapid.SampledFrom([]any{nil, true, false}).Draw(t, "word")
		}
		return text.Draw(t, "text")
	}
	return rapid.Custom(func(t *rapid.T) any { return draw(t, 0) })
}

func TestEncode_RoundTripOfTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := trees().Draw(t, "value")
		b := toon.Encode(want)
		got, err := DecodeValue(b)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		// A list of like objects comes back as a table, in the order of the
		// first one's keys.
		if diff := cmp.Diff(sorted(jsonOf(want)), sorted(jsonOf(got))); diff != "" {
			t.Fatalf("(-want +got):\n%s\nin\n%s", diff, b)
		}
	})
}

// sorted is JSON with its keys in order.
func sorted(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func TestEncode_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := objects().Draw(t, "object")
		b := toon.Encode(want)
		got, err := Decode(b)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s\nin\n%s", diff, b)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a: 1\nt[2]{x,y}:\n  1,\"b\"\n  null,c\no:\n  k[2]: 1,2\ne: []"))
	f.Add([]byte("[3]:\n  - a: 1\n    b[2|]: x|y\n  - [2]: 1,2\n  -"))
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := DecodeValue(b)
		if err != nil {
			return
		}
		again, err := DecodeValue(toon.Encode(v))
		if err != nil {
			t.Fatalf("%v in\n%s", err, toon.Encode(v))
		}
		if diff := cmp.Diff(sorted(jsonOf(v)), sorted(jsonOf(again))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// jsonOf writes an object as JSON with its keys in order.
func jsonOf(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case toon.Object:
		b.WriteByte('{')
		for i, f := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			k, _ := json.Marshal(f.Key)
			b.Write(k)
			b.WriteByte(':')
			b.WriteString(jsonOf(f.Value))
		}
		b.WriteByte('}')
	case toon.Table:
		b.WriteByte('[')
		for i, row := range v.Rows {
			if i > 0 {
				b.WriteByte(',')
			}
			o := toon.Object{}
			for j, c := range v.Columns {
				o = append(o, toon.Field{Key: c, Value: row[j]})
			}
			b.WriteString(jsonOf(o))
		}
		b.WriteByte(']')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(jsonOf(item))
		}
		b.WriteByte(']')
	default:
		j, _ := json.Marshal(v)
		b.Write(j)
	}
	return b.String()
}
