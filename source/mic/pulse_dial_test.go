package mic

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/jfreymuth/pulse/proto"

	"github.com/hearken-dev/hearken"
)

func TestAddresses(t *testing.T) {
	unix := func(paths ...string) (all []address) {
		for _, p := range paths {
			all = append(all, address{"unix", p})
		}
		return all
	}
	for name, tt := range map[string]struct {
		env  map[string]string
		want []address
	}{
		"Desktop": {map[string]string{"XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/u"},
			unix("/run/user/7/pulse/native", "/home/u/.config/pulse/id-runtime/native", "/run/pulse/native")},
		"NoRuntimeDir": {nil, unix("/run/user/7/pulse/native", "/run/pulse/native")},
		"RuntimePath": {map[string]string{"PULSE_RUNTIME_PATH": "/p", "XDG_RUNTIME_DIR": "/x"},
			unix("/p/native", "/x/pulse/native", "/run/user/7/pulse/native", "/run/pulse/native")},
		"Server":   {map[string]string{"PULSE_SERVER": "unix:/mnt/wslg/PulseServer", "XDG_RUNTIME_DIR": "/x"}, unix("/mnt/wslg/PulseServer")},
		"Path":     {map[string]string{"PULSE_SERVER": "/a"}, unix("/a")},
		"Machines": {map[string]string{"PULSE_SERVER": "{id}unix:/a {other}unix:/b {host}/c {broken"}, unix("/a", "/c")},
		"Network": {map[string]string{"PULSE_SERVER": "tcp:there tcp4:1.2.3.4:99 tcp6:[::1] plain"},
			[]address{{"tcp", "there:4713"}, {"tcp4", "1.2.3.4:99"}, {"tcp6", "[::1]:4713"}, {"tcp", "plain:4713"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := addresses(func(k string) string { return tt.env[k] }, 7, "id", "host")
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(address{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCookie(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{"HOME": home}
	get := func() byte { return cookie(func(k string) string { return env[k] })[0] }
	put := func(v byte, path string) {
		t.Helper()
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte{v}, 256), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := []byte{get()}
	put(1, ".pulse-cookie")
	got = append(got, get())
	put(2, ".config/pulse/cookie")
	got = append(got, get())
	put(3, "elsewhere")
	env["PULSE_COOKIE"] = filepath.Join(home, "elsewhere")
	if got = append(got, get()); !bytes.Equal(got, []byte{0, 1, 2, 3}) {
		t.Errorf("cookies %v", got)
	}
}

// frame is what a server sends for a command.
func frame(channel uint32, payload ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	b = binary.BigEndian.AppendUint32(b, channel)
	b = append(b, make([]byte, 12)...)
	return append(b, payload...)
}

func command(op, tag uint32, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{'L'}, op)
	b = binary.BigEndian.AppendUint32(append(b, 'L'), tag)
	return frame(proto.Undefined, append(b, rest...)...)
}

func TestFrames(t *testing.T) {
	sound := frame(3, 1, 2, 3, 4)
	event := command(proto.OpSubscribeEvent, proto.Undefined, 'L', 0, 0, 0, 0, 'L', 0, 0, 0, 0)
	var sent []byte
	for _, f := range [][]byte{command(proto.OpRecordBufferAttrChanged, 0, 1, 2), sound, command(9999, 0), frame(proto.Undefined), event} {
		sent = append(sent, f...)
	}
	gone := make(chan struct{})
	got, err := io.ReadAll(&frames{r: bufio.NewReader(bytes.NewReader(sent)), gone: gone})
	if err != nil {
		t.Fatal(err)
	}
	if want := append(bytes.Clone(sound), event...); !bytes.Equal(got, want) {
		t.Errorf("passed on\n%x and not\n%x", got, want)
	}
	<-gone
	huge := binary.BigEndian.AppendUint32(nil, 1<<31)
	if _, err := io.ReadAll(&frames{r: bufio.NewReader(bytes.NewReader(append(huge, make([]byte, 16)...))), gone: make(chan struct{})}); err == nil {
		t.Error("a frame of 2 GB was taken")
	}
}

// serve is a sound server that answers the first message as it is told.
func serve(t *testing.T, answer []byte) {
	t.Helper()
	dir, err := os.MkdirTemp("", "mic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "native"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if answer != nil {
				conn.Read(make([]byte, 4096))
				conn.Write(answer)
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	t.Setenv("PULSE_SERVER", "unix:"+filepath.Join(dir, "native"))
}

func TestOpen_NoServer(t *testing.T) {
	for name, tt := range map[string]struct {
		answer []byte // of a server; nil if it hangs up
		none   bool
		code   hearken.Code
		try    string
	}{
		"None":     {none: true, code: hearken.NotFound, try: "pipewire-pulse"},
		"HangsUp":  {code: hearken.NotFound, try: "restart"},
		"Denied":   {answer: command(proto.OpError, 0, 'L', 0, 0, 0, byte(proto.ErrAccessDenied)), code: hearken.Forbidden, try: "PULSE_COOKIE"},
		"Nonsense": {answer: []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), code: hearken.NotFound, try: "restart"},
	} {
		t.Run(name, func(t *testing.T) {
			if serve(t, tt.answer); tt.none {
				t.Setenv("PULSE_SERVER", "unix:"+filepath.Join(t.TempDir(), "none"))
			}
			_, err := Open(t.Context(), Config{})
			e, ok := errors.AsType[*hearken.Error](err)
			if !ok || e.Code != tt.code || !strings.Contains(e.Try, tt.try) {
				t.Errorf("%#v", err)
			}
		})
	}
}

// A sound server that is gone for good ends the capture, after a while.
func TestPulse_GivesUp(t *testing.T) {
	t.Setenv("PULSE_SERVER", "unix:"+filepath.Join(t.TempDir(), "none"))
	synctest.Test(t, func(t *testing.T) {
		n := &notes{log: slog.New(slog.DiscardHandler)}
		c := &Capture{notes: n, backend: &pulse{notes: n}}
		h := &heard{}
		if err := c.Run(t.Context(), h.take); hearken.CodeOf(err) != hearken.NotFound {
			t.Errorf("Run: %v", err)
		}
		if seconds := len(h.channels[0]) / hearken.SampleRate; seconds < 59 || seconds > 61 {
			t.Errorf("it went on for %d s", seconds)
		}
	})
}

func TestOpen_Refuses(t *testing.T) {
	if _, err := Open(t.Context(), Config{Microphone: Off, System: Off}); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("both off: %v", err)
	}
	s := startServer(t)
	check := func(name string, cfg Config, code hearken.Code, holds string) {
		t.Helper()
		_, err := Open(t.Context(), cfg)
		if hearken.CodeOf(err) != code || !strings.Contains(err.Error(), holds) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("no such microphone", Config{Microphone: "studio"}, hearken.NotFound, `no input device "studio". Try: one of: mike.monitor`)
	check("no such output", Config{System: "studio"}, hearken.NotFound, `no output device "studio". Try: one of: speakers, mike`)
	s.do(&proto.SetDefaultSource{SourceName: "speakers.monitor"})
	check("no microphone", Config{System: Off}, hearken.NotFound, "Nothing can be captured: there is no microphone.")
	capture, err := Open(t.Context(), Config{})
	if err != nil {
		t.Fatalf("the other side is enough: %v", err)
	}
	want := []string{"Microphone is not captured: there is no microphone. This channel stays silent until one is available.", "System audio: monitor of Speakers.", consent}
	if diff := cmp.Diff(want, capture.Notes()); diff != "" {
		t.Error(diff)
	}
}

func TestStreamError(t *testing.T) {
	for err, code := range map[error]hearken.Code{
		proto.ErrAccessDenied:         hearken.Forbidden,
		proto.ErrDeviceOrEesourceBusy: hearken.Busy,
		proto.ErrNoSuchEntity:         hearken.NotFound,
	} {
		if got := streamError(microphoneTrack, target{title: "Mike"}, err); hearken.CodeOf(got) != code || !errors.Is(got, err) {
			t.Errorf("%v gives %v", err, got)
		}
	}
}
