package mic

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jfreymuth/pulse/proto"
	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(30 * time.Second)
	for !is() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("not in 30 s: %s", what)
		}
	}
}

// A soundServer is a real PulseAudio without devices, for one test.
type soundServer struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	said bytes.Buffer
	conn *connection
}

// startServer starts a server with an output, speakers, and a microphone that
// is the monitor of another output, mike.
func startServer(t *testing.T) *soundServer {
	t.Helper()
	if _, err := exec.LookPath("pulseaudio"); err != nil {
		t.Skip("pulseaudio is not installed: nothing to capture from")
	}
	dir, err := os.MkdirTemp("", "mic") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &soundServer{t: t, dir: dir}
	t.Setenv("PULSE_SERVER", "unix:"+filepath.Join(dir, "native"))
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("pulseaudio said: %s", &s.said)
		}
	})
	s.start()
	return s
}

func (s *soundServer) start() {
	s.t.Helper()
	s.cmd = exec.Command("pulseaudio", "-n", "--daemonize=no", "--system=false", "--use-pid-file=no",
		"--exit-idle-time=-1", "--log-target=stderr", "--log-level=warn",
		"-L", "module-native-protocol-unix socket="+filepath.Join(s.dir, "native"),
		"-L", "module-null-sink sink_name=speakers norewinds=1 rate=48000 sink_properties=device.description=Speakers",
		"-L", "module-null-sink sink_name=mike norewinds=1 rate=44100 sink_properties=device.description=Mike")
	s.cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_RUNTIME_DIR="+s.dir, "PULSE_RUNTIME_PATH="+s.dir,
		"XDG_CONFIG_HOME="+s.dir, "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(s.dir, "no-bus"))
	s.cmd.Stderr = &s.said
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "the sound server answers", func() bool {
		conn, err := dial(s.t.Context(), func(any) {})
		if err != nil {
			return false
		}
		if s.conn = conn; len(s.world().sinks) == 2 {
			return true
		}
		conn.close()
		return false
	})
	s.do(&proto.SetDefaultSink{SinkName: "speakers"})
	s.do(&proto.SetDefaultSource{SourceName: "mike.monitor"})
}

func (s *soundServer) stop() {
	if s.cmd == nil {
		return
	}
	if s.conn != nil {
		s.conn.close()
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.cmd = nil
}

func (s *soundServer) do(req proto.RequestArgs) {
	s.t.Helper()
	if err := s.conn.client.Request(req, nil); err != nil {
		s.t.Fatalf("%T: %v", req, err)
	}
}

func (s *soundServer) world() *serverState {
	s.t.Helper()
	w, err := readState(&s.conn.client)
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// load loads a module and returns what unloads it.
func (s *soundServer) load(name, args string) (unload func()) {
	s.t.Helper()
	var reply proto.LoadModuleReply
	if err := s.conn.client.Request(&proto.LoadModule{Name: name, Args: args}, &reply); err != nil {
		s.t.Fatalf("load %s: %v", name, err)
	}
	return func() { s.do(&proto.UnloadModule{ModuleIndex: reply.ModuleIndex}) }
}

// tone plays a tone into a sink until it is ended.
func (s *soundServer) tone(sink string, hz int) (end func()) {
	s.t.Helper()
	return s.load("module-sine", fmt.Sprintf("sink=%s frequency=%d", sink, hz))
}

// moduleOf is the module that made a sink.
func (s *soundServer) moduleOf(sink string) uint32 {
	s.t.Helper()
	for _, i := range s.world().sinks {
		if i.SinkName == sink {
			return i.ModuleIndex
		}
	}
	s.t.Fatalf("no sink %s", sink)
	return 0
}

// heard is what a capture delivered.
type heard struct {
	*Capture
	mu       sync.Mutex
	channels [][]int16
	uneven   bool
	stop     func() error
}

// listen opens a capture and runs it until the test ends.
func listen(t *testing.T, cfg Config, change ...func(*pulse)) *heard {
	t.Helper()
	capture, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(capture.backend.(*pulse))
	}
	return run(t, capture)
}

// run runs a capture until the test ends.
func run(t *testing.T, capture *Capture) *heard {
	t.Helper()
	h := &heard{Capture: capture}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- capture.Run(ctx, h.take) }()
	h.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		if h.uneven {
			t.Error("channels of different lengths were delivered")
		}
		if t.Failed() {
			t.Logf("notes: %s", strings.Join(h.Notes(), "\n"))
		}
	})
	return h
}

func (h *heard) take(channels ...[]int16) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.channels == nil {
		h.channels = make([][]int16, len(channels))
	}
	for i, c := range channels {
		h.uneven = h.uneven || len(c) != len(channels[0])
		h.channels[i] = append(h.channels[i], c...)
	}
	return nil
}

// last is the last sound of a track, nil if there is not as much yet.
func (h *heard) last(track int, d time.Duration) []int16 {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := int(d.Milliseconds() * millisecond)
	if track >= len(h.channels) || len(h.channels[track]) < n {
		return nil
	}
	return append([]int16(nil), h.channels[track][len(h.channels[track])-n:]...)
}

const pitchWindow = 300 * time.Millisecond

// pitch is which of the tones that the tests play a track holds just now, with
// nothing of the others: 0 for silence, -1 for something else.
func (h *heard) pitch(track int) int {
	samples := h.last(track, pitchWindow)
	if samples == nil {
		return -1
	}
	return pitch(samples)
}

var tones = []int{400, 700, 1000, 1500}

func pitch(samples []int16) int {
	var all, found float64
	for _, s := range samples {
		all += float64(s) * float64(s)
	}
	all /= float64(len(samples))
	if all == 0 {
		return 0
	}
	which := -1
	for _, hz := range tones {
		var re, im float64
		for i, s := range samples {
			sin, cos := math.Sincos(2 * math.Pi * float64(hz) * float64(i) / hearken.SampleRate)
			re += float64(s) * cos
			im += float64(s) * sin
		}
		n := float64(len(samples))
		if power := 2 * (re*re + im*im) / (n * n); power > 0.9*all {
			found, which = power, hz
		}
	}
	if found == 0 {
		return -1
	}
	return which
}

// hears waits until the tracks hold the tones, microphone first.
func (h *heard) hears(t *testing.T, want ...int) {
	t.Helper()
	var got []int
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(30 * time.Second)
	for {
		got = got[:0]
		for track := range want {
			got = append(got, h.pitch(track))
		}
		if cmp.Equal(got, want) {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("heard %v Hz and not %v", got, want)
		}
	}
}

// says waits for a note that holds the text.
func (h *heard) says(t *testing.T, text string) {
	t.Helper()
	eventually(t, "a note says "+text, func() bool {
		return strings.Contains(strings.Join(h.Notes(), "\n"), text)
	})
}
