package pscribe

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	good := newCLI(t, nil).path
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "pscribe")
	if err := os.Symlink(self, linked); err != nil {
		t.Skip("no symbolic links here")
	}
	hard := filepath.Join(dir, "hard")
	hardLinked := os.Link(self, hard) == nil

	another := filepath.Join(dir, "another")
	if out, err := exec.Command("go", "build", "-o", another, "../../cmd/hearken").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	t.Setenv("PATH", filepath.Dir(good))
	if found, err := Find(""); err != nil || found != good {
		t.Errorf("in PATH: %q, %v", found, err)
	}
	if found, err := Find(good); err != nil || found != good {
		t.Errorf("by path: %q, %v", found, err)
	}
	t.Setenv("PATH", dir)
	tests := map[string]struct {
		path string
		code hearken.Code
		text string
	}{
		"missing":        {filepath.Join(dir, "none"), hearken.NotFound, filepath.Join(dir, "none")},
		"not in PATH":    {"none", hearken.NotFound, "SCRIBE_BACKEND=native"},
		"ourselves":      {self, hearken.Invalid, "Hearken itself"},
		"another build":  {another, hearken.Invalid, "Hearken itself"},
		"link to us":     {"", hearken.Invalid, "Hearken itself"},
		"not executable": {plain, hearken.Forbidden, "chmod +x"},
		"directory":      {dir, hearken.Forbidden, "PSCRIBE_PATH"},
	}
	if hardLinked {
		tests["hard link to us"] = struct {
			path string
			code hearken.Code
			text string
		}{hard, hearken.Invalid, "Hearken itself"}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.code == hearken.Forbidden {
				t.Skip("no permission to execute on Windows")
			}
			found, err := Find(tt.path)
			if hearken.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%q, %s: %v", found, hearken.CodeOf(err), err)
			}
			_, callErr := New(Config{Path: tt.path}).Status(t.Context())
			if callErr == nil || callErr.Error() != err.Error() {
				t.Errorf("the call says %v, Find %v", callErr, err)
			}
		})
	}
}
