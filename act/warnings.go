package act

import (
	"fmt"
	"strings"

	"github.com/hearken-dev/hearken"
)

// warnings tell the decider where the words behind an action came from.
func warnings(said []hearken.Evidence) []string {
	var far, echoed, overlapped, unsaid []string
	for _, e := range said {
		name := "the " + argName(e.Arg)
		switch {
		case e.Echo:
			echoed = append(echoed, name)
		case e.Source == hearken.System && isPartial(e):
			far = append(far, "a part of "+name)
		case e.Source == hearken.System:
			far = append(far, name)
		case e.Source == "":
			unsaid = append(unsaid, name)
		case e.Overlap:
			overlapped = append(overlapped, name)
		}
	}
	var out []string
	if len(far) > 0 {
		out = append(out, fmt.Sprintf("The other side said %s.", joinList(far, "and")))
	}
	if len(echoed) > 0 {
		out = append(out, fmt.Sprintf("Your microphone heard %s, but it may be an echo of the other side.", joinList(echoed, "and")))
	}
	if len(overlapped) > 0 {
		out = append(out, fmt.Sprintf("Your microphone heard %s. These may not be your words: the other side was speaking at the same time, or may have been.", joinList(overlapped, "and")))
	}
	if len(unsaid) > 0 {
		out = append(out, fmt.Sprintf("Nobody was heard saying %s.", joinList(unsaid, "or")))
	}
	return out
}

// isPartial reports whether some words of an argument were not said.
func isPartial(e hearken.Evidence) bool { return e.Coverage < 0.995 }

// joinList writes a list as people do: a, b and c.
func joinList(list []string, last string) string {
	n := len(list) - 1
	if n == 0 {
		return list[0]
	}
	return strings.Join(list[:n], ", ") + " " + last + " " + list[n]
}

// argName is an argument's name for people.
func argName(arg string) string {
	if arg == "to" {
		return "recipient"
	}
	return arg
}
