package mcpserver

import (
	"context"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/export"
	"github.com/hearken-dev/hearken/live"
)

// exportBytes bounds the size of one export, roughly: all of it is in memory,
// several times.
const exportBytes = 2 << 20

type exportIn struct {
	SessionID   string `json:"sessionId"`
	Format      string `json:"format,omitempty" enum:"json,txt,srt,vtt,md,toon" default:"json"`
	FromSegment int    `json:"fromSegment,omitempty" jsonschema:"Segments to skip" min:"0" default:"0"`
}

type exportOut struct {
	SessionID   string `json:"sessionId"`
	Format      string `json:"format"`
	Data        string `json:"data"`
	Truncated   bool   `json:"truncated,omitempty"`
	NextSegment int    `json:"nextSegment,omitempty"`
}

func exportSession() *tool {
	return define("export_session", "Export a session",
		"Returns a session as one document: json (with words and times), txt, srt or vtt subtitles, md (with its note) or toon. If truncated, continue with fromSegment = nextSegment. To follow a live session use get_transcription.",
		effect{readOnly: true}, exportDocument)
}

func exportDocument(ctx context.Context, tc *toolContext, in exportIn) (*exportOut, error) {
	out := &exportOut{SessionID: in.SessionID, Format: in.Format}
	words := in.Format == "json" || in.Format == "srt" || in.Format == "vtt"
	var segments []hearken.Segment
	var page *live.Page
	var err error
	for from, size := in.FromSegment, 0; ; from = page.Next {
		if page, err = tc.Hub.Read(ctx, live.ReadRequest{Session: in.SessionID, From: from, Limit: 500, Words: words}); err != nil {
			return nil, err
		}
		for _, s := range roundSegments(page.Segments) {
			if size += documentBytes(&s); size > exportBytes && len(segments) > 0 {
				out.Truncated, out.NextSegment = true, segments[len(segments)-1].Line
				break
			}
			segments = append(segments, s)
		}
		if out.Truncated || !page.More {
			break
		}
	}
	// Without a note, or if the store fails, the transcript is still exported.
	note, err := tc.Hub.Note(ctx, in.SessionID)
	if err != nil {
		note = nil
	}
	var b strings.Builder
	if err := export.Write(&b, in.Format, &page.Session, note, export.List(segments)); err != nil {
		return nil, err
	}
	out.Data = b.String()
	return out, nil
}

// documentBytes estimates what a segment adds to a document.
func documentBytes(s *hearken.Segment) int {
	n := 350 + len(s.Text) + len(s.Original)
	for i := range s.Words {
		n += 80 + len(s.Words[i].Word)
	}
	return n
}
