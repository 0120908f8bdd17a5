package toon

import (
	"math"

	"github.com/hearken-dev/hearken"
)

// Transcript makes a table of segments. Unknown values are null. A time has the
// offset of its own location.
func Transcript(segments []hearken.Segment) Table {
	columns := []string{"timestamp", "source", "status", "segment", "confidence", "duration", "language", "text"}
	t := Table{Columns: columns, Rows: make([][]any, 0, len(segments))}
	for i := range segments {
		s := &segments[i]
		var confidence, language any
		if s.Confidence != nil {
			confidence = math.Round(*s.Confidence*100) / 100
		}
		if s.Language != "" {
			language = s.Language
		}
		t.Rows = append(t.Rows, []any{
			s.Timestamp.Format("2006-01-02T15:04:05-07:00"),
			string(s.Origin), string(s.Status), s.Line, confidence,
			math.Round((s.EndTime-s.StartTime)*10) / 10, language, s.Text,
		})
	}
	return t
}
