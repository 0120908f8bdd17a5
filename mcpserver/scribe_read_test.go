package mcpserver

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// A manyMatches scribe has so many matches, each with an entry beside it.
type manyMatches struct {
	hearken.Scribe
	matches int
}

func (f manyMatches) Grep(_ context.Context, req hearken.GrepRequest) ([]hearken.ScribePage, error) {
	page := hearken.ScribePage{Session: "x"}
	for i := range min(f.matches, req.Limit) {
		at := time.Date(2026, 11, 5, 9, 30, i, 0, time.Local)
		page.Entries = append(page.Entries, hearken.Segment{Line: 2 * i, Timestamp: at})
		if req.After > 0 {
			page.Entries = append(page.Entries, hearken.Segment{Line: 2*i + 1, Timestamp: at})
		}
	}
	return []hearken.ScribePage{page}, nil
}

// Matches that are left out are not left out silently.
func TestMoreMatches(t *testing.T) {
	for _, tt := range []struct {
		matches, after int
		more           bool
	}{
		{60, 0, false}, {60, 1, false}, {100, 0, false}, {100, 1, false}, {101, 0, true}, {5000, 1, true},
	} {
		req := hearken.GrepRequest{Pattern: "x", After: tt.after, Limit: grepMatches}
		shown, err := manyMatches{matches: tt.matches}.Grep(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		o, err := moreMatchesHint(t.Context(), manyMatches{matches: tt.matches}, req, shown)
		if err != nil || (len(o) > 0) != tt.more {
			t.Errorf("%d matches: %v, %v", tt.matches, o, err)
		}
		if tt.more {
			if said := o[0].Value.(string); !strings.Contains(said, "Only 100 are shown") || !strings.Contains(said, "until: 2026-11-05T09:30:00") {
				t.Errorf("%d matches: %s", tt.matches, said)
			}
		}
	}
}
