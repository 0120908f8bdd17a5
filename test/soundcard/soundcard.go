// Package soundcard is a PulseAudio server without devices, for tests and
// benchmarks that capture audio. What is played into the sink "mike" is what
// the microphone records; what is played into "speakers" is what the computer
// plays. A second output, "headset", is not captured.
package soundcard

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// Sinks are the names of the two sinks that are captured, the microphone's first.
var Sinks = [2]string{"mike", "speakers"}

// Headset is the name of the sink that is not.
const Headset = "headset"

// A Card is a running sound server.
type Card struct {
	dir    string
	server string // for PULSE_SERVER
}

// Missing is the error for a program that a card needs and this computer lacks.
func Missing() error {
	for _, tool := range []string{"pulseaudio", "pacat", "pactl"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	return nil
}

// Start runs a sound server until the test ends.
func Start(t testing.TB) *Card {
	t.Helper()
	dir, err := os.MkdirTemp("", "hs") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "native")
	cmd := exec.Command("pulseaudio", "-n", "--daemonize=no", "--system=false", "--use-pid-file=no",
		"--exit-idle-time=-1", "--log-target=stderr", "--log-level=error",
		"-L", "module-native-protocol-unix socket="+socket,
		"-L", "module-null-sink sink_name=speakers norewinds=1 rate=48000",
		"-L", "module-null-sink sink_name=mike norewinds=1 rate=48000",
		"-L", "module-null-sink sink_name="+Headset+" norewinds=1 rate=48000")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "PULSE_RUNTIME_PATH="+dir, "XDG_CONFIG_HOME="+dir,
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(dir, "no-bus"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	hubtest.WaitUntil(t, 10*time.Second, "the sound server listens", func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return &Card{dir, "unix:" + socket}
}

// Env is the settings with which the program captures both sides of this card.
func (c *Card) Env() []string {
	return []string{"PULSE_SERVER=" + c.server, "MICROPHONE=mike.monitor", "SYSTEM_AUDIO=speakers", "SCRIBE_BACKEND=native"}
}

// SetVolume sets the volume of a sink, such as "5%".
func (c *Card) SetVolume(t testing.TB, sink, volume string) {
	t.Helper()
	cmd := exec.Command("pactl", "set-sink-volume", sink, volume)
	cmd.Env = c.clientEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pactl: %v: %s", err, out)
	}
}

// clientEnv is the environment of the server's own programs.
func (c *Card) clientEnv() []string {
	return append(os.Environ(), "PULSE_SERVER="+c.server, "HOME="+c.dir)
}

// A Player plays into a sink.
type Player struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// Open connects a player of one channel to a sink until the test ends.
func (c *Card) Open(t testing.TB, sink string) *Player {
	t.Helper()
	return c.OpenChannels(t, sink, 1)
}

// OpenChannels is Open for a player of several channels.
func (c *Card) OpenChannels(t testing.TB, sink string, channels int) *Player {
	t.Helper()
	p := &Player{cmd: exec.Command("pacat", "--playback", "--raw", "--device="+sink, "--format=s16le",
		fmt.Sprintf("--rate=%d", hearken.SampleRate), fmt.Sprintf("--channels=%d", channels), "--latency-msec=100")}
	p.cmd.Env = c.clientEnv()
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.in.Close()
		_ = p.cmd.Wait() // it plays what it has
	})
	return p
}

// Play plays audio that began at a given time, as many channels of the same
// length as the player has: it writes 20 ms at a time, each when its last sample
// has been spoken.
func (p *Player) Play(ctx context.Context, began time.Time, channels ...[]int16) error {
	const frame = hearken.SampleRate / 50
	var samples []int16
	for pos := 0; pos < len(channels[0]); pos += frame {
		end := min(pos+frame, len(channels[0]))
		if !hubtest.Sleep(ctx, time.Until(began.Add(time.Duration(end)*time.Second/hearken.SampleRate))) {
			return ctx.Err()
		}
		samples = samples[:0]
		for i := pos; i < end; i++ {
			for _, pcm := range channels {
				samples = append(samples, pcm[i])
			}
		}
		if _, err := p.in.Write(audio.AppendBytes(nil, samples)); err != nil {
			return fmt.Errorf("pacat: %w", err)
		}
	}
	return nil
}
