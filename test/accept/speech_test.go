//go:build accept

package accept

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/editdistance"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
)

// A take is a recording, 16 kHz and 16 bit, and what is said in it.
type take struct {
	path  string
	text  string
	sound []byte // without the header
}

func newTake(t *testing.T, name string) take {
	t.Helper()
	c := speech.Get(t, strings.TrimSuffix(name, ".wav"))
	return take{path: c.WAV(t), text: c.Reference, sound: audio.AppendBytes(nil, c.PCM())}
}

// newTalk is several recordings with a long pause between them, in a file that
// has the name of the first.
func newTalk(t *testing.T, names ...string) take {
	t.Helper()
	var texts []string
	var pcm []int16
	for i, name := range names {
		c := speech.Get(t, strings.TrimSuffix(name, ".wav"))
		if i > 0 {
			pcm = append(pcm, make([]int16, 3*hearken.SampleRate)...)
		}
		pcm, texts = append(pcm, c.PCM()...), append(texts, c.Reference)
	}
	path := filepath.Join(t.TempDir(), names[0])
	if err := os.WriteFile(path, audio.EncodeWAV(hearken.SampleRate, pcm), 0o600); err != nil {
		t.Fatal(err)
	}
	return take{path: path, text: strings.Join(texts, " "), sound: audio.AppendBytes(nil, pcm)}
}

// seconds is how long it lasts.
func (k take) seconds() float64 { return float64(len(k.sound)) / 32000 }

// hears complains if more than a fifth of the words are not what was said.
func hears(t *testing.T, text string, said ...string) {
	t.Helper()
	want := strings.Fields(plain(strings.Join(said, " ")))
	got := strings.Fields(plain(text))
	if wrong := float64(editdistance.Levenshtein(want, got)) / float64(len(want)); wrong > 0.2 {
		t.Errorf("%.0f %% of the words are wrong: %q\nwant %q", 100*wrong, text, said)
	}
}

// A memory is a session as the hub remembers it.
type memory struct {
	Title, Status string
	Duration      float64
	text          map[string]string // by source, M and S
}

// remembers looks the session up in the list, reads it to its end, and
// searches it for a phrase.
func remembers(t *testing.T, h *hubtest.Hub, id, phrase string) (m memory) {
	t.Helper()
	call := func(tool string, args map[string]any, result any) {
		t.Helper()
		if err := h.Call(t.Context(), tool, args, result); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
	}
	deadline := time.Now().Add(20 * time.Second)
	for m.Status != "stopped" && time.Now().Before(deadline) {
		call("get_session_status", map[string]any{"sessionId": id}, &m)
		<-time.After(50 * time.Millisecond)
	}
	if m.Status != "stopped" {
		t.Errorf("the session is %s after its client has left", m.Status)
	}
	var list struct{ Sessions []struct{ ID string } }
	call("list_sessions", map[string]any{"limit": 100}, &list)
	if !slices.ContainsFunc(list.Sessions, func(s struct{ ID string }) bool { return s.ID == id }) {
		t.Errorf("the session %s is not among the %d in the list", id, len(list.Sessions))
	}
	m.text = map[string]string{}
	for args := map[string]any{"sessionId": id}; ; {
		var page struct {
			Segments []struct{ Text, Source string }
			Cursor   string
			More     bool
		}
		call("get_transcription", args, &page)
		for _, s := range page.Segments {
			m.text[s.Source] += s.Text + " "
		}
		if !page.More {
			break
		}
		args["cursor"] = page.Cursor
	}
	var found struct{ Hits []struct{ SessionID string } }
	call("search_transcripts", map[string]any{"query": phrase, "sessionId": id}, &found)
	if len(found.Hits) == 0 {
		t.Errorf("a search for %q in the session found nothing; it holds %q", phrase, m.text)
	}
	return m
}
