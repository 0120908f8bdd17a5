package mcpserver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/toon"
)

type watchIn struct {
	SessionID string   `json:"session_id,omitempty" jsonschema:"Default: current session" max:"200"`
	Keywords  []string `json:"keywords,omitempty" jsonschema:"Words in any order and case; a final * matches any ending" max:"50"`
	Phrases   []string `json:"phrases,omitempty" jsonschema:"Words in this order" max:"50"`
	Patterns  []string `json:"patterns,omitempty" jsonschema:"RE2" max:"20"`
	Timeout   int      `json:"timeout_seconds,omitempty" min:"1" max:"300" default:"45"`
	Context   int      `json:"context,omitempty" jsonschema:"Entries before and after a match" min:"0" max:"20" default:"2"`
	SinceLine *int     `json:"since_line,omitempty" jsonschema:"The last next_since_line. Default: from now on" min:"1"`
}

func watchTranscript() *tool {
	return defineScribe("watch_transcript", "Wait for words",
		"Waits until a keyword, phrase or pattern is said, and returns the matching entries with context. To keep waiting, call again with since_line = next_since_line.",
		effect{readOnly: true}, watch)
}

// watchTick is how often a client that waits hears that it still waits.
const watchTick = 5 * time.Second

func watch(ctx context.Context, d *desk, in watchIn) (toon.Object, error) {
	matches, err := matcher(in)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	limit := time.Duration(in.Timeout) * time.Second
	req := hearken.TailRequest{Session: in.SessionID, N: 1, Filter: hearken.OnlyConfirmed}
	tail, goesOn := d.scribe.Tail, d.captures
	if d.hub != nil && hearken.ValidID(strings.ToLower(in.SessionID)) { // any session of the hub's
		tail, goesOn = scribe.New(scribe.Config{Hub: d.hub}).Tail, d.active
	}
	page, err := tail(ctx, req) // also tells whether there is such a session
	if err != nil {
		return nil, err
	}
	req.N, req.Session, req.SinceLine = watchBatch, page.Session, page.Next
	if in.SinceLine != nil {
		req.SinceLine = *in.SinceLine
	}
	var behind []hearken.Segment // what may become the context of a match
	for {
		asked := time.Now()
		req.Wait = max(0, min(watchTick, limit-time.Since(began)))
		if page, err = tail(ctx, req); err != nil {
			return nil, err
		}
		found := around(page.Entries, behind, in.Context, matches)
		req.SinceLine = page.Next
		if len(found.matched) > 0 {
			return found.object(page), nil
		}
		waited := time.Since(began)
		if waited >= limit {
			return found.object(page), nil
		}
		progress(ctx, waited.Seconds(), limit.Seconds(), fmt.Sprintf("nothing so far; next_since_line %d", page.Next))
		if behind = append(behind, page.Entries...); len(behind) > in.Context {
			behind = slices.Clone(behind[len(behind)-in.Context:])
		}
		if len(page.Entries) > 0 || time.Since(asked) >= req.Wait {
			continue
		}
		// It did not wait, so nothing more will come, or not this way.
		if !goesOn(ctx, page.Session) {
			return append(found.object(page), toon.Field{Key: "note", Value: "This session has ended."}), nil
		}
		if !pause(ctx, req.Wait-time.Since(asked)) {
			return nil, ctx.Err()
		}
	}
}

// captures tells whether the scribe is still at work on a session.
func (d *desk) captures(ctx context.Context, session string) bool {
	st, err := d.scribe.Status(ctx)
	return err == nil && st.Running && st.Session == session
}

// active tells whether a session of the hub's goes on.
func (d *desk) active(ctx context.Context, session string) bool {
	s, err := d.hub.Session(ctx, session)
	return err == nil && s.Status == hearken.Active
}

// watchBatch is how many entries are looked at in one go.
const watchBatch = 500

// pause waits and tells whether it could.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sighting is what a watch returns.
type sighting struct {
	matched []any // numbers of the entries that match
	entries []hearken.Segment
}

// around finds the entries that match, and those around them.
func around(entries, behind []hearken.Segment, context int, matches func(string) bool) sighting {
	all := slices.Concat(behind, entries)
	keep := make([]bool, len(all))
	var s sighting
	for i := len(behind); i < len(all); i++ {
		if !all[i].Spoken() || !matches(all[i].Text) {
			continue
		}
		s.matched = append(s.matched, all[i].Line)
		for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
			keep[j] = true
		}
	}
	for i := range all {
		if keep[i] {
			s.entries = append(s.entries, all[i])
		}
	}
	return s
}

func (s sighting) object(page *hearken.ScribePage) toon.Object {
	shown := &hearken.ScribePage{Session: page.Session, Entries: s.entries, Next: page.Next}
	if s.matched == nil {
		return toon.Object{{Key: "session", Value: page.Session}, {Key: "matched", Value: []any{}}, {Key: "next_since_line", Value: page.Next}}
	}
	cut(shown, pageTokens, true)
	shown.Next = page.Next // all of it was looked at
	return append(toon.Object{{Key: "matched", Value: s.matched}}, pageObject(shown, "toon")...)
}

// matcher tells for a text whether it holds anything that is watched for.
func matcher(in watchIn) (func(string) bool, error) {
	var tests []func(text string, terms []string) bool
	for _, keyword := range in.Keywords {
		var clauses []hearken.Clause
		for word := range strings.FieldsSeq(keyword) {
			if c := clause(word); len(c.Terms) > 0 {
				clauses = append(clauses, c)
			}
		}
		if len(clauses) == 0 {
			return nil, invalid("The keyword %q holds no word.", clip(keyword, 40))
		}
		tests = append(tests, func(_ string, terms []string) bool {
			return !slices.ContainsFunc(clauses, func(c hearken.Clause) bool { return !c.Matches(terms) })
		})
	}
	for _, phrase := range in.Phrases {
		c := clause(phrase)
		if len(c.Terms) == 0 {
			return nil, invalid("The phrase %q holds no word.", clip(phrase, 40))
		}
		tests = append(tests, func(_ string, terms []string) bool { return c.Matches(terms) })
	}
	for _, pattern := range in.Patterns {
		expr, err := regexp.Compile(pattern)
		if err != nil || pattern == "" || len(pattern) > 500 {
			return nil, invalid("The pattern %q is not a regular expression of at most 500 characters.", clip(pattern, 60))
		}
		tests = append(tests, func(text string, _ []string) bool { return expr.MatchString(text) })
	}
	if len(tests) == 0 {
		return nil, invalid("watch_transcript needs keywords, phrases or patterns to wait for.")
	}
	return func(text string) bool {
		terms := hearken.Terms(text)
		return slices.ContainsFunc(tests, func(test func(string, []string) bool) bool { return test(text, terms) })
	}, nil
}

// clause reads words that stand together, with a final * for any ending.
func clause(text string) hearken.Clause {
	word, prefix := strings.CutSuffix(strings.TrimSpace(text), "*")
	return hearken.Clause{Terms: hearken.Terms(word), Prefix: prefix}
}
