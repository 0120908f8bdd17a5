package mcpserver

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

type listIn struct {
	Status string `json:"status,omitempty" enum:"active,stopped,all" default:"all"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"200" default:"20"`
	Since  string `json:"since,omitempty" jsonschema:"Started at or after: RFC 3339, a date, or an age such as 90m, 2h or 7d"`
	Until  string `json:"until,omitempty" jsonschema:"Started before; same formats"`
}

type listOut struct {
	Sessions  []sessionSummary `json:"sessions"`
	Truncated bool             `json:"truncated,omitempty"` // there are older ones
}

// A sessionSummary is a session in a list.
type sessionSummary struct {
	ID           string                `json:"id"`
	Title        string                `json:"title,omitempty"`
	Status       hearken.SessionStatus `json:"status"`
	StopReason   string                `json:"stopReason,omitempty"`
	Language     string                `json:"language"`
	Provider     string                `json:"provider,omitempty"`
	StartedAt    time.Time             `json:"startedAt"`
	Duration     float64               `json:"duration,omitempty"`
	SegmentCount int                   `json:"segmentCount"`
}

func listSessions() *tool {
	return define("list_sessions", "List sessions",
		"Lists sessions, newest first. Use it to find a sessionId. If truncated, set until to the last startedAt to see older ones.",
		effect{readOnly: true},
		func(ctx context.Context, tc *toolContext, in listIn) (listOut, error) {
			f := hearken.SessionFilter{Limit: in.Limit + 1} // one more, to know whether there are more
			if in.Status != "all" {
				f.Status = hearken.SessionStatus(in.Status)
			}
			var err error
			if f.Since, f.Until, err = parseTimeRange(in.Since, in.Until); err != nil {
				return listOut{}, err
			}
			sessions, err := tc.Hub.Sessions(ctx, f)
			if err != nil {
				return listOut{}, err
			}
			out := listOut{Sessions: make([]sessionSummary, 0, len(sessions)), Truncated: len(sessions) > in.Limit}
			for i := range sessions[:min(len(sessions), in.Limit)] {
				s := &sessions[i]
				out.Sessions = append(out.Sessions, sessionSummary{
					ID: s.ID, Title: s.Title, Status: s.Status, StopReason: s.StopReason, Language: s.Language,
					Provider: s.Provider, StartedAt: s.StartedAt, Duration: roundToMillis(s.Duration), SegmentCount: s.SegmentCount,
				})
			}
			return out, nil
		})
}

type statusIn struct {
	SessionID   string `json:"sessionId"`
	IncludeNote bool   `json:"includeNote,omitempty" jsonschema:"Include the note's text"`
}

// statusOut is the session and how it is doing.
type statusOut struct {
	hearken.Session
	Health          string        `json:"health" jsonschema:"ok, waiting_for_audio, silent, lagging, storage_trouble, provider_trouble or stopped"`
	Sender          string        `json:"sender"`
	ProviderState   string        `json:"providerState"`
	Engine          string        `json:"engine,omitempty"`
	RemoteEngines   []string      `json:"remoteEngines"` // those that take the audio to another computer
	LastAudioAt     *time.Time    `json:"lastAudioAt,omitempty"`
	LastWordAt      *time.Time    `json:"lastWordAt,omitempty"`
	LagSeconds      float64       `json:"lagSeconds"`
	DroppedSeconds  float64       `json:"droppedSeconds"`
	OwedSeconds     float64       `json:"owedSeconds,omitempty"`
	SpoolBytes      int64         `json:"spoolBytes"`
	UnsavedSegments int           `json:"unsavedSegments"`
	Durable         bool          `json:"durable"`
	StoreError      string        `json:"storeError,omitempty"`
	Note            *attachedNote `json:"note,omitempty"`
}

type attachedNote struct {
	SavedAt time.Time `json:"savedAt"`
	By      string    `json:"by,omitempty"`
	Text    string    `json:"text,omitempty"`
}

func getSessionStatus() *tool {
	t := define("get_session_status", "Session status",
		"Reports a session's health (last audio, last word, lag, lost audio, storage) and its note. Use it when text is late or missing.",
		effect{readOnly: true},
		func(ctx context.Context, tc *toolContext, in statusIn) (*statusOut, error) {
			st, err := tc.Hub.Status(ctx, in.SessionID)
			if err != nil {
				return nil, err
			}
			out := &statusOut{
				Session: st.Session, Health: st.Health, Sender: st.Sender, ProviderState: st.ProviderState, Engine: st.Engine, RemoteEngines: st.Remote, OwedSeconds: roundToMillis(st.Backlog),
				LastAudioAt: st.LastAudio, LastWordAt: st.LastWord, LagSeconds: roundToMillis(st.Lag), DroppedSeconds: roundToMillis(st.Dropped),
				SpoolBytes: st.SpoolBytes, UnsavedSegments: st.Unsaved, Durable: st.Durable, StoreError: st.StoreError,
			}
			out.Duration = roundToMillis(out.Duration)
			// Without the store there is no note, but the rest is still known.
			brief, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if note, err := tc.Hub.Note(brief, in.SessionID); err == nil {
				out.Note = &attachedNote{SavedAt: note.SavedAt, By: note.By}
				if in.IncludeNote {
					out.Note.Text = note.Text
				}
			}
			return out, nil
		})
	t.OutputSchema = outlineOf(t.output, "id", "status", "duration", "segmentCount", "health", "lastAudioAt", "lastWordAt", "lagSeconds", "note")
	return t
}
