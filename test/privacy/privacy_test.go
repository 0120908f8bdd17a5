//go:build linux

// Package privacy tests what docs/privacy.md promises. The real program goes
// through a whole session of captured audio, on a computer without a network
// where every attempt to use one is counted.
package privacy

import (
	"os"
	"os/exec"
	"os/user"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/soundcard"
	"github.com/hearken-dev/hearken/test/speech"
)

// inside is set in the process that runs without a network.
const inside = "HEARKEN_TEST_WITHOUT_NETWORK"

func TestMain(m *testing.M) { hubtest.Main(m) }

// TestLeaks runs the session in a network namespace of its own.
func TestLeaks(t *testing.T) {
	if os.Getenv(inside) != "" {
		testLeaks(t)
		return
	}
	if err := soundcard.Missing(); err != nil {
		t.Skipf("no audio to capture: %v", err)
	}
	root := speech.Models(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestLeaks$", "-test.v", "-test.timeout=3m")
	cmd.Env = append(os.Environ(), inside+"=yes", "HEARKEN_BIN="+hubtest.Binary(t), "HEARKEN_MODELS="+root)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	if me, err := user.Current(); err != nil || me.Uid != "0" {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	began := time.Now()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skipf("no network namespace for this user: %v", err)
	}
	err = cmd.Wait()
	t.Logf("%s\n%s", time.Since(began).Round(time.Millisecond), &out)
	switch {
	case err != nil:
		t.Error(err)
	case strings.Contains(out.String(), "--- SKIP"):
		t.Skip("skipped inside")
	}
}
