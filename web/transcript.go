package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
)

// contextLines is how many entries are shown before and after the words.
const contextLines = 8

// A transcriptLine is one entry of a transcript, as the page shows it.
type transcriptLine struct {
	Line   int            `json:"line"`
	Source hearken.Origin `json:"source"`
	Echo   bool           `json:"echo,omitempty"`
	Text   string         `json:"text"`
	At     time.Time      `json:"at"`
}

// transcript shows what was said around the words behind an action.
func (h *Handler) transcript(_ http.ResponseWriter, r *http.Request) (any, error) {
	id := r.PathValue("id")
	line, err := strconv.Atoi(r.URL.Query().Get("line"))
	if err != nil || line < 1 {
		return nil, hearken.Errorf(hearken.Invalid, "line must be a number of at least 1.")
	}
	if h.cfg.Transcripts == nil || !hearken.ValidID(id) {
		return nil, hearken.Errorf(hearken.SessionNotFound, "There is no such session.")
	}
	page, err := h.cfg.Transcripts.Read(r.Context(), live.ReadRequest{Session: id, From: max(0, line-1-contextLines), Limit: 2*contextLines + 1})
	if err != nil {
		return nil, err
	}
	out := struct {
		Title     string           `json:"title"`
		StartedAt time.Time        `json:"startedAt"`
		Lines     []transcriptLine `json:"lines"`
	}{page.Session.Title, page.Session.StartedAt, []transcriptLine{}}
	for _, s := range page.Segments {
		if s.Spoken() && s.Status != hearken.Translated {
			out.Lines = append(out.Lines, transcriptLine{s.Line, s.Origin, s.Echo, s.Text, s.Timestamp})
		}
	}
	return out, nil
}
