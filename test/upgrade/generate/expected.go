package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/hearken-dev/hearken/test/upgrade"
)

// recordExpected opens a copy of the fixture with the program that wrote it, and
// records what it shows.
func recordExpected(ctx context.Context, h *hub, f upgrade.Fixture, e *upgrade.Expected) (err error) {
	if err := os.RemoveAll(h.Dir); err != nil {
		return err
	}
	if err := upgrade.CopyData(f.Data(), h.Dir); err != nil {
		return err
	}
	var report struct{ Records int }
	if err := h.Get(ctx, &report, "audit", "verify"); err != nil {
		return err
	}
	e.AuditRecords = report.Records
	if e.AuditKey, err = h.RunCommand(ctx, "audit", "key"); err != nil {
		return err
	}
	e.AuditKey = strings.TrimSpace(e.AuditKey)
	if err := h.start(ctx, "TRANSCRIPTION_PROVIDER=null", "DEEPGRAM_BASE_URL=ws://127.0.0.1:1", "ACTION_DAYS=0"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Stop()) }()
	err = waitUntil(ctx, "the waiting action has expired", func() (bool, error) {
		var waiting []any
		err := h.Get(ctx, &waiting, "actions", "list", "--state", "pending")
		return len(waiting) == 0, err
	})
	if err != nil {
		return err
	}
	facts, err := upgrade.Read(ctx, &h.Program, e.Key, queries)
	if err != nil {
		return err
	}
	if e.CalendarPath, _, err = upgrade.Calendar(ctx, &h.Program); err != nil {
		return err
	}
	whole, markdown, err := upgrade.Export(ctx, &h.Program, e.Key, e.Exported)
	if err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(f.Export("json"), whole, 0o644), os.WriteFile(f.Export("md"), []byte(markdown), 0o644))
	if err != nil {
		return err
	}
	dropTransient(facts, e)
	e.Facts = *facts
	if err := checkComplete(e); err != nil {
		return err
	}
	return f.Write(e)
}

// dropTransient removes what depends on when the data is opened.
func dropTransient(facts *upgrade.Facts, e *upgrade.Expected) {
	for _, s := range facts.Sessions {
		if s.About["id"] == e.Interrupted {
			maps.DeleteFunc(s.About, func(name string, _ any) bool {
				return name == "status" || name == "stopReason" || name == "stoppedAt" || name == "duration"
			})
		}
	}
	for _, a := range facts.Actions {
		a := a.(map[string]any)
		if a["id"] == e.Waiting {
			delete(a, "endedAt")
		}
		if r, ok := a["reminder"].(map[string]any); ok && r["note"] == e.Daily {
			delete(a, "error") // whether the owner could be told today
		}
	}
}

// checkComplete makes sure that the program showed every phrase, and actions in
// every state in which a stopped hub can have them.
func checkComplete(e *upgrade.Expected) error {
	data, err := json.Marshal(e.Facts)
	if err != nil {
		return err
	}
	var missing []string
	want := func(text string) {
		quoted, _ := json.Marshal(text) // a string always marshals
		if !strings.Contains(string(data), strings.Trim(string(quoted), `"`)) {
			missing = append(missing, text)
		}
	}
	for _, r := range []*recording{english, japanese, portuguese} {
		for _, p := range r.phrases {
			if !strings.Contains(p.text, forgotten) {
				want(p.text)
			}
		}
	}
	want(note)
	for _, state := range []string{"done", "failed", "unknown", "denied", "expired", "cancelled", "undone"} {
		want(state)
	}
	for _, by := range []string{"owner", "grant", "policy"} {
		if !strings.Contains(string(data), `"by":"`+by+`"`) {
			missing = append(missing, "a decision by "+by)
		}
	}
	if strings.Contains(string(data), forgotten+"です") {
		missing = append(missing, "the loss of what was forgotten")
	}
	if len(missing) > 0 {
		return fmt.Errorf("the program does not show %q", missing)
	}
	return nil
}
