package conformance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/test/speech"
)

// buildDir holds the program if a test built it.
var buildDir string

// binary is the program under test: the one that HEARKEN_BIN names, or a fresh
// build.
var binary = sync.OnceValues(func() (path string, err error) {
	if path := os.Getenv("HEARKEN_BIN"); path != "" {
		return filepath.Abs(path)
	}
	if buildDir, err = os.MkdirTemp("", "hearken-conformance"); err != nil {
		return "", err
	}
	path = filepath.Join(buildDir, "hearken")
	cmd := exec.Command("go", "build", "-o", path, "github.com/hearken-dev/hearken/cmd/hearken")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if buildDir != "" {
		os.RemoveAll(buildDir)
	}
	os.Exit(code)
}

// A hub is the real program, serving.
type hub struct {
	bin string
	env []string // of the hub and of those that join it
	url string   // of its MCP door
}

// startHub runs the program in a data directory of its own until the test
// ends, with the models of whoever runs the test.
func startHub(t *testing.T) *hub {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	root := speech.Models(t)
	home := t.TempDir()
	data := filepath.Join(home, "data")
	h := &hub{bin: bin, env: []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"XDG_RUNTIME_DIR=" + home,
		"HEARKEN_DATA_DIR=" + data,
		"PORT=0",
		"WS_LISTEN=off",
		"HEARKEN_MODELS=" + root,
		"HEARKEN_SPAWN=false", // no hub but this one, and none left behind
		"LOG_LEVEL=warn",
	}}
	var log bytes.Buffer
	cmd := exec.Command(bin, "serve")
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = h.env, home, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		if runtime.GOOS == "windows" {
			cmd.Process.Kill()
		} else {
			cmd.Process.Signal(syscall.SIGTERM)
		}
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			cmd.Process.Kill()
			t.Error("the hub did not end within 20 s")
			<-ended
		}
		if t.Failed() {
			t.Logf("the hub's log:\n%s", log.Bytes())
		}
	})

	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		if holder, ok := pipe.ReadHubInfo(data); ok && holder.HTTP != "" {
			h.url = holder.HTTP + "/mcp"
			return h
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the hub ended: %v\n%s", err, log.Bytes())
		case <-deadline:
			t.Fatal("the hub did not say within 30 s where it serves")
		case <-tick.C:
		}
	}
}
