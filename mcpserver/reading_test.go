package mcpserver

import (
	"slices"
	"testing"
)

// Only tools that exist are taken to return no transcript text, and none that
// only reads: what else would it read?
func TestToolsWithoutText(t *testing.T) {
	for _, name := range toolsWithoutText {
		i := slices.IndexFunc(tools(), func(t *tool) bool { return t.Name == name })
		if i < 0 {
			t.Errorf("there is no tool %s", name)
		} else if tools()[i].Annotations.ReadOnlyHint && name != "pscribe_status" {
			t.Errorf("%s only reads, and its results have no text", name)
		}
	}
}
