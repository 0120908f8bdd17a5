package upgrade

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// Facts are what a user can find out about the data of a hub, as the program
// writes it in JSON. [Missing] compares two of them.
type Facts struct {
	Sessions []Session `json:"sessions"` // newest first
	Searches []Search  `json:"searches"`
	Actions  []any     `json:"actions"` // newest first
	Grants   []any     `json:"grants"`
	Keys     []any     `json:"keys"`
	Contacts []any     `json:"contacts"`
	Calendar []string  `json:"calendar"` // the lines of the feed that say what is in it
}

// A Session is a session with its transcript.
type Session struct {
	About    map[string]any `json:"about"`
	Segments []any          `json:"segments"`
}

// A Search is a query and where its words were said.
type Search struct {
	Query string `json:"query"`
	Hits  []Hit  `json:"hits"` // newest first
}

// A Hit is a place in a transcript.
type Hit struct {
	SessionID string `json:"sessionId"`
	Line      int    `json:"line"`
}

// aboutSession are the members of a session's status that say what it is. The
// others say how the hub is doing.
var aboutSession = []string{
	"id", "title", "status", "stopReason", "language", "provider", "startedAt", "stoppedAt", "duration",
	"segmentCount", "config", "principal", "note",
}

// calendarLines begin the lines of the feed that [Facts] keep.
var calendarLines = []string{"UID", "SUMMARY", "DESCRIPTION", "LOCATION", "DTSTART", "DURATION", "RRULE"}

// Read collects the facts from a running hub. Key is a key that may read.
func Read(ctx context.Context, p *hubtest.Program, key string, queries []string) (*Facts, error) {
	f := &Facts{}
	var list struct {
		Sessions []struct{ ID string }
	}
	if err := p.CallAs(ctx, key, "list_sessions", map[string]any{"limit": 200}, &list); err != nil {
		return nil, err
	}
	for _, s := range list.Sessions {
		session, err := readSession(ctx, p, key, s.ID)
		if err != nil {
			return nil, err
		}
		f.Sessions = append(f.Sessions, *session)
	}
	for _, query := range queries {
		search := Search{Query: query}
		if err := p.CallAs(ctx, key, "search_transcripts", map[string]any{"query": query, "limit": 100}, &search); err != nil {
			return nil, err
		}
		// While a session is active, some versions find its entries both in
		// the store and in memory.
		search.Hits = slices.Compact(search.Hits)
		f.Searches = append(f.Searches, search)
	}
	for _, get := range []struct {
		list *[]any
		args []string
	}{
		{&f.Actions, []string{"actions", "list", "--limit", "1000"}},
		{&f.Grants, []string{"grants", "list"}},
		{&f.Keys, []string{"keys", "list"}},
		{&f.Contacts, []string{"contacts", "list"}},
	} {
		if err := p.Get(ctx, get.list, get.args...); err != nil {
			return nil, err
		}
	}
	_, lines, err := Calendar(ctx, p)
	f.Calendar = lines
	return f, err
}

func readSession(ctx context.Context, p *hubtest.Program, key, id string) (*Session, error) {
	var status map[string]any
	if err := p.CallAs(ctx, key, "get_session_status", map[string]any{"sessionId": id, "includeNote": true}, &status); err != nil {
		return nil, err
	}
	var page struct {
		Segments []any
		More     bool
	}
	if err := p.CallAs(ctx, key, "get_transcription", map[string]any{"sessionId": id, "limit": 500}, &page); err != nil {
		return nil, err
	}
	if page.More {
		return nil, fmt.Errorf("session %s is longer than a page", id)
	}
	s := &Session{About: map[string]any{}, Segments: page.Segments}
	for _, name := range aboutSession {
		if v, ok := status[name]; ok {
			s.About[name] = v
		}
	}
	return s, nil
}

// Export returns a session as the program exports it in JSON, with the time of
// each word, and in Markdown, with its note.
func Export(ctx context.Context, p *hubtest.Program, key, session string) (whole json.RawMessage, markdown string, err error) {
	var export struct{ Data string }
	if err := p.CallAs(ctx, key, "export_session", map[string]any{"sessionId": session, "format": "json"}, &export); err != nil {
		return nil, "", err
	}
	markdown, err = p.RunCommand(ctx, "export", session, "--format", "md")
	return json.RawMessage(export.Data), markdown, err
}

// Calendar returns the path of the calendar feed, and what the feed says.
func Calendar(ctx context.Context, p *hubtest.Program) (path string, lines []string, err error) {
	address, err := p.RunCommand(ctx, "actions", "calendar")
	if err != nil {
		return "", nil, err
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "", nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("calendar: %s", resp.Status)
	}
	lines, err = readCalendar(resp.Body)
	return u.Path, lines, err
}

func readCalendar(r io.Reader) (lines []string, err error) {
	inEvent := false
	in := bufio.NewScanner(r)
	for in.Scan() {
		line := in.Text()
		switch line {
		case "BEGIN:VEVENT":
			inEvent = true
		case "BEGIN:VALARM", "END:VEVENT":
			inEvent = false
		}
		name, _, _ := strings.Cut(line, ":")
		name, _, _ = strings.Cut(name, ";")
		for _, kept := range calendarLines {
			if inEvent && name == kept {
				lines = append(lines, line)
			}
		}
	}
	return lines, in.Err()
}
