package ffmpeg_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken/source/ffmpeg"
)

// A program in ffmpeg's place repeats its input and its arguments, and says much.
const program = `#!/bin/sh
cat
echo "$@"
i=0
while [ $i -lt 2000 ]; do echo "message $i, which is long enough to fill the buffer" >&2; i=$((i+1)); done
exit 3
`

func TestProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(path, []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if found, err := ffmpeg.Find(path); err != nil || found != path {
		t.Errorf("found %q, %v", found, err)
	}
	p, err := ffmpeg.Start(t.Context(), path, strings.NewReader("in\n"), "-i", "x")
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p)
	if want := "in\n-nostdin -hide_banner -i x\n"; err != nil || string(out) != want {
		t.Errorf("read %q, %v", out, err)
	}
	if err := p.Wait(); err == nil {
		t.Error("a failure was not reported")
	}
	if n := len(p.Messages()); n != 64<<10 {
		t.Errorf("%d bytes of messages", n)
	}
	if last := p.LastMessage(); !strings.HasPrefix(last, "message 1999,") {
		t.Errorf("last message %q", last)
	}
	if _, err := ffmpeg.Start(t.Context(), path+"-none", nil); err == nil {
		t.Error("a missing program was started")
	}
}
