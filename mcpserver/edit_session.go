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
			out.SessionID = in.SessionID
			s, err := tc.Hub.Session(ctx, in.SessionID)
			if err != nil {
				return out, err
			}
			if in.Title != "" {
				if s, err = tc.Hub.Rename(ctx, in.SessionID, in.Title); err != nil {
					return out, err
				}
			}
			out.Title = s.Title
			if in.Text != "" {
				now := time.Now().UTC()
				if err := tc.Hub.SaveNote(ctx, hearken.Note{Session: in.SessionID, Text: in.Text, SavedAt: now, By: tc.caller.Principal}); err != nil {
					return out, err
				}
				out.SavedAt = &now
			}
			return out, nil
		})
}

type forgetIn struct {
	SessionID string  `json:"sessionId"`
	Minutes   float64 `json:"minutes" min:"0.1" max:"1440"`
}

type forgetOut struct {
	SessionID string `json:"sessionId"`
	Removed   int    `json:"removed"`
}

func forgetRecent() *tool {
	return define("forget_recent", "Forget the last minutes",
		"Permanently deletes the last minutes of a session. Use it only when the user asks.",
		effect{destructive: true},
		func(ctx context.Context, tc *toolContext, in forgetIn) (forgetOut, error) {
			removed, err := tc.Hub.Forget(ctx, in.SessionID, time.Duration(in.Minutes*float64(time.Minute)))
			return forgetOut{in.SessionID, removed}, err
		})
}

type deleteOut struct {
	SessionID string `json:"sessionId"`
	Deleted   bool   `json:"deleted"`
}

func deleteSession() *tool {
	return define("delete_session", "Delete a session",
		"Permanently deletes a session: transcript, note and audio. Use it only when the user asks.",
		effect{destructive: true},
		func(ctx context.Context, tc *toolContext, in sessionIn) (deleteOut, error) {
			return deleteOut{in.SessionID, true}, tc.Hub.Delete(ctx, in.SessionID)
		})
}
