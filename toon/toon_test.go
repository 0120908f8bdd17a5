package toon

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	"pgregory.net/rapid"
)

func TestEncode_Transcript(t *testing.T) {
	confidence := 0.954
	cet := time.FixedZone("", 3600)
	segments := []hearken.Segment{
		{Line: 1, Origin: "M", Status: "C", Text: "Hello world", StartTime: 1, EndTime: 3.5, Confidence: &confidence, Language: "en", Timestamp: time.Date(2024, 1, 15, 14, 30, 0, 0, cet)},
		{Line: 2, Origin: "S", Status: "C", Text: "Hej, där: \"42\"", EndTime: 3.1, Language: "sv", Timestamp: time.Date(2024, 1, 15, 14, 30, 5, 0, time.UTC)},
		{Line: 3, Origin: "E", Status: "N", Timestamp: time.Date(2024, 1, 15, 14, 30, 9, 0, cet)},
	}
	got := string(Encode(Object{{"session", "s-1"}, {"transcript", Transcript(segments)}, {"next", 4}}))
	want := `session: s-1
transcript[3]{timestamp,source,status,segment,confidence,duration,language,text}:
  "2024-01-15T14:30:00+01:00",M,C,1,0.95,2.5,en,Hello world
  "2024-01-15T14:30:05+00:00",S,C,2,null,3.1,sv,"Hej, där: \"42\""
  "2024-01-15T14:30:09+01:00",E,N,3,null,0,null,""
next: 4`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := string(Encode(Object{{"transcript", Transcript(nil)}})); got != "transcript: []" {
		t.Errorf("empty: %q", got)
	}
}

func TestEncode_Values(t *testing.T) {
	tests := map[string]any{
		"plain text": "plain text", `""`: "", `"true"`: "true", `"null"`: "null", `"5"`: "5", `"-1.5e+3"`: "-1.5e+3", `"05"`: "05",
		`"- item"`: "- item", `"# note"`: "# note", `" a"`: " a", `"a\tb"`: "a\tb", `"a:b"`: "a:b", `"[x]"`: "[x]", `"\u0001"`: "\x01",
		"a-b": "a-b", "1.2.3": "1.2.3", "5 apples": "5 apples", "e5": "e5", "1e": "1e", ".5": ".5", "é 日本": "é 日本",
		"0": math.Copysign(0, -1), "0.000001": 1e-6, "1e-7": 1e-7, "100000000000000000000": 1e20, "1e+21": 1e21, "0.1": 0.1, "null": math.NaN(), "true": true, "-3": -3,
	}
	for want, v := range tests {
		if got := string(appendValue(nil, v)); got != want {
			t.Errorf("%#v: %s, want %s", v, got, want)
		}
	}
}

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
		"empty line":      "a: 1\n\nb: 2",
		"no space":        "a:1",
		"length with 0":   "a[01]: 1",
		"wrong list":      "a[2]: 1",
		"unquoted key":    "a-b: 1",
		"comma":           "a: 1,2",
		"rest":            `a: "x"y`,
		"deeper at start": "  a: 1",
	} {
		if o, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s: decoded as %v", name, o)
		}
	}
}

// objects draws any object that can be written.
func objects() *rapid.Generator[Object] {
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
	var draw func(t *rapid.T, depth int) Object
	draw = func(t *rapid.T, depth int) Object {
		o := Object{}
		for _, k := range rapid.SliceOfNDistinct(key, 0, 4, rapid.ID).Draw(t, "keys") {
			f := Field{Key: k}
			switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case kind == 0 && depth < 3:
				f.Value = draw(t, depth+1)
			case kind == 1:
				columns := rapid.SliceOfNDistinct(key, 1, 4, rapid.ID).Draw(t, "columns")
				table := Table{Columns: columns}
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
	return rapid.Custom(func(t *rapid.T) Object { return draw(t, 0) })
}

func TestEncode_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := objects().Draw(t, "object")
		b := Encode(want)
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
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(Encode(o))
		if err != nil {
			t.Fatalf("%v in\n%s", err, Encode(o))
		}
		if diff := cmp.Diff(o, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The reference library must read what we write, and write the same.
func TestEncode_Reference(t *testing.T) {
	dir := os.Getenv("HEARKEN_TOON_JS")
	if dir == "" {
		t.Skip("set HEARKEN_TOON_JS to a directory in which @toon-format/toon is installed")
	}
	var cases []map[string]any
	gen := objects()
	for i := range 2000 {
		o := gen.Example(i)
		cases = append(cases, map[string]any{"toon": string(Encode(o)), "json": jsonOf(o)})
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", `
import { encode, decode } from '@toon-format/toon';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
let bad = 0;
for (const c of JSON.parse(readFileSync(0, 'utf8'))) {
  const want = JSON.parse(c.json);
  let got, err;
  try { got = decode(c.toon) } catch (e) { err = e.message }
  if (err || !isDeepStrictEqual(got, want)) { bad++; console.log('DECODE', JSON.stringify(c.toon), err, JSON.stringify(got), c.json) }
  const text = encode(want);
  if (text !== c.toon) { bad++; console.log('ENCODE', JSON.stringify(c.toon), JSON.stringify(text)) }
}
process.exit(bad ? 1 : 0);`)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%.4000s", err, out)
	}
}

// jsonOf writes an object as JSON with its keys in order.
func jsonOf(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case Object:
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
	case Table:
		b.WriteByte('[')
		for i, row := range v.Rows {
			if i > 0 {
				b.WriteByte(',')
			}
			o := Object{}
			for j, c := range v.Columns {
				o = append(o, Field{c, row[j]})
			}
			b.WriteString(jsonOf(o))
		}
		b.WriteByte(']')
	case []any:
		j, _ := json.Marshal(v)
		b.Write(j)
	default:
		j, _ := json.Marshal(v)
		b.Write(j)
	}
	return b.String()
}
