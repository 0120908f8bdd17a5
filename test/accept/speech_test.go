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
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/test/wer"
)

// A clip is a recording, 16 kHz and 16 bit, and what is said in it.
type clip struct {
	path string
	text string
	pcm  []byte // without the header
}

func newClip(t *testing.T, name string) clip {
	t.Helper()
	c := speech.Get(t, strings.TrimSuffix(name, ".wav"))
	return clip{path: c.WAV(t), text: c.Reference, pcm: audio.AppendBytes(nil, c.PCM())}
}

// newLongClip is several recordings with a long pause between them, in a file that
// has the name of the first.
func newLongClip(t *testing.T, names ...string) clip {
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
	return clip{path: path, text: strings.Join(texts, " "), pcm: audio.AppendBytes(nil, pcm)}
}

// seconds is how long it lasts.
func (k clip) seconds() float64 { return float64(len(k.pcm)) / 32000 }

// checkText complains if more than a fifth of the words are not what was said.
func checkText(t *testing.T, text string, said ...string) {
	t.Helper()
	wer.Check(t, strings.Join(said, " "), text)
}

// A storedSession is a session as the hub stored it.
type storedSession struct {
	Title, Status string
	Duration      float64
	text          map[string]string // by source, M and S
}

// checkSession looks the session up in the list, reads it to its end, and
// searches it for a phrase.
func checkSession(t *testing.T, h *hubtest.Hub, id, phrase string) (m storedSession) {
	t.Helper()
	call := func(tool string, args map[string]any, result any) {
		t.Helper()
		if err := h.Call(t.Context(), tool, args, result); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
	}
	hubtest.WaitUntil(t, 20*time.Second, "the session is stopped after its client has left", func() bool {
		call("get_session_status", map[string]any{"sessionId": id}, &m)
		return m.Status == "stopped"
	})
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
