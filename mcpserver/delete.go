package mcpserver

import (
	"context"
	"time"
)

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
		func(ctx context.Context, tc *toolContext, in forgetIn) (out forgetOut, err error) {
			if out.SessionID, err = parseSessionID(in.SessionID); err != nil {
				return out, err
			}
			out.Removed, err = tc.hub.Forget(ctx, out.SessionID, time.Duration(in.Minutes*float64(time.Minute)))
			return out, err
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
		func(ctx context.Context, tc *toolContext, in sessionIn) (out deleteOut, err error) {
			if out.SessionID, err = parseSessionID(in.SessionID); err != nil {
				return out, err
			}
			if err := tc.hub.Delete(ctx, out.SessionID); err != nil {
				return out, err
			}
			out.Deleted = true
			return out, nil
		})
}
