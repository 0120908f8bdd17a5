package mcpserver

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var update = flag.Bool("update", false, "rewrite the snapshots and the README's tool table")

// A change to what models see is made knowingly: each tool has its snapshot, of
// what tools/list says and of the whole result that it describes in outline.
func TestTools_Snapshots(t *testing.T) {
	want := map[string]bool{}
	for _, tool := range tools() {
		t.Run(tool.Name, func(t *testing.T) {
			got, err := json.MarshalIndent(struct {
				Listed *mcp.Tool          `json:"listed"`
				Result *jsonschema.Schema `json:"result,omitempty"`
			}{tool.Tool, tool.output}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", tool.Name+".json")
			compare(t, path, append(got, '\n'))
		})
		want[tool.Name+".json"] = true
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("%s is the snapshot of no tool", f.Name())
		}
	}
}

func compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is out of date; if the change is wanted run go test ./mcpserver -update\n%s", path, diff)
	}
}

// The whole list is read by a model before its first word, so it stays small.
func TestTools_ListTokens(t *testing.T) {
	var list mcp.ListToolsResult
	for _, tool := range tools() {
		list.Tools = append(list.Tools, tool.Tool)
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	// A tokenizer (o200k_base) makes a token of every 4.3 bytes of this list.
	tokens := len(data) * 10 / 38
	t.Logf("tools/list: %d tools, %d bytes, about %d tokens", len(list.Tools), len(data), tokens)
	if tokens > 5000 {
		t.Errorf("tools/list costs about %d tokens, more than 5000", tokens)
	}
}

// Clients that map schemas onto one type for each value must understand ours.
func TestTools_SchemasArePlain(t *testing.T) {
	for _, tool := range tools() {
		for name, schema := range map[string]*jsonschema.Schema{"input": tool.input, "output": tool.output} {
			if name == "output" && tool.set == Scribe && schema == nil {
				continue // TOON
			}
			data, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte(`"type":[`)) || bytes.Contains(data, []byte("null")) {
				t.Errorf("%s: the %s schema has a union of types: %s", tool.Name, name, data)
			}
			if name == "input" && !bytes.Contains(data, []byte(`"additionalProperties":false`)) {
				t.Errorf("%s: the input schema allows unknown arguments, which the tool refuses", tool.Name)
			}
		}
		for name, p := range tool.input.Properties {
			if p.Properties != nil && p.AdditionalProperties == nil {
				t.Errorf("%s: the schema of %s allows unknown fields, which the tool refuses", tool.Name, name)
			}
		}
		if tool.Description == "" || tool.Title == "" {
			t.Errorf("%s has no title or no description", tool.Name)
		}
	}
}

func TestToolTable_InREADME(t *testing.T) {
	const begin, end = "<!-- tools:begin -->\n", "<!-- tools:end -->"
	path := filepath.Join("..", "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(readme), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("README.md lacks the markers %q and %q", begin, end)
	}
	compare(t, path, []byte(before+begin+toolTable()+end+after))
}

// toolTable is the table of all tools in markdown, as the README shows it.
func toolTable() string {
	var b strings.Builder
	b.WriteString("| tool | what it does | arguments |\n|---|---|---|\n")
	for _, t := range tools() {
		var args []string
		for _, name := range t.input.PropertyOrder {
			arg := "`" + name + "`"
			for _, required := range t.input.Required {
				if required == name {
					arg = "**" + arg + "**"
				}
			}
			if d := t.input.Properties[name].Default; d != nil {
				arg += " = " + strings.Trim(string(d), `"`)
			}
			args = append(args, arg)
		}
		mark := ""
		switch {
		case t.Annotations.ReadOnlyHint:
			mark = " (reads only)"
		case *t.Annotations.DestructiveHint:
			mark = " (replaces or removes)"
		}
		fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", t.Name, strings.ReplaceAll(t.Description, "|", `\|`), mark, strings.Join(args, ", "))
	}
	return b.String()
}
