//go:build linux

package privacy

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/soundcard"
	"github.com/hearken-dev/hearken/test/speech"
)

// lookupTimeout is how long a name may be looked up.
const lookupTimeout = 2 * time.Second

// clip is the recording that is played.
const clip = "ls-other-1688-142285-0003"

// spokenWords are words of the recording that are in no log by chance.
var spokenWords = regexp.MustCompile(`(?i)really|account|himself|anything`)

// A computer is a sound card, a home and a runtime directory that are empty at
// first.
type computer struct {
	t    *testing.T
	card *soundcard.Card
	root string
	env  []string
}

func newComputer(t *testing.T) *computer {
	t.Helper()
	root, err := os.MkdirTemp("", "hp") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	c := &computer{t: t, card: soundcard.Start(t), root: root}
	for _, dir := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.env = append(c.card.Env(),
		"PATH="+os.Getenv("PATH"), "HOME="+filepath.Join(root, "home"), "XDG_RUNTIME_DIR="+filepath.Join(root, "run"),
		"HEARKEN_MODELS="+os.Getenv("HEARKEN_MODELS"), "HEARKEN_DATA_DIR="+c.data(), "PORT=0", "WS_LISTEN=127.0.0.1:0",
		"LOG_LEVEL=debug",
	)
	return c
}

func (c *computer) data() string { return filepath.Join(c.root, "home", "data") }

// testLeaks goes through a session as an agent and its owner do.
func testLeaks(t *testing.T) {
	syscall.Umask(0) // privacy must not depend on it
	m, c := newMonitor(t), newComputer(t)
	a := hubtest.StartStdio(t, c.env, c.root, hubtest.Binary(t), "--stdio")
	a.Request("tools/list", map[string]any{})
	if said := a.CallText("pscribe_start", nil); !strings.Contains(said, "on the call should know") {
		t.Errorf("nothing about consent: %s", said)
	}
	hub, ok := pipe.ReadHubInfo(c.data())
	if !ok {
		t.Fatal("no hub")
	}
	t.Cleanup(func() { syscall.Kill(hub.PID, syscall.SIGKILL) })
	if err := c.card.Open(t, soundcard.Sinks[0]).Play(t.Context(), time.Now(), speech.Get(t, clip).PCM()); err != nil {
		t.Fatal(err)
	}
	var transcript string
	hubtest.WaitUntil(t, 40*time.Second, "the recording is transcribed", func() bool {
		transcript = a.CallText("pscribe_tail", map[string]any{"since_line": 1, "status": "confirmed", "wait_seconds": 10})
		return len(spokenWords.FindAllString(transcript, -1)) >= 3
	})
	c.checkModes("while it captures")
	for _, ip := range listening(t) {
		if !ip.IsLoopback() {
			t.Errorf("a process listens at %s", ip)
		}
	}
	word := strings.ToLower(spokenWords.FindString(transcript))
	if found := a.CallText("search_transcripts", map[string]any{"query": word}); !strings.Contains(strings.ToLower(found), word) {
		t.Errorf("search for %s: %s", word, found)
	}
	a.CallText("pscribe_stop", nil)
	id := regexp.MustCompile(`session: "?([0-9a-f-]{36})`).FindStringSubmatch(a.CallText("pscribe_status", nil))
	if id == nil {
		t.Fatal("no session")
	}
	if all := a.CallText("export_session", map[string]any{"sessionId": id[1], "format": "txt"}); !spokenWords.MatchString(all) {
		t.Errorf("the export: %s", all)
	}
	c.checkNoAudio()
	c.command("export", id[1])
	c.command("search", word)
	c.write("export", id[1], "--output", filepath.Join(c.root, "home", "export.txt"))
	if said := a.Close(); spokenWords.MatchString(said) {
		t.Errorf("the agent's server says on standard error what was spoken: %s", said)
	}
	syscall.Kill(hub.PID, syscall.SIGTERM)
	hubtest.WaitEnded(t, c.data())
	c.checkModes("when it has ended")
	c.checkNoAudio()
	log, err := os.ReadFile(filepath.Join(c.data(), "hub.log"))
	if err != nil || !strings.Contains(string(log), id[1]) {
		t.Errorf("the log does not mention the session: %v\n%s", err, log)
	}
	if words := spokenWords.FindAllString(string(log), -1); words != nil {
		t.Errorf("the log holds what was spoken: %q", words)
	}
	if n := m.attempts() - m.count; n != 0 {
		t.Errorf("there were %d attempts to reach something beyond this computer", n)
	}
	// If a cloud is chosen the attempts to reach it are counted.
	before := m.attempts()
	env := append(c.env, "TRANSCRIPTION_PROVIDER=deepgram", "DEEPGRAM_API_KEY=none", "HEARKEN_SPAWN=false")
	cloud := hubtest.StartStdio(t, env, c.root, hubtest.Binary(t), "--stdio")
	cloud.CallText("pscribe_start", nil)
	hubtest.WaitUntil(t, 20*time.Second, "the chosen cloud is tried", func() bool { return m.attempts() > before })
	cloud.Kill()
}

// command runs a command of the owner's, which prints what was said on standard
// output and nowhere else.
func (c *computer) command(args ...string) {
	c.t.Helper()
	cmd := exec.Command(hubtest.Binary(c.t), args...)
	cmd.Env, cmd.Dir = c.env, c.root
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || !spokenWords.Match(out) {
		c.t.Errorf("hearken %s: %v: %s%s", args[0], err, out, &said)
	}
	if spokenWords.MatchString(said.String()) {
		c.t.Errorf("hearken %s says on standard error what was spoken: %s", args[0], &said)
	}
}

// write runs a command of the owner's that writes to a file, which must be as
// private as everything else.
func (c *computer) write(args ...string) {
	c.t.Helper()
	cmd := exec.Command(hubtest.Binary(c.t), args...)
	cmd.Env, cmd.Dir = c.env, c.root
	if out, err := cmd.CombinedOutput(); err != nil || spokenWords.Match(out) {
		c.t.Errorf("hearken %s: %v: %s", args[0], err, out)
	}
	if text, err := os.ReadFile(args[len(args)-1]); err != nil || !spokenWords.Match(text) {
		c.t.Errorf("hearken %s wrote %q: %v", args[0], text, err)
	}
}

// checkModes checks that only the owner can read the files.
func (c *computer) checkModes(when string) {
	c.t.Helper()
	seen := 0
	err := filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // a temporary file
			return nil
		}
		if err != nil {
			return err
		}
		seen++
		if mode := info.Mode().Perm(); mode&0o077 != 0 || !d.IsDir() && d.Type().IsRegular() && mode != 0o600 {
			c.t.Errorf("%s: %s has mode %v", when, strings.TrimPrefix(path, c.root), info.Mode())
		}
		return nil
	})
	if err != nil || seen < 8 {
		c.t.Errorf("%s: %d files, %v", when, seen, err)
	}
}

// checkNoAudio checks that no audio is left on disk.
func (c *computer) checkNoAudio() {
	c.t.Helper()
	for _, dir := range []string{"spool", "audio"} {
		filepath.WalkDir(filepath.Join(c.data(), dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				c.t.Errorf("audio is left at %s", strings.TrimPrefix(path, c.root))
			}
			return nil
		})
	}
	filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "hearken.db") {
			return nil
		}
		// Five seconds of speech as PCM, or packed without loss, are larger.
		if info, err := d.Info(); err == nil && info.Size() > 60<<10 {
			c.t.Errorf("%s has %d bytes", strings.TrimPrefix(path, c.root), info.Size())
		}
		return nil
	})
}
