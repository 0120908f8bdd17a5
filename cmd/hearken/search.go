package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

type searchCmd struct {
	Query   []string `arg:"" help:"Words that must all occur, a \"phrase\", or a prefix*."`
	Limit   int      `default:"20" help:"How many to show, up to 100."`
	Session string   `help:"Search only this session."`
	Since   string   `help:"Said at or after: a time, a date, or an age such as 2h or 7d."`
	Until   string   `help:"Said before: the same formats."`
	Ranked  bool     `help:"Show the best matches first instead of the newest."`
	JSON    bool     `help:"Write JSON."`
}

type searchHits struct {
	Hits []struct {
		SessionID string         `json:"sessionId"`
		Title     string         `json:"title,omitempty"`
		Line      int            `json:"line"`
		Source    hearken.Origin `json:"source"`
		StartTime float64        `json:"startTime"`
		Timestamp time.Time      `json:"timestamp"`
		Text      string         `json:"text"`
	} `json:"hits"`
	Truncated bool `json:"truncated,omitempty"`
}

func (c *searchCmd) Run(ctx context.Context, p *program) error {
	hub, err := p.connectTools(ctx)
	if err != nil {
		return err
	}
	defer hub.close()
	args := arguments{"query": c.query(), "limit": c.Limit, "ranked": c.Ranked}
	args.add("since", c.Since)
	args.add("until", c.Until)
	if c.Session != "" {
		id, err := hub.resolveSessionID(ctx, c.Session)
		if err != nil {
			return err
		}
		args["sessionId"] = id
	}
	res, err := call[searchHits](ctx, hub, "search_transcripts", args)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(res)
	}
	session := &hearken.Session{}
	for _, h := range res.Hits {
		if h.SessionID != session.ID {
			if session, _, err = hub.sessionAndNote(ctx, h.SessionID); err != nil { // deleted meanwhile
				session = &hearken.Session{ID: h.SessionID}
			}
			fmt.Fprintf(p.stdout, "%s  %s  %s\n", h.SessionID, localTime(h.Timestamp), safetext.Line(h.Title))
		}
		fmt.Fprintf(p.stdout, "%8s  %s%s\n", formatSeconds(h.StartTime), sideColumn(session, h.Source), safetext.Line(h.Text))
	}
	switch {
	case len(res.Hits) == 0:
		fmt.Fprintln(p.stderr, "No matches.")
		return exitCode(1) // like grep
	case res.Truncated:
		fmt.Fprintf(p.stderr, "There are more. Try: --limit %d\n", min(2*c.Limit, 100))
	}
	return nil
}

// query joins the arguments. One with spaces was quoted in the shell and is a
// phrase.
func (c *searchCmd) query() string {
	if len(c.Query) == 1 {
		return c.Query[0]
	}
	words := make([]string, len(c.Query))
	for i, w := range c.Query {
		if words[i] = w; strings.ContainsAny(w, " \t") && !strings.Contains(w, `"`) {
			words[i] = `"` + w + `"`
		}
	}
	return strings.Join(words, " ")
}
