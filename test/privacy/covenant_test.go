//go:build linux

package privacy

import (
	"io/fs"
	"net"
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
	"github.com/hearken-dev/hearken/test/speech"
)

// naming is how long a name may be looked for.
const naming = 2 * time.Second

// What is said in the recording, and words of it that stand in no log by
// chance.
const spoken = "ls-other-1688-142285-0003"

var telling = regexp.MustCompile(`(?i)really|account|himself|anything`)

// A computer is a home and a runtime directory that hold nothing yet.
type computer struct {
	t    *testing.T
	root string
	env  []string
}

func newComputer(t *testing.T) *computer {
	t.Helper()
	root, err := os.MkdirTemp("", "hp") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	c := &computer{t: t, root: root}
	for _, dir := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(root, "run"),
		"HEARKEN_MODELS=" + os.Getenv("HEARKEN_MODELS"), "HEARKEN_DATA_DIR=" + c.data(), "PORT=0", "WS_LISTEN=127.0.0.1:0",
		"SCRIBE_BACKEND=native", "LOG_LEVEL=debug", "PULSE_SERVER=" + startSound(t), "MICROPHONE=mike.monitor", "SYSTEM_AUDIO=speakers",
	}
	return c
}

func (c *computer) data() string { return filepath.Join(c.root, "home", "data") }

// covenant goes through a session as an agent and its owner do.
func covenant(t *testing.T) {
	syscall.Umask(0) // what is private is so by itself
	sound := speech.Get(t, spoken).WAV(t)
	g, c := newGate(t), newComputer(t)
	a := startAgent(t, c.env, c.root)
	a.request("tools/list", map[string]any{})
	if said := a.call("pscribe_start", nil); !strings.Contains(said, "on the call should know") {
		t.Errorf("no word about consent: %s", said)
	}
	hub, ok := pipe.ReadHubInfo(c.data())
	if !ok {
		t.Fatal("no hub")
	}
	t.Cleanup(func() { syscall.Kill(hub.PID, syscall.SIGKILL) })
	c.play(sound)
	var heard string
	for deadline := time.Now().Add(40 * time.Second); len(telling.FindAllString(heard, -1)) < 3; {
		if time.Now().After(deadline) {
			t.Fatalf("not heard: %s", heard)
		}
		heard = a.call("pscribe_tail", map[string]any{"since_line": 1, "status": "confirmed", "wait_seconds": 10})
	}
	c.private("while it listens")
	for _, ip := range listening(t) {
		if !ip.IsLoopback() {
			t.Errorf("somebody listens at %s", ip)
		}
	}
	word := strings.ToLower(telling.FindString(heard))
	if found := a.call("search_transcripts", map[string]any{"query": word}); !strings.Contains(strings.ToLower(found), word) {
		t.Errorf("search for %s: %s", word, found)
	}
	a.call("pscribe_stop", nil)
	id := regexp.MustCompile(`session: "?([0-9a-f-]{36})`).FindStringSubmatch(a.call("pscribe_status", nil))
	if id == nil {
		t.Fatal("no session")
	}
	if all := a.call("export_session", map[string]any{"sessionId": id[1], "format": "txt"}); !telling.MatchString(all) {
		t.Errorf("the export: %s", all)
	}
	c.silent()
	c.command("export", id[1])
	c.command("search", word)
	c.write("export", id[1], "--output", filepath.Join(c.root, "home", "export.txt"))
	if said := a.leave(); telling.MatchString(said) {
		t.Errorf("the agent's server says on standard error what was spoken: %s", said)
	}
	c.stop(hub.PID)
	c.private("when it has ended")
	c.silent()
	log, err := os.ReadFile(filepath.Join(c.data(), "hub.log"))
	if err != nil || !strings.Contains(string(log), id[1]) {
		t.Errorf("the log does not know the session: %v\n%s", err, log)
	}
	if words := telling.FindAllString(string(log), -1); words != nil {
		t.Errorf("the log holds what was spoken: %q", words)
	}
	if n := g.attempts() - g.count; n != 0 {
		t.Errorf("somebody tried %d times to reach something beyond this computer", n)
	}
	// Whoever chooses a cloud wants it reached, and that is seen here.
	before := g.attempts()
	env := append(c.env, "TRANSCRIPTION_PROVIDER=deepgram", "DEEPGRAM_API_KEY=none", "HEARKEN_SPAWN=false")
	cloud := startAgent(t, env, c.root)
	cloud.call("pscribe_start", nil)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); g.attempts() == before; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("a cloud was chosen and nobody tries to reach it")
		}
	}
	cloud.cmd.Process.Kill()
	cloud.cmd.Wait()
}

