//go:build linux

package privacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/jsonfile"
	"github.com/hearken-dev/hearken/store/sqlite"
	testact "github.com/hearken-dev/hearken/test/act"
	"github.com/hearken-dev/hearken/test/deepgramtest"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// sentence is what is said. Its first word is in no title that the agent makes of
// it.
const (
	sentence = "Zyxophonia needs another violin lesson before the concert"
	secret   = "zyxophonia"
)

// deletedText is what an action says instead of a quote.
const deletedText = "The words were deleted."

// A quoting hub has a session, and actions that quote it: one that waits, one
// that was denied and one that is done. The agent's key has only the tools that
// act.
type quoting struct {
	*testing.T
	*hubtest.Hub
	backend string
	owner   *testact.Owner
	key     string
	session string
	actions map[hearken.ActionState]*hearken.Action
	stop    context.CancelFunc // of the agent's calls
}

func newQuoting(t *testing.T, backend string) *quoting {
	t.Helper()
	words, pcm := say(sentence)
	server := httptest.NewServer(deepgramtest.New(t, words))
	t.Cleanup(server.Close)
	q := &quoting{T: t, backend: backend, actions: map[hearken.ActionState]*hearken.Action{}}
	q.Hub = hubtest.Start(t, "TRANSCRIPTION_PROVIDER=deepgram", "DEEPGRAM_API_KEY=secret", "DEFAULT_LANGUAGE=en",
		"DEEPGRAM_BASE_URL=ws"+strings.TrimPrefix(server.URL, "http"), "STORAGE_BACKEND="+backend, "LOG_LEVEL=debug")
	q.owner = &testact.Owner{Dir: q.Dir, PIN: "correct horse 7"}
	if _, err := q.owner.SetUp(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	var made struct{ Key string }
	q.check(hubtest.Control(t.Context(), q.Dir, map[string]any{
		"op": "keys.create", "name": "agent", "pin": q.owner.PIN, "toolsets": []string{"actions"},
	}, &made))
	q.key = made.Key
	s, err := q.StartSession(t.Context(), map[string]any{})
	q.check(err)
	q.session = s.ID
	q.check(s.Send(t.Context(), pcm, 4))
	hubtest.WaitUntil(t, 20*time.Second, "the sentence is transcribed", func() bool {
		all, err := s.Segments(t.Context())
		q.check(err)
		return strings.Contains(fmt.Sprint(all), "Zyxophonia")
	})
	q.request()
	for state, a := range q.actions {
		if why := q.Command(nil, "why", a.ID); !strings.Contains(strings.ToLower(why), secret) {
			t.Fatalf("the action that is %s quotes nothing: %s", state, why)
		}
	}
	if len(q.find()) == 0 {
		t.Fatal("the scan finds nothing")
	}
	return q
}

func (q *quoting) check(err error) {
	q.Helper()
	if err != nil {
		q.Fatal(err)
	}
}

// say makes the script of a sentence, and its audio.
func say(text string) (script []deepgramtest.Word, pcm []int16) {
	const second = hearken.SampleRate
	at := int64(second / 4)
	pcm = make([]int16, 5*second) // all of it becomes one entry
	for i, word := range strings.Fields(text) {
		end := at + second/5
		for j := at; j < end; j++ {
			pcm[j] = int16(deepgramtest.FirstWord + i)
		}
		script = append(script, deepgramtest.Word{Text: word, From: at, To: end})
		at = end + second/20
	}
	return script, pcm
}

// request has the agent ask for three appointments. The owner denies one and
// approves one.
func (q *quoting) request() {
	q.Helper()
	calling, stop := context.WithCancel(q.Context())
	q.stop = stop
	q.Cleanup(stop)
	titles := map[string]hearken.ActionState{
		"Another violin lesson": hearken.ActionPending, "Violin lesson": hearken.ActionDenied, "Violin lesson before the concert": hearken.ActionDone,
	}
	for title := range titles {
		args := map[string]any{"title": title, "start": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339), "duration_min": 30}
		go func() { // it returns when the owner has decided
			if got, err := q.ask(calling, "calendar_create", args); err == nil {
				q.wantNoSecret("calendar_create", got)
			}
		}()
	}
	var all []hearken.Action
	hubtest.WaitUntil(q.T, 20*time.Second, "three actions are pending", func() bool {
		var err error
		all, err = q.owner.Actions(q.Context(), hearken.ActionPending)
		q.check(err)
		return len(all) == len(titles)
	})
	for i := range all {
		state := titles[all[i].Appointment.Title]
		q.actions[state] = &all[i]
		if state == hearken.ActionPending {
			continue
		}
		_, err := q.owner.Decide(q.Context(), &all[i], state == hearken.ActionDone)
		q.check(err)
		hubtest.WaitUntil(q.T, 20*time.Second, "the action is "+string(state), func() bool {
			found, err := q.owner.Actions(q.Context(), state)
			q.check(err)
			return len(found) == 1
		})
	}
}

