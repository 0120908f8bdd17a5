package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audit"
)

// The first day to include may be the first to leave out: then there is none.
func TestAuditExport_Days(t *testing.T) {
	cfg := &Config{DataDir: t.TempDir(), KeyDir: t.TempDir()}
	noon := time.Date(2026, 11, 2, 12, 0, 0, 0, time.Local)
	l, err := audit.Open(audit.Config{Dir: cfg.auditDir(), KeyDir: cfg.KeyDir, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Append(t.Context(), hearken.AuditRecord{Type: hearken.AuditRefused}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		since, until string
		want         int
	}{
		{"", "", 1},
		{"2026-11-02", "2026-11-03", 1},
		{"2026-11-02", "", 1},
		{"2026-11-03", "", 0},
		{"", "2026-11-02", 0},
		{"2026-11-01", "2026-11-01", 0},
		{"2026-11-03", "2026-11-03", 0},
	} {
		var out bytes.Buffer
		cmd := &auditExportCmd{Since: tt.since, Until: tt.until}
		if err := cmd.Run(t.Context(), &program{cfg: cfg, stdout: &out}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n != tt.want {
			t.Errorf("from %q to %q: %d records", tt.since, tt.until, n)
		}
	}
	for _, cmd := range []*auditExportCmd{{Since: "yesterday"}, {Until: "yesterday"}} {
		if err := cmd.Run(t.Context(), &program{cfg: cfg}); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%+v: %v", cmd, err)
		}
	}
}
