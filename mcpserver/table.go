package mcpserver

import (
	"fmt"
	"strings"
)

// ToolTable is the table of all tools in markdown, as the README shows it.
func ToolTable() string {
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
