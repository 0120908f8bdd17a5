//go:build accept

package accept

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// An agent is a client's program in a home of its own, with bin/hearken in its
// working directory as the README has it.
type agent struct {
	t      *testing.T
	argv   []string
	dir    string
	data   string
	joins  bool // a hub that runs
	readme string
	env    []string
}

// newAgent has no hub running: one starts as soon as the agent needs it, and
// must have ended without help when the test is over.
func newAgent(t *testing.T, argv ...string) *agent {
	t.Helper()
	a := &agent{t: t, argv: argv, dir: t.TempDir()}
	a.data = filepath.Join(a.dir, "data")
	a.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.dir, "XDG_RUNTIME_DIR=" + a.dir, "HEARKEN_DATA_DIR=" + a.data,
		"PORT=0", "WS_LISTEN=off", "IDLE_MINUTES=0.1",
	}
	a.setUp(hubtest.Binary(t))
	return a
}

// joinHub comes to a hub that runs.
func joinHub(t *testing.T, h *hubtest.Hub, argv ...string) *agent {
	t.Helper()
	a := &agent{t: t, argv: argv, dir: t.TempDir(), data: h.Dir, joins: true}
	for _, v := range h.Env {
		if !strings.HasPrefix(v, "HOME=") { // its own
			a.env = append(a.env, v)
		}
	}
	a.env = append(a.env, "HOME="+a.dir)
	a.setUp(hubtest.Binary(t))
	return a
}

// setUp lays out the working directory.
func (a *agent) setUp(bin string) {
	a.t.Helper()
	here, err := filepath.Abs(filepath.Join("..", "..", "README.md"))
	if err != nil {
		a.t.Fatal(err)
	}
	a.readme = here
	programs := filepath.Join(a.dir, "programs")
	for dir, links := range map[string]map[string]string{
		filepath.Join(a.dir, "bin"): {"hearken": bin},
		programs:                    {filepath.Base(a.argv[0]): a.argv[0]},
	} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			a.t.Fatal(err)
		}
		for name, target := range links {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				a.t.Fatal(err)
			}
		}
	}
	for i, v := range a.env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			a.env[i] = "PATH=" + programs + string(os.PathListSeparator) + rest
		}
	}
	a.env = append(a.env, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "NO_COLOR=1")
	a.t.Cleanup(a.checkEnded)
}

// checkEnded checks that everything that the agent started ends: its servers
// with it, and a hub after a while.
func (a *agent) checkEnded() {
	hub := "HEARKEN_DATA_DIR=" + a.data
	left := func() (pids []string) {
		for _, p := range running(hub) {
			if !a.joins || !strings.HasSuffix(p, "hearken serve ") {
				pids = append(pids, p)
			}
		}
		return pids
	}
	// What is left in the end is reported.
	_ = hubtest.Poll(context.Background(), 20*time.Second, 50*time.Millisecond, func() (bool, error) { return len(left()) == 0, nil })
	for _, p := range left() {
		a.t.Errorf("left running: %s", p)
		if pid, err := strconv.Atoi(strings.Fields(p)[0]); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// checkHubRuns checks, after the agent ended, that the hub that it started
// still runs: others may use it.
func (a *agent) checkHubRuns() {
	a.t.Helper()
	if _, ok := pipe.ReadHubInfo(a.data); !ok {
		a.t.Error("the hub ended with the agent that happened to start it")
	}
}

func (a *agent) must(args ...string) string {
	a.t.Helper()
	return must(a.t, a.dir, a.env, a.argv[0], append(a.argv[1:], args...)...)
}

// sh runs a block of the README.
func (a *agent) sh(block string) string {
	a.t.Helper()
	return must(a.t, a.dir, a.env, "sh", "-euc", block)
}
