package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken/test/act"
	"github.com/hearken-dev/hearken/test/upgrade"
)

// contacts is the owner's contact book.
const contacts = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada Moreno\r\nEMAIL:ada@hub.example\r\nEND:VCARD\r\n" +
	"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Maria Souza\r\nNICKNAME:Mia\r\nEMAIL;TYPE=pref:maria@example.org\r\nTEL:+5511955550123\r\nEND:VCARD\r\n" +
	"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Bob Okonkwo\r\nEMAIL:bob@example.org\r\nEND:VCARD\r\n"

// A scenario is what people and agents do with one hub.
type scenario struct {
	*hub
	ctx              context.Context
	pin, wrong       string // files with the right PIN and a wrong one
	key, keyID       string
	holding, release chan struct{} // while mail is held up
	hold             atomic.Bool
	calls            sync.WaitGroup
	expected         upgrade.Expected
}

// play uses the hub until its data holds something of every kind, and stops it.
func play(ctx context.Context, h *hub) (*upgrade.Expected, error) {
	s := &scenario{hub: h, ctx: ctx, pin: filepath.Join(h.home, "pin"), wrong: filepath.Join(h.home, "wrong")}
	err := errors.Join(os.WriteFile(s.pin, []byte(upgrade.PIN), 0o600), os.WriteFile(s.wrong, []byte("314159"), 0o600))
	if err != nil {
		return nil, err
	}
	env, closeAll, err := s.startServers()
	if err != nil {
		return nil, err
	}
	defer closeAll()
	err = inOrder(
		func() error { return s.start(ctx, env...) },
		s.setUp, s.makeSessions, s.keepScribeSession, s.makeGrants, s.carryOutActions, s.refuseActions,
		func() error { return s.crashWhileSending(env) },
		s.Stop,
		// From here on nobody has long to decide.
		func() error { return s.start(ctx, append(env, "APPROVAL_MINUTES=0.1")...) },
		s.leaveUnfinished,
	)
	err = errors.Join(err, s.Stop()) // if a step failed
	s.calls.Wait()
	return &s.expected, err
}

// inOrder takes steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// startServers starts the servers that the hub uses, and returns the settings
// for them.
func (s *scenario) startServers() (env []string, closeAll func(), err error) {
	scribe, err := writeScribe(s.home)
	if err != nil {
		return nil, nil, err
	}
	s.holding, s.release = make(chan struct{}), make(chan struct{})
	post, err := act.OpenMailServer(s.home, func() {
		if s.hold.Load() {
			s.holding <- struct{}{}
			<-s.release
		}
	})
	if err != nil {
		return nil, nil, err
	}
	number(english, japanese, portuguese)
	engine := httptest.NewServer(newEngine(english, japanese, portuguese))
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not wanted here", http.StatusUnprocessableEntity)
	}))
	env = append(post.Env(),
		"TRANSCRIPTION_PROVIDER=deepgram", "DEEPGRAM_API_KEY=fixture", "DEEPGRAM_BASE_URL=ws"+strings.TrimPrefix(engine.URL, "http"),
		"SCRIBE_BACKEND=pscribe", "SCRIBE_KEEP=true", "PSCRIBE_PATH="+scribe,
		"WEBHOOK_URL="+hook.URL, "WEBHOOK_SECRET=whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "REMIND_BY=webhook",
		"GRANT_DELAY_SECONDS=0", "RATE_LIMIT=100000",
		"SPOOL=memory", // no audio in the fixture
	)
	return env, func() {
		engine.CloseClientConnections()
		engine.Close()
		hook.Close()
		post.Close()
	}, nil
}

// setUp sets the PIN and makes contacts and keys.
func (s *scenario) setUp() error {
	book := filepath.Join(s.home, "contacts.vcf")
	if err := os.WriteFile(book, []byte(contacts), 0o600); err != nil {
		return err
	}
	if _, err := s.RunAs(s.ctx, s.pin, "pin"); err != nil {
		return err
	}
	if _, err := s.RunAs(s.ctx, s.pin, "contacts", "import", "--me", "Ada Moreno", book); err != nil {
		return err
	}
	s.expected.Recipient, s.expected.Address = "Mia", "maria@example.org"
	var err error
	if s.keyID, s.key, err = s.createKey("--name", "agent"); err != nil {
		return err
	}
	s.expected.Key = s.key
	if _, s.expected.RevokedKey, err = s.createKey("--name", "old phone"); err != nil {
		return err
	}
	if _, _, err = s.createKey("--name", "desk", "--only", "read,actions", "--approver", "client"); err != nil {
		return err
	}
	_, err = s.RunCommand(s.ctx, "keys", "revoke", "old phone")
	return err
}

func (s *scenario) createKey(args ...string) (id, secret string, err error) {
	out, err := s.RunAs(s.ctx, s.pin, append([]string{"keys", "create", "--json"}, args...)...)
	if err != nil {
		return "", "", err
	}
	var key struct{ ID, Key string }
	err = json.Unmarshal([]byte(out), &key)
	return key.ID, key.Key, err
}

// leaveUnfinished stops the hub in the middle: with an active session, a
// reminder that is due soon, an action that waits for its owner, and all actions
// paused.
func (s *scenario) leaveUnfinished() error {
	if err := s.letExpire(); err != nil {
		return err
	}
	active, err := s.transcribe(s.key, portuguese, map[string]any{"title": "Reunião"})
	if err != nil {
		return err
	}
	endpoint, err := url.Parse(active.WSEndpoint)
	if err != nil {
		return err
	}
	s.expected.Interrupted, s.expected.Sender = active.SessionID, endpoint.RequestURI()
	s.expected.Daily = "Water the seedlings"
	soon := time.Now().Add(15 * time.Second).Truncate(time.Second)
	if err := s.proposeAndApprove("reminder_create", map[string]any{"time": soon.Format(time.RFC3339), "note": s.expected.Daily, "repeat": "daily"}); err != nil {
		return err
	}
	if _, err := s.RunAs(s.ctx, s.wrong, "resume"); err == nil { // and it is counted
		return errors.New("a wrong PIN was taken")
	}
	w, err := s.propose("calendar_create", map[string]any{"title": "Nobody decides", "start": farTime(20), "duration_min": 30})
	if err != nil {
		return err
	}
	s.expected.Waiting = w.id
	if _, err := s.RunCommand(s.ctx, "pause"); err != nil {
		return err
	}
	if err := s.Stop(); err != nil {
		return err
	}
	if time.Now().After(soon) {
		return errors.New("the daily reminder was due before the hub stopped; this computer is too slow")
	}
	timer := time.NewTimer(time.Until(soon) + time.Second) // it is due when the data is opened
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}