// play plays a recording into the microphone.
func (c *computer) play(path string) {
	c.t.Helper()
	cmd := exec.Command("pacat", "--playback", "--device=mike", "--file-format=wav", path)
	cmd.Env = append(c.env, "HOME="+c.t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("pacat: %v: %s", err, out)
	}
}

// command runs a command of the owner's: what was said is on standard output
// and nowhere else.
func (c *computer) command(args ...string) {
	c.t.Helper()
	cmd := exec.Command(hubtest.Binary(c.t), args...)
	cmd.Env, cmd.Dir = c.env, c.root
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || !telling.Match(out) {
		c.t.Errorf("hearken %s: %v: %s%s", args[0], err, out, &said)
	}
	if telling.MatchString(said.String()) {
		c.t.Errorf("hearken %s says on standard error what was spoken: %s", args[0], &said)
	}
}

// write runs a command of the owner's that writes to a file, which must be as
// private as everything else.
func (c *computer) write(args ...string) {
	c.t.Helper()
	cmd := exec.Command(hubtest.Binary(c.t), args...)
	cmd.Env, cmd.Dir = c.env, c.root
	if out, err := cmd.CombinedOutput(); err != nil || telling.Match(out) {
		c.t.Errorf("hearken %s: %v: %s", args[0], err, out)
	}
	if text, err := os.ReadFile(args[len(args)-1]); err != nil || !telling.Match(text) {
		c.t.Errorf("hearken %s wrote %q: %v", args[0], text, err)
	}
}

// private has everything be its owner's alone.
func (c *computer) private(when string) {
	c.t.Helper()
	seen := 0
	err := filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
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

// silent has no sound be left on disk.
func (c *computer) silent() {
	c.t.Helper()
	for _, dir := range []string{"spool", "audio"} {
		filepath.WalkDir(filepath.Join(c.data(), dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				c.t.Errorf("sound is left at %s", strings.TrimPrefix(path, c.root))
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

// stop ends a hub as its owner would.
func (c *computer) stop(pid int) {
	c.t.Helper()
	syscall.Kill(pid, syscall.SIGTERM)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); pipe.Reachable(c.t.Context(), c.data()); <-tick.C {
		if time.Now().After(deadline) {
			c.t.Fatal("the hub does not end")
		}
	}
	for deadline := time.Now().Add(20 * time.Second); held(c.data()); <-tick.C {
		if time.Now().After(deadline) {
			c.t.Fatal("the hub does not let go of its directory")
		}
	}
}

// held tells whether a hub still has the directory.
func held(dir string) bool {
	lock, err := pipe.Acquire(dir)
	if err != nil {
		return true
	}
	lock.Release()
	return false
}

// startSound starts a sound server without devices, in a directory of its own.
func startSound(t *testing.T) (server string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hs")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "native")
	cmd := exec.Command("pulseaudio", "-n", "--daemonize=no", "--system=false", "--use-pid-file=no",
		"--exit-idle-time=-1", "--log-target=stderr", "--log-level=error",
		"-L", "module-native-protocol-unix socket="+socket,
		"-L", "module-null-sink sink_name=speakers norewinds=1",
		"-L", "module-null-sink sink_name=mike norewinds=1")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "PULSE_RUNTIME_PATH="+dir, "XDG_CONFIG_HOME="+dir,
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(dir, "no-bus"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	})
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-tick.C {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return "unix:" + socket
		}
		if time.Now().After(deadline) {
			t.Fatal("the sound server does not start")
		}
	}
}
