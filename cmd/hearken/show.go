package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/export"
	"github.com/hearken-dev/hearken/safetext"
)

type showCmd struct {
	Session string `arg:"" default:"last" help:"Id of the session, the first characters of it, or last."`
	Last    int    `short:"n" help:"Show only the newest N entries."`
	Follow  bool   `short:"f" help:"Keep showing new entries until the session stops."`
	Silence bool   `help:"Also show the stretches in which nobody spoke."`
	JSON    bool   `help:"Write one JSON object per entry."`
}

// transcriptPage is the result of get_transcription.
type transcriptPage struct {
	Status   hearken.SessionStatus `json:"status"`
	Segments []hearken.Segment     `json:"segments"`
	Cursor   string                `json:"cursor"`
	More     bool                  `json:"more"`
}

func (c *showCmd) Run(ctx context.Context, p *program) error {
	hub, session, _, err := p.openSession(ctx, c.Session)
	if err != nil {
		return err
	}
	defer hub.close()
	args := arguments{"sessionId": session.ID, "limit": 500}
	if c.Last > 0 {
		args["fromSegment"] = -c.Last
	}
	var entries []hearken.Segment
	for {
		page, err := call[transcriptPage](ctx, hub, "get_transcription", args)
		if err != nil {
			return err
		}
		entries = append(entries, page.Segments...)
		args["cursor"] = page.Cursor
		if page.More {
			continue
		}
		if err := c.write(p, session, entries); err != nil || !c.Follow || page.Status != hearken.Active {
			return err
		}
		entries = entries[:0]
		args["waitSeconds"] = 20
	}
}

// write writes entries in the order in which they were said. As JSON they are all
// written, in the order in which they were confirmed.
func (c *showCmd) write(p *program, session *hearken.Session, entries []hearken.Segment) error {
	if !c.JSON {
		export.SortSpoken(entries)
	}
	for i := range entries {
		if err := c.writeEntry(p, session, &entries[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *showCmd) writeEntry(p *program, session *hearken.Session, s *hearken.Segment) error {
	silence := s.Status == hearken.NoSpeech && s.Text == "" && s.Origin != hearken.EventOrigin
	text := s.Text
	switch {
	case c.JSON:
		return json.NewEncoder(p.stdout).Encode(s)
	case silence && !c.Silence:
		return nil
	case silence:
		text = "(no speech)"
	case s.Origin == hearken.EventOrigin:
		text = "(" + text + ")"
	case s.Status == hearken.Translated:
		text = "→ " + text
	}
	_, err := fmt.Fprintf(p.stdout, "%8s  %s%s\n", formatSeconds(s.StartTime), sideColumn(session, s.Origin), safetext.Line(text))
	return err
}

// sideColumn says who spoke. A session with one channel has no such column:
// anybody may speak on it.
func sideColumn(session *hearken.Session, o hearken.Origin) string {
	if session.Config.Channels < 2 {
		return ""
	}
	return fmt.Sprintf("%-4s  ", o.Side())
}
