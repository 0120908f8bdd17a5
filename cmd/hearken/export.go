package main

import (
	"context"
	"errors"
	"os"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/export"
)

type exportCmd struct {
	Session string `arg:"" default:"last" help:"Id of the session, the first characters of it, or last."`
	Format  string `short:"f" default:"txt" enum:"txt,json,srt,vtt,md,toon" help:"txt, json, srt, vtt, md or toon."`
	Output  string `short:"o" placeholder:"FILE" help:"Write to a file instead of standard output."`
}

// Run writes the whole session. The tool export_session shortens it to what an
// agent can read.
func (c *exportCmd) Run(ctx context.Context, p *program) (err error) {
	hub, session, note, err := p.openSession(ctx, c.Session)
	if err != nil {
		return err
	}
	defer hub.close()
	out := p.stdout
	if c.Output != "" && c.Output != "-" {
		// Other users of this computer must not read what was said.
		f, err := os.OpenFile(c.Output, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return hearken.Errorf(hearken.Invalid, "Cannot write the file: %w.", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	return export.Write(out, c.Format, session, note, export.Batches(func(yield func([]hearken.Segment) error) error {
		return hub.segments(ctx, session.ID, yield)
	}))
}

// openSession connects to the hub and returns the session that the user typed,
// with its note.
func (p *program) openSession(ctx context.Context, typed string) (*client, *hearken.Session, *hearken.Note, error) {
	hub, err := p.connectTools(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	id, err := hub.resolveSessionID(ctx, typed)
	if err == nil {
		var session *hearken.Session
		var note *hearken.Note
		if session, note, err = hub.sessionAndNote(ctx, id); err == nil {
			return hub, session, note, nil
		}
	}
	hub.close()
	return nil, nil, nil, err
}

// sessionAndNote returns a session and its note, which is nil if there is none.
func (c *client) sessionAndNote(ctx context.Context, id string) (*hearken.Session, *hearken.Note, error) {
	status, err := call[struct {
		hearken.Session
		Note *hearken.Note `json:"note"`
	}](ctx, c, "get_session_status", arguments{"sessionId": id, "includeNote": true})
	if status.Note != nil {
		status.Note.Session = id // the tool leaves it out
	}
	return &status.Session, status.Note, err
}

// segments reads all entries that a session has now, page by page.
func (c *client) segments(ctx context.Context, id string, yield func([]hearken.Segment) error) error {
	args := arguments{"sessionId": id, "limit": 500, "includeWords": true}
	for {
		page, err := call[transcriptPage](ctx, c, "get_transcription", args)
		if err != nil {
			return err
		}
		if err := yield(page.Segments); err != nil || !page.More {
			return err
		}
		args["cursor"] = page.Cursor
	}
}
