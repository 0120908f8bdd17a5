package mcpserver

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
	"github.com/hearken-dev/hearken/toon"
)

// defineScribe makes a tool of the scribe toolset. Its result is an object in
// TOON, as text alone: clients that also get structured content show the model
// only that. The model sees what went wrong.
func defineScribe[In any](name, title, description string, e effect, run func(context.Context, *toolContext, In) (toon.Object, error)) *tool {
	t := newTool(name, title, description, e, (*toolContext).scribeFailure,
		func(ctx context.Context, tc *toolContext, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, error) {
			o, err := run(withProgress(ctx, call), tc, in)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(toon.Encode(o))}}}, err
		})
	t.set = Scribe
	return t
}

type noArguments struct{}

// scribeControl makes a tool that takes no arguments and returns the scribe's
// status.
func scribeControl(name, title, description string, e effect, do func(context.Context, *toolContext) (*hearken.ScribeStatus, error)) *tool {
	return defineScribe(name, title, description, e, func(ctx context.Context, tc *toolContext, _ noArguments) (toon.Object, error) {
		status, err := do(ctx, tc)
		if err != nil {
			return nil, err
		}
		return statusObject(status), nil
	})
}

func scribeStart() *tool {
	return scribeControl("pscribe_start", "Start the scribe",
		"Starts transcribing this computer's microphone (M) and system audio (S). Remind the user to tell everyone on the call.",
		effect{idempotent: true}, func(ctx context.Context, tc *toolContext) (*hearken.ScribeStatus, error) {
			return tc.Scribe.Start(ctx, tc.captureRequest())
		})
}

func scribeStop() *tool {
	return scribeControl("pscribe_stop", "Stop the scribe", "Stops the current transcription. Its last words may follow a little later.",
		effect{}, func(ctx context.Context, tc *toolContext) (*hearken.ScribeStatus, error) { return tc.Scribe.Stop(ctx) })
}

func scribeNew() *tool {
	return scribeControl("pscribe_new", "New scribe session", "Ends the current session and continues in a new one without losing audio.",
		effect{}, func(ctx context.Context, tc *toolContext) (*hearken.ScribeStatus, error) {
			return tc.Scribe.New(ctx, tc.captureRequest())
		})
}

func scribeStatus() *tool {
	return scribeControl("pscribe_status", "Scribe status", "Reports whether transcription is running, and the session's ID and duration.",
		effect{readOnly: true}, func(ctx context.Context, tc *toolContext) (*hearken.ScribeStatus, error) {
			return tc.Scribe.Status(ctx)
		})
}

// captureRequest returns how the caller wants this computer's audio transcribed.
func (tc *toolContext) captureRequest() hearken.CaptureRequest {
	c := tc.caller.ForCapture()
	return hearken.CaptureRequest{Provider: c.Provider, Language: c.Language, APIKey: c.APIKey}
}

func statusObject(st *hearken.ScribeStatus) toon.Object {
	o := toon.Object{{Key: "running", Value: st.Running}}
	if st.Session != "" {
		o = append(o, toon.Field{Key: "session", Value: st.Session})
	}
	if !st.Since.IsZero() {
		o = append(o, toon.Field{Key: "since", Value: localTime(st.Since)})
	}
	if st.Session != "" {
		o = append(o, toon.Field{Key: "duration", Value: roundToTenths(st.Length.Seconds())})
	}
	if st.Engine != "" {
		o = append(o, toon.Field{Key: "engine", Value: st.Engine}, toon.Field{Key: "language", Value: st.Language})
	}
	if len(st.Notes) > 0 {
		notes := make([]any, len(st.Notes))
		for i, n := range st.Notes {
			notes[i] = n
		}
		o = append(o, toon.Field{Key: "notes", Value: notes})
	}
	if st.Raw != "" {
		o = append(o, toon.Field{Key: "raw", Value: safetext.Clip(st.Raw, rawLength)})
	}
	return o
}

type scribeSessionsIn struct {
	Limit int `json:"limit,omitempty" min:"1" max:"200" default:"10"`
}

func scribeSessions() *tool {
	return defineScribe("pscribe_sessions", "List scribe sessions", "Lists past transcription sessions of this computer, newest first.",
		effect{readOnly: true},
		func(ctx context.Context, tc *toolContext, in scribeSessionsIn) (toon.Object, error) {
			list, err := tc.Scribe.Sessions(ctx, in.Limit)
			if err != nil {
				return nil, err
			}
			t := toon.Table{Columns: []string{"id", "started", "duration", "entries", "running"}}
			for i := range list {
				s := &list[i]
				if s.ID == "" { // could not be parsed
					continue
				}
				var entries, started any
				if s.Entries >= 0 {
					entries = s.Entries
				}
				if !s.StartedAt.IsZero() {
					started = localTime(s.StartedAt)
				}
				t.Rows = append(t.Rows, []any{s.ID, started, roundToTenths(s.Length.Seconds()), entries, s.Running})
			}
			o := toon.Object{{Key: "sessions", Value: t}}
			if raw := rawSessions(list); raw != "" && len(t.Rows) < len(list) {
				o = append(o, toon.Field{Key: "raw", Value: raw})
			}
			return o, nil
		})
}

// rawSessions is the output of a foreign scribe about sessions that could not be
// parsed.
func rawSessions(list []hearken.ScribeSession) string {
	var raw strings.Builder
	for i := range list {
		if list[i].ID == "" {
			raw.WriteString(list[i].Raw + "\n")
		}
	}
	return safetext.Clip(raw.String(), rawLength)
}

// rawLength bounds unparsed output of a foreign scribe.
const rawLength = 20_000

func localTime(t time.Time) string { return t.Local().Format("2006-01-02T15:04:05-07:00") }

func roundToTenths(x float64) float64 { return math.Round(x*10) / 10 }
