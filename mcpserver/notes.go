package mcpserver

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

type noteIn struct {
	SessionID string `json:"sessionId"`
	Text      string `json:"text,omitempty" jsonschema:"Markdown; replaces the earlier note" max:"50000"`
	Title     string `json:"title,omitempty" jsonschema:"New title of the session" max:"200"`
}

type noteOut struct {
	SessionID string     `json:"sessionId"`
	Title     string     `json:"title,omitempty"`
	SavedAt   *time.Time `json:"savedAt,omitempty"`
}

func saveNote() *tool {
	return define("save_note", "Save a note",
		"Saves one note with a session, such as your summary, or sets the session's title. Read the note with get_session_status or export_session (md).",
		effect{destructive: true, idempotent: true},
		func(ctx context.Context, tc *toolContext, in noteIn) (out noteOut, err error) {
			if in.Text == "" && in.Title == "" {
				return out, invalid("save_note needs a text, a title or both.")
			}
			if out.SessionID, err = parseSessionID(in.SessionID); err != nil {
				return out, err
			}
			s, err := tc.hub.Session(ctx, out.SessionID)
			if err != nil {
				return out, err
			}
			if in.Title != "" {
				if s, err = tc.hub.Rename(ctx, out.SessionID, in.Title); err != nil {
					return out, err
				}
			}
			out.Title = s.Title
			if in.Text != "" {
				now := time.Now().UTC()
				if err := tc.hub.SaveNote(ctx, hearken.Note{Session: out.SessionID, Text: in.Text, SavedAt: now, By: tc.caller.Principal}); err != nil {
					return out, err
				}
				out.SavedAt = &now
			}
			return out, nil
		})
}
