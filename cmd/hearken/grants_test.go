//go:build !windows

package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// The list of grants says which apply now, and why the others do not.
func TestGrants_List(t *testing.T) {
	o := newTerminal(t)
	reader, _ := hearken.NewKey("reader", time.Now(), nil)
	assistant, _ := hearken.NewKey("assistant", time.Now(), []string{hearken.ActionsToolset})
	gone, _ := hearken.NewKey("gone", time.Now(), nil)
	ids := map[string]string{}
	for _, k := range []hearken.Key{reader, assistant, gone} {
		if err := o.app.store.SaveKey(t.Context(), &k); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{act.Local, reader.ID, assistant.ID, gone.ID} {
		g, err := o.app.queue.Grant(t.Context(), hearken.Grant{Principal: key, Tool: hearken.CalendarCreate, Target: "builtin"})
		if err != nil {
			t.Fatal(err)
		}
		ids[key] = g.ID
	}
	now := time.Now()
	gone.RevokedAt = &now
	if err := o.app.store.SaveKey(t.Context(), &gone); err != nil {
		t.Fatal(err)
	}
	o.app.exposure.Read(reader.ID)
	o.app.exposure.Read(assistant.ID) // it cannot, and it makes no difference
	if err := (&grantsListCmd{}).Run(t.Context(), o.p); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		act.Local: " good", assistant.ID: " good", gone.ID: " off now: this key was revoked",
		reader.ID: " off now: this key has read transcripts within the last 30 minutes",
	} {
		found := false
		for line := range strings.Lines(o.stdout.String()) {
			found = found || strings.HasPrefix(line, ids[key]) && strings.HasSuffix(strings.TrimRight(line, "\n"), want)
		}
		if !found {
			t.Errorf("no %q for %s in\n%s", want, key, &o.stdout)
		}
	}

	o.stdout.Reset()
	if err := (&grantsListCmd{JSON: true}).Run(t.Context(), o.p); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(o.stdout.Bytes(), &list); err != nil || len(list) != 4 {
		t.Fatalf("%d grants, %v", len(list), err)
	}
	for _, g := range list {
		if off := g["off"] != nil; off != (g["key"] == reader.ID || g["key"] == gone.ID) || g["target"] != "builtin" {
			t.Errorf("%v", g)
		}
	}
}

// What cannot be granted is refused with the reason and a way out.
func TestGrants_Create(t *testing.T) {
	o := newTerminal(t)
	create := func(tool, target string) error {
		o.stdout.Reset()
		return (&grantsCreateCmd{Key: act.Local, Tool: tool, Target: target, For: time.Hour, PerDay: 5}).Run(t.Context(), o.p)
	}
	err := create("message.send", "webhook:"+strings.TrimSuffix(strings.TrimPrefix(o.p.cfg.WebhookURL, "http://"), "/hook"))
	if hearken.CodeOf(err) != hearken.PolicyDenied || !strings.Contains(err.Error(), "Messages to people always ask") || !strings.Contains(err.Error(), "Try: ") {
		t.Errorf("a webhook: %v", err)
	}
	for tool, target := range map[string]string{"calendar.create": "builtin", "reminder_create": "builtin", "message.send": "ntfy:ada"} {
		if err := create(tool, target); err != nil || !strings.Contains(o.stdout.String(), "5 times per day.") {
			t.Errorf("%s on %s: %v, %s", tool, target, err, &o.stdout)
		}
	}
}
