package reminder

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

const nasty = `"; do shell script "rm -rf ~" $(touch x) ` + "`id`" + ` $env:PATH -e 'x'`

// TestDesktop_Program checks that no script contains the text.
func TestDesktop_Program(t *testing.T) {
	for _, system := range []string{"darwin", "windows"} {
		var got command
		d := &Desktop{system: system, run: func(_ context.Context, c command) error {
			got = c
			return nil
		}}
		if out := d.Show(t.Context(), "Reminder", nasty); out.Result != hearken.ResultOK {
			t.Error(system, out)
		}
		scripts := got.stdin
		shown := 0
		for _, arg := range got.args {
			if arg == nasty {
				shown++
				continue
			}
			scripts += arg
		}
		for _, pair := range got.env {
			if pair == "HEARKEN_TEXT="+nasty {
				shown++
			}
		}
		if shown != 1 || strings.Contains(scripts, "rm -rf") {
			t.Errorf("%s: %+v", system, got)
		}
	}
}

func TestDesktop_ProgramFails(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx  context.Context
		err  error
		want hearken.Result
	}{
		{t.Context(), &exec.Error{Name: "osascript", Err: exec.ErrNotFound}, hearken.ResultPermanent},
		{t.Context(), errors.New("exit status 1"), hearken.ResultPermanent},
		{over, errors.New("signal: killed"), hearken.ResultUnknown},
	} {
		d := &Desktop{system: "darwin", run: func(context.Context, command) error { return tt.err }}
		if out := d.Show(tt.ctx, "Reminder", "tea"); out.Result != tt.want || !strings.Contains(out.Message, "osascript") {
			t.Error(tt.err, out)
		}
	}
}

// TestDesktop_Run runs a real program that records its arguments and input.
func TestDesktop_Run(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nprintf '%s|' \"$@\" >args\ncat >input\n"
	if err := os.WriteFile(filepath.Join(dir, "osascript"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	d := NewDesktop(os.Getenv)
	d.system = "darwin"
	if out := d.Show(t.Context(), "-e", nasty); out.Result != hearken.ResultOK {
		t.Fatal(out)
	}
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil || string(args) != "-|-e|"+nasty+"|" {
		t.Errorf("%s, %v", args, err)
	}
	input, err := os.ReadFile(filepath.Join(dir, "input"))
	if err != nil || !strings.HasPrefix(string(input), "on run argv\n") {
		t.Errorf("%s, %v", input, err)
	}
}
