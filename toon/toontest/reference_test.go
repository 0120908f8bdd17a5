package toontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken/toon"
)

// node is where the reference library is installed.
func node(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HEARKEN_TOON_JS")
	if dir == "" {
		t.Skip("set HEARKEN_TOON_JS to a directory in which @toon-format/toon and @toon-format/spec are installed")
	}
	return dir
}

// A fixture is a test case of the specification.
type fixture struct {
	Name        string
	Input       json.RawMessage
	Expected    json.RawMessage
	ShouldError bool
	Options     map[string]any
}

// ours reports whether a fixture is about what this package does: the default
// notation, read strictly.
func (f *fixture) ours() bool {
	for name, value := range f.Options {
		switch fmt.Sprint(name, " ", value) {
		case "strict true", "indent 2", "delimiter ,", "keyFolding off", "expandPaths off":
		default:
			return false
		}
	}
	return true
}

func fixtures(t *testing.T, kind string) []fixture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(node(t), "node_modules", "@toon-format", "spec", "tests", "fixtures", kind, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("@toon-format/spec is not installed in HEARKEN_TOON_JS")
	}
	var all []fixture
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Tests []fixture }
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, f := range doc.Tests {
			f.Name = strings.TrimSuffix(filepath.Base(file), ".json") + ": " + f.Name
			if f.ours() {
				all = append(all, f)
			}
		}
	}
	return all
}

func TestDecode_Fixtures(t *testing.T) {
	all := fixtures(t, "decode")
	for _, f := range all {
		var input string
		if err := json.Unmarshal(f.Input, &input); err != nil {
			t.Fatal(err)
		}
		got, err := DecodeValue([]byte(input))
		switch {
		case f.ShouldError && err == nil:
			t.Errorf("%s: %q was decoded as %v", f.Name, input, got)
		case f.ShouldError:
		case err != nil:
			t.Errorf("%s: %q: %v", f.Name, input, err)
		default:
			if diff := cmp.Diff(jsonOf(fromJSON(t, f.Expected)), jsonOf(got)); diff != "" {
				t.Errorf("%s: %q: %s", f.Name, input, diff)
			}
		}
	}
	if len(all) < 200 {
		t.Errorf("only %d fixtures", len(all))
	}
}

func TestEncode_Fixtures(t *testing.T) {
	all := fixtures(t, "encode")
	for _, f := range all {
		var want string
		if err := json.Unmarshal(f.Expected, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(toon.Encode(fromJSON(t, f.Input)))); diff != "" {
			t.Errorf("%s: %s: %s", f.Name, f.Input, diff)
		}
	}
	if len(all) < 100 {
		t.Errorf("only %d fixtures", len(all))
	}
}

// fromJSON reads JSON with the order of its keys.
func fromJSON(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	var value func() any
	value = func() any {
		token, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'):
			o := toon.Object{}
			for dec.More() {
				key, err := dec.Token()
				if err != nil {
					t.Fatal(err)
				}
				o = append(o, toon.Field{Key: key.(string), Value: value()})
			}
			dec.Token()
			return o
		case json.Delim('['):
			list := []any{}
			for dec.More() {
				list = append(list, value())
			}
			dec.Token()
			return list
		}
		return token
	}
	return value()
}

// run passes cases to a script that uses the reference library, and returns its
// results.
func run[Out any](t *testing.T, script string, cases any) []Out {
	t.Helper()
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", `
import { encode, decode } from '@toon-format/toon';
import { readFileSync } from 'node:fs';
const out = JSON.parse(readFileSync(0, 'utf8')).map(c => {`+script+`});
process.stdout.write(JSON.stringify(out));`)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = node(t), bytes.NewReader(input), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%.2000s", err, stderr.String())
	}
	var out []Out
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The reference library must read what we write, and write the same.
func TestEncode_Reference(t *testing.T) {
	type doc struct {
		TOON string `json:"toon"`
		JSON string `json:"json"`
	}
	var docs []doc
	flat, deep := objects(), trees()
	for i := range 2000 {
		o := flat.Example(i)
		docs = append(docs, doc{string(toon.Encode(o)), jsonOf(o)})
		v := deep.Example(i)
		docs = append(docs, doc{string(toon.Encode(v)), jsonOf(v)})
	}
	type verdict struct{ Got, Err, Text string }
	for i, v := range run[verdict](t, `
  const out = { text: encode(JSON.parse(c.json)) };
  try { out.got = JSON.stringify(decode(c.toon)) } catch (e) { out.err = e.message }
  return out;`, docs) {
		d := docs[i]
		if v.Err != "" || jsonOf(fromJSON(t, []byte(v.Got))) != jsonOf(fromJSON(t, []byte(d.JSON))) {
			t.Errorf("decode %q: %s %s, want %s", d.TOON, v.Err, v.Got, d.JSON)
		}
		// Version 4 has its own ways with objects inside of lists.
		if i%2 == 0 && v.Text != d.TOON {
			t.Errorf("encode: %q, want %q", d.TOON, v.Text)
		}
		if t.Failed() && i > 20 {
			break
		}
	}
}

// Of slightly broken documents we must never accept one that the reference
// library refuses, or read one differently.
func TestDecode_Reference(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	flat, deep := objects(), trees()
	var docs []string
	for i := range 3000 {
		b := toon.Encode(flat.Example(i))
		if i%2 == 0 {
			b = toon.Encode(deep.Example(i))
		}
		docs = append(docs, broken(random, b))
	}
	type verdict struct{ Got, Err string }
	accepted, refused, stricter := 0, 0, 0
	for i, v := range run[verdict](t, `
  try { return { got: JSON.stringify(decode(c)) } } catch (e) { return { err: e.message || 'error' } }`, docs) {
		got, err := DecodeValue([]byte(docs[i]))
		switch {
		case err != nil && v.Err != "":
			refused++
		case err != nil:
			stricter++ // a key without its quotes, mostly
		case v.Err != "":
			t.Errorf("%q: the reference says %s, we %s", docs[i], v.Err, jsonOf(got))
		default:
			accepted++
			if diff := cmp.Diff(jsonOf(fromJSON(t, []byte(v.Got))), jsonOf(got)); diff != "" {
				t.Errorf("%q: %s", docs[i], diff)
			}
		}
	}
	t.Logf("%d accepted, %d refused, %d refused by us alone", accepted, refused, stricter)
	if accepted < 300 || refused < 300 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

// broken changes a document in one place.
func broken(random *rand.Rand, b []byte) string {
	const some = "\n\n  :,[]{}\"\\-0a1|"
	text := []rune(string(b))
	at := random.IntN(len(text) + 1)
	switch random.IntN(4) {
	case 0:
		return string(text)
	case 1:
		if at < len(text) {
			text = slices.Delete(text, at, at+1)
		}
	default:
		text = slices.Insert(text, at, rune(some[random.IntN(len(some))]))
	}
	return string(text)
}
