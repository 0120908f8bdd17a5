//go:build !windows

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// ntfyServer answers as an ntfy server does, and returns the texts it receives.
func ntfyServer(t *testing.T) (url string, texts <-chan string) {
	t.Helper()
	received := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		received <- string(text)
		fmt.Fprint(w, `{"id":"abcdef123456"}`)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/topic", received
}

// setReminder lets a grant set a reminder, and returns what the owner is told.
func setReminder(t *testing.T, app *App, texts <-chan string) (*hearken.Action, string) {
	t.Helper()
	if _, err := app.queue.Grant(t.Context(), hearken.Grant{Principal: act.Local, Tool: hearken.ReminderCreate, Target: "builtin"}); err != nil {
		t.Fatal(err)
	}
	a, err := app.queue.Propose(t.Context(), act.Request{
		Principal: act.Local, Tool: hearken.ReminderCreate,
		Reminder: &act.ReminderArgs{Time: time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339), Note: "Water the plants"},
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-texts:
		return a, text
	case <-time.After(20 * time.Second):
		t.Fatalf("nobody was told about %s", a.ID)
	}
	return nil, ""
}

// The owner is told what a grant allowed, with a link that undoes it without the
// PIN, also after the hub has restarted.
func TestNotify_UndoLink(t *testing.T) {
	cfg := testConfig(t)
	url, texts := ntfyServer(t)
	cfg.NtfyURL, cfg.RemindBy = url, []string{"ntfy"}
	var a *hearken.Action
	var token string
	if !t.Run("FirstHub", func(t *testing.T) {
		app := openApp(t, cfg, Options{PINRounds: 1000})
		var text string
		a, text = setReminder(t, app, texts)
		server, _ := app.Transports(t.Context())
		var ok bool
		_, token, ok = strings.Cut(text, "\nor open "+server.URL()+"/undo/"+a.ID+"?t=")
		if !ok || !strings.HasPrefix(text, "Done by your grant: Set the reminder \"Water the plants\"\n") || !strings.Contains(text, "hearken undo "+a.ID) {
			t.Fatalf("the owner is told %q", text)
		}
	}) {
		return
	}
	app := openApp(t, cfg, Options{PINRounds: 1000})
	server, _ := app.Transports(t.Context())
	link := server.URL() + "/undo/" + a.ID + "?t=" + token
	if status, page := get(t, link); status != http.StatusOK || !strings.Contains(page, "Water the plants") {
		t.Errorf("%d\n%s", status, page)
	}
	if status, page := get(t, link+"x"); status != http.StatusUnauthorized || strings.Contains(page, "Water the plants") {
		t.Errorf("a wrong link: %d\n%s", status, page)
	}
	if got, err := app.queue.Action(t.Context(), a.ID); err != nil || got.State != hearken.ActionDone {
		t.Fatalf("%+v, %v", got, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", server.URL())
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got, err := app.queue.Action(t.Context(), a.ID); err != nil || res.StatusCode != http.StatusOK || got.State != hearken.ActionUndone {
		t.Errorf("%d, %+v, %v", res.StatusCode, got, err)
	}
}

// A hub that serves no HTTP names only the command.
func TestNotify_NoHTTP(t *testing.T) {
	cfg := testConfig(t)
	url, texts := ntfyServer(t)
	cfg.NtfyURL, cfg.RemindBy = url, []string{"ntfy"}
	app := openApp(t, cfg, Options{PINRounds: 1000, Brief: true})
	if err := app.ensureActions(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, text := setReminder(t, app, texts)
	if !strings.HasSuffix(text, "\nTo undo it within a day: hearken undo "+a.ID) {
		t.Errorf("the owner is told %q", text)
	}
}