// ask calls a tool with the agent's key and returns all that comes back.
func (q *quoting) ask(ctx context.Context, tool string, args any) (string, error) {
	header := http.Header{"Authorization": {"Bearer " + q.key}}
	result, err := hubtest.Post(ctx, http.DefaultClient, q.URL, header, hubtest.Request(1, tool, args))
	return string(result), err
}

func (q *quoting) wantNoSecret(what, text string) {
	q.Helper()
	if strings.Contains(strings.ToLower(text), secret) {
		q.Errorf("%s tells what was said: %s", what, text)
	}
}

// find returns the files that contain the secret: of the program's home, in
// which are its data, keys and settings.
func (q *quoting) find() (files []string) {
	q.Helper()
	err := filepath.WalkDir(filepath.Dir(q.Dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // a temporary file
			return nil
		}
		if bytes.Contains(bytes.ToLower(data), []byte(secret)) {
			files = append(files, path)
		}
		return err
	})
	q.check(err)
	return files
}

// wantForgotten checks that the words are in no file and in no answer, and that
// the actions are otherwise as they were.
func (q *quoting) wantForgotten() {
	q.Helper()
	if left := q.find(); len(left) > 0 {
		q.Errorf("still in %v", left)
	}
	q.wantNoSecret("hearken actions", q.Command(nil, "actions", "list", "--json"))
	for state, before := range q.actions {
		why := q.Command(nil, "why", before.ID)
		q.wantNoSecret("hearken why", why)
		if !strings.Contains(why, before.Appointment.Title) || !strings.Contains(why, deletedText) {
			q.Errorf("hearken why, for the action that is %s: %s", state, why)
		}
		var after struct{ Action hearken.Action }
		q.check(json.Unmarshal([]byte(q.Command(nil, "why", before.ID, "--json")), &after))
		if a := after.Action; a.Digest != before.Digest || !a.Evidence[0].Deleted || a.Evidence[0].Source != hearken.System {
			q.Errorf("the action that is %s: %+v", state, a)
		}
	}
	q.stop()
	q.Stop()
	if left := q.find(); len(left) > 0 {
		q.Errorf("when the hub has ended, still in %v", left)
	}
}

// What an action quotes is deleted with its session, whatever has become of the
// action.
func TestDeletedQuotes(t *testing.T) {
	for _, backend := range []string{"sqlite", "json"} {
		t.Run(backend+"/Delete", func(t *testing.T) {
			t.Parallel()
			q := newQuoting(t, backend)
			q.check(q.Call(t.Context(), "delete_session", map[string]any{"sessionId": q.session}, nil))
			q.wantForgotten()
		})
		t.Run(backend+"/Forget", func(t *testing.T) {
			t.Parallel()
			q := newQuoting(t, backend)
			q.check(q.Call(t.Context(), "forget_recent", map[string]any{"sessionId": q.session, "minutes": 5}, nil))
			q.wantForgotten()
		})
		t.Run(backend+"/Retention", func(t *testing.T) {
			t.Parallel()
			q := newQuoting(t, backend)
			q.check(q.Call(t.Context(), "stop_transcription", map[string]any{"sessionId": q.session}, nil))
			q.stop()
			q.Stop()
			q.age(72 * time.Hour)
			q.Env = append(q.Env, "RETENTION_DAYS=2")
			q.Hub.Run()
			hubtest.WaitUntil(t, 20*time.Second, "the old session is deleted", func() bool { return len(q.find()) == 0 })
			q.wantForgotten()
		})
	}
}

// age makes the session older, as if the hub had been stopped for that long.
func (q *quoting) age(by time.Duration) {
	q.Helper()
	var store hearken.Store
	var err error
	if q.backend == "json" {
		store, err = jsonfile.Open(q.Context(), filepath.Join(q.Dir, "hearken.json.d"))
	} else {
		store, err = sqlite.Open(q.Context(), filepath.Join(q.Dir, "hearken.db"))
	}
	q.check(err)
	s, err := store.Session(q.Context(), q.session)
	q.check(err)
	stopped := s.StoppedAt.Add(-by)
	s.StartedAt, s.StoppedAt = s.StartedAt.Add(-by), &stopped
	q.check(store.Save(q.Context(), s, nil))
	q.check(store.Close())
}

// A key that has only the tools that act learns nothing of what was said.
func TestActionsKeyReadsNothing(t *testing.T) {
	q := newQuoting(t, "sqlite")
	for _, a := range q.actions {
		for _, tool := range []string{"action_status", "action_cancel", "action_status"} {
			got, err := q.ask(t.Context(), tool, map[string]any{"id": a.ID})
			q.check(err)
			q.wantNoSecret(tool, got)
		}
	}
	for tool, args := range map[string]map[string]any{
		"get_transcription": {"sessionId": q.session}, "export_session": {"sessionId": q.session}, "search_transcripts": {"query": secret},
		"get_session_status": {"sessionId": q.session}, "pscribe_tail": {}, "pscribe_cat": {}, "watch_transcript": {"sessionId": q.session},
	} {
		got, err := q.ask(t.Context(), tool, args)
		q.wantNoSecret(tool, got+fmt.Sprint(err))
		if err == nil && !strings.Contains(got, `"isError":true`) {
			t.Errorf("%s answers %s", tool, got)
		}
	}
}
