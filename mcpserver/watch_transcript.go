package mcpserver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
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
		effect{readOnly: true}, waitForWords)
}

// watchBatch is how many entries are searched at once.
const watchBatch = 500

func waitForWords(ctx context.Context, tc *toolContext, in watchIn) (toon.Object, error) {
	matches, err := newMatcher(in)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	timeout := time.Duration(in.Timeout) * time.Second
	req := hearken.TailRequest{Session: in.SessionID, N: 1, Filter: hearken.OnlyConfirmed}
	tail, isRunning := tc.Scribe.Tail, tc.isCapturing
	if tc.Hub != nil && hearken.ValidID(strings.ToLower(in.SessionID)) { // any session of the hub
		tail, isRunning = scribe.New(scribe.Config{Hub: tc.Hub}).Tail, tc.isActive
	}
	page, err := tail(ctx, req) // fails if there is no such session
	if err != nil {
		return nil, err
	}
	req.N, req.Session, req.SinceLine = watchBatch, page.Session, page.Next
	if in.SinceLine != nil {
		req.SinceLine = *in.SinceLine
	}
	var preceding []hearken.Segment // entries that may become the context of a match
	for {
		asked := time.Now()
		req.Wait = max(0, min(progressEvery, timeout-time.Since(began)))
		if page, err = tail(ctx, req); err != nil {
			return nil, err
		}
		found := findMatches(page.Entries, preceding, in.Context, matches)
		req.SinceLine = page.Next
		if len(found.matched) > 0 {
			return found.object(page), nil
		}
		waited := time.Since(began)
		if waited >= timeout {
			return found.object(page), nil
		}
		reportProgress(ctx, waited.Seconds(), timeout.Seconds(), fmt.Sprintf("No match so far; next_since_line %d.", page.Next))
		if preceding = append(preceding, page.Entries...); len(preceding) > in.Context {
			preceding = slices.Clone(preceding[len(preceding)-in.Context:])
		}
		if len(page.Entries) > 0 || time.Since(asked) >= req.Wait {
			continue
		}
		// It returned early, so the session may have ended.
		if !isRunning(ctx, page.Session) {
			return append(found.object(page), toon.Field{Key: "note", Value: "This session has ended."}), nil
		}
		if !pause(ctx, req.Wait-time.Since(asked)) {
			return nil, ctx.Err()
		}
	}
}

// isCapturing reports whether the scribe is still capturing a session.
func (tc *toolContext) isCapturing(ctx context.Context, session string) bool {
	st, err := tc.Scribe.Status(ctx)
	return err == nil && st.Running && st.Session == session
}

// isActive reports whether a session of the hub is active.
func (tc *toolContext) isActive(ctx context.Context, session string) bool {
	s, err := tc.Hub.Session(ctx, session)
	return err == nil && s.Status == hearken.Active
}

// pause waits, and reports false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// watchMatches are the entries that a watch returns.
type watchMatches struct {
	matched []any // line numbers of the entries that match
	entries []hearken.Segment
}

// findMatches finds the entries that match, and those around them.
func findMatches(entries, preceding []hearken.Segment, context int, matches func(string) bool) watchMatches {
	all := slices.Concat(preceding, entries)
	shown := make([]bool, len(all))
	var m watchMatches
	for i := len(preceding); i < len(all); i++ {
		if !all[i].Spoken() || !matches(all[i].Text) {
			continue
		}
		m.matched = append(m.matched, all[i].Line)
		for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
			shown[j] = true
		}
	}
	for i := range all {
		if shown[i] {
			m.entries = append(m.entries, all[i])
		}
	}
	return m
}

func (m watchMatches) object(page *hearken.ScribePage) toon.Object {
	shown := &hearken.ScribePage{Session: page.Session, Entries: m.entries, Next: page.Next}
	if m.matched == nil {
		return toon.Object{{Key: "session", Value: page.Session}, {Key: "matched", Value: []any{}}, {Key: "next_since_line", Value: page.Next}}
	}
	truncatePage(shown, pageTokens, true)
	shown.Next = page.Next // all of it was searched
	return append(toon.Object{{Key: "matched", Value: m.matched}}, pageObject(shown, "toon")...)
}

// newMatcher makes a function that reports whether a text holds anything that
// is watched for.
func newMatcher(in watchIn) (func(string) bool, error) {
	var tests []func(text string, terms []string) bool
	for _, keyword := range in.Keywords {
		var clauses []hearken.Clause
		for word := range strings.FieldsSeq(keyword) {
			if c := parseClause(word); len(c.Terms) > 0 {
				clauses = append(clauses, c)
			}
		}
		if len(clauses) == 0 {
			return nil, invalid("The keyword %q contains no word.", safetext.Clip(keyword, 40))
		}
		tests = append(tests, func(_ string, terms []string) bool {
			return !slices.ContainsFunc(clauses, func(c hearken.Clause) bool { return !c.Matches(terms) })
		})
	}
	for _, phrase := range in.Phrases {
		c := parseClause(phrase)
		if len(c.Terms) == 0 {
			return nil, invalid("The phrase %q contains no word.", safetext.Clip(phrase, 40))
		}
		tests = append(tests, func(_ string, terms []string) bool { return c.Matches(terms) })
	}
	for _, pattern := range in.Patterns {
		expr, err := regexp.Compile(pattern)
		if err != nil || pattern == "" || len(pattern) > 500 {
			return nil, invalid("The pattern %q is not a regular expression of at most 500 characters.", safetext.Clip(pattern, 60))
		}
		tests = append(tests, func(text string, _ []string) bool { return expr.MatchString(text) })
	}
	if len(tests) == 0 {
		return nil, invalid("watch_transcript needs keywords, phrases or patterns.")
	}
	return func(text string) bool {
		terms := hearken.Terms(text)
		return slices.ContainsFunc(tests, func(test func(string, []string) bool) bool { return test(text, terms) })
	}, nil
}

// parseClause reads adjacent words, the last of which may end in * for any
// ending.
func parseClause(text string) hearken.Clause {
	word, prefix := strings.CutSuffix(strings.TrimSpace(text), "*")
	return hearken.Clause{Terms: hearken.Terms(word), Prefix: prefix}
}
