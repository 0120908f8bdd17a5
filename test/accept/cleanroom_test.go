//go:build accept

package accept

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCleanRoom follows the README to the letter with an empty home: the
// blocks are copied out of it and run. Only the address to clone from leads to
// this repository, and talk.wav is a recording. What was downloaded before is
// used again, unless HEARKEN_ACCEPT_COLD is set.
func TestCleanRoom(t *testing.T) {
	talk, err := os.ReadFile(recording(t, spoken))
	if err != nil {
		t.Fatal(err)
	}
	room := newCleanRoom(t)
	own := filepath.Join(room.repository, "README.md")
	clone := filepath.Join(room.dir, "hearken")
	began := time.Now()

	hub := room.start(readme(t, own, "\n## Start\n"))
	address := hub.wait(t, regexp.MustCompile(`MCP over HTTP +http://(\S+)/mcp`))
	t.Logf("from git clone to a hub that listens: %.1f s", time.Since(began).Seconds())
	if address != "127.0.0.1:8080" {
		t.Logf("port 8080 is taken, so the hub is at %s, and so is the README's", address)
	}
	if err := os.WriteFile(filepath.Join(clone, "talk.wav"), talk, 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(clone, "README.md") // as a newcomer has it

	began = time.Now()
	out := must(t, clone, room.env, "sh", "-euc", readme(t, text, "Transcribe a recording"))
	if !strings.Contains(plain(out), theWords) {
		t.Errorf("transcribe: %s", out)
	}
	t.Logf("a recording of 11 s transcribed in %.1f s", time.Since(began).Seconds())

	began = time.Now()
	live := strings.ReplaceAll(readme(t, text, "Or live:"), "127.0.0.1:8080", address)
	// Its last line looks for a word that this talk does not have.
	out, err = run(t, clone, room.env, "sh", "-euc", live)
	if err != nil && !strings.HasSuffix(out, "No matches.\n") {
		t.Errorf("live: %v", err)
	}
	if !strings.Contains(plain(out), theWords) || !strings.Contains(out, "First try") {
		t.Errorf("live: %s", out)
	}
	t.Logf("the same, live, in %.1f s:\n%s", time.Since(began).Seconds(), out)

	status, err := exec.Command("git", "-C", clone, "status", "--porcelain").CombinedOutput()
	if got := strings.TrimSpace(string(status)); err != nil || (got != "" && got != "?? talk.wav") {
		t.Errorf("the clone is not clean after the build: %s, %v", status, err)
	}
	began = time.Now()
	hub.stop(t)
	t.Logf("stopped in %.1f s", time.Since(began).Seconds())
	for _, p := range running("HOME=" + room.home) {
		t.Errorf("left running: %s", p)
	}
}

// A cleanRoom is an empty directory and an empty home.
type cleanRoom struct {
	t                     *testing.T
	dir, home, repository string
	env                   []string
}

func newCleanRoom(t *testing.T) *cleanRoom {
	t.Helper()
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	r := &cleanRoom{t: t, dir: t.TempDir(), home: t.TempDir(), repository: repository}
	r.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.home,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + repository + ".insteadOf",
		"GIT_CONFIG_VALUE_0=https://github.com/hearken-dev/hearken",
	}
	if os.Getenv("HEARKEN_ACCEPT_COLD") != "" {
		r.env = append(r.env, "GOFLAGS=-modcacherw") // so that it can be removed
		return r
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(cache))
	r.env = append(r.env, "HEARKEN_MODELS="+engine(t), "GOMODCACHE="+dirs[0], "GOCACHE="+dirs[1])
	return r
}

// A process is a block of the README that keeps running.
type process struct {
	cmd   *exec.Cmd
	lines chan string
	ended chan error
	seen  strings.Builder
}

func (r *cleanRoom) start(block string) *process {
	r.t.Helper()
	p := &process{cmd: exec.Command("sh", "-euc", block), lines: make(chan string, 1000), ended: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Env = r.dir, r.env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.cmd.Stderr = p.cmd.Stdout
		err = p.cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	go func() {
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			p.lines <- scanner.Text()
		}
		p.ended <- p.cmd.Wait()
		close(p.lines)
	}()
	r.t.Cleanup(func() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }) // if it still runs
	return p
}

// wait returns what a line of the output says.
func (p *process) wait(t *testing.T, what *regexp.Regexp) string {
	t.Helper()
	deadline := time.After(10 * time.Minute)
	for {
		select {
		case line, more := <-p.lines:
			p.seen.WriteString(line + "\n")
			if m := what.FindStringSubmatch(line); m != nil {
				return m[1]
			}
			if !more {
				t.Fatalf("it ended: %v\n%s", <-p.ended, p.seen.String())
			}
		case <-deadline:
			t.Fatalf("nothing said %s:\n%s", what, p.seen.String())
		}
	}
}

// stop ends it as closing the terminal's job does: everything that belongs to
// it is asked to end.
func (p *process) stop(t *testing.T) {
	t.Helper()
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	deadline := time.After(20 * time.Second)
	for {
		select {
		case line, more := <-p.lines:
			p.seen.WriteString(line + "\n")
			if !more {
				t.Logf("make run printed:\n%s", p.seen.String())
				return
			}
		case <-deadline:
			t.Fatalf("it did not end within 20 s:\n%s", p.seen.String())
		}
	}
}
