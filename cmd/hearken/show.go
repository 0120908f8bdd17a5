package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

type showCmd struct {
	Session string `arg:"" default:"last" help:"Id of the session, the first characters of it, or last."`
	Last    int    `short:"n" help:"Show only the newest N entries."`
	Follow  bool   `short:"f" help:"Keep showing new entries until the session stops."`
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
	for {
		page, err := call[transcriptPage](ctx, hub, "get_transcription", args)
		if err != nil {
			return err
		}
		for i := range page.Segments {
			if err := c.write(p, session, &page.Segments[i]); err != nil {
				return err
			}
		}
		live := c.Follow && page.Status == hearken.Active
		if !page.More && !live {
			return nil
		}
		args["cursor"] = page.Cursor
		if live {
			args["waitSeconds"] = 20
		}
	}
}

func (c *showCmd) write(p *program, session *hearken.Session, s *hearken.Segment) error {
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(s)
	}
	text := s.Text
	switch {
	case s.Origin == hearken.EventOrigin:
		text = "(" + text + ")"
	case s.Status == hearken.NoSpeech && text == "":
		text = "(no speech)"
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
