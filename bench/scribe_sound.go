package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// A soundCard is a PulseAudio of the benchmark's own, without any device: what
// is played into mike is what the microphone hears, what is played into
// speakers is what the computer plays.
type soundCard struct {
	dir    string
	cmd    *exec.Cmd
	said   bytes.Buffer
	server string // for PULSE_SERVER
}

func startSoundCard(ctx context.Context) (*soundCard, error) {
	for _, tool := range []string{"pulseaudio", "pacat"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "hb-") // a socket's path is short
	if err != nil {
		return nil, err
	}
	s := &soundCard{dir: dir, server: "unix:" + filepath.Join(dir, "native")}
	s.cmd = exec.CommandContext(ctx, "pulseaudio", "-n", "--daemonize=no", "--system=false", "--use-pid-file=no",
		"--exit-idle-time=-1", "--log-target=stderr", "--log-level=error",
		"-L", "module-native-protocol-unix socket="+filepath.Join(dir, "native"),
		"-L", "module-null-sink sink_name=speakers norewinds=1 rate=48000",
		"-L", "module-null-sink sink_name=mike norewinds=1 rate=48000")
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "PULSE_RUNTIME_PATH="+dir, "XDG_CONFIG_HOME="+dir,
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(dir, "no-bus"))
	s.cmd.Stderr = &s.said
	if err := s.cmd.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	for deadline := time.Now().Add(10 * time.Second); ; wait(ctx, 50*time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "native")); err == nil {
			return s, nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			s.stop()
			return nil, fmt.Errorf("pulseaudio does not start: %s", &s.said)
		}
	}
}

func (s *soundCard) stop() {
	kill(s.cmd)
	os.RemoveAll(s.dir)
}

// env has the program capture this card's two sides.
func (s *soundCard) env() []string {
	return []string{"PULSE_SERVER=" + s.server, "MICROPHONE=mike.monitor", "SYSTEM_AUDIO=speakers", "SCRIBE_BACKEND=native"}
}

// A voice is somebody who speaks into a sink.
type voice struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// playedLate is what is between a voice and its sink: so much sound may wait
// there for a computer that is busy.
const playedLate = 100 * time.Millisecond

func (s *soundCard) voice(ctx context.Context, sink string) (*voice, error) {
	v := &voice{cmd: exec.CommandContext(ctx, "pacat", "--playback", "--raw", "--device="+sink, "--format=s16le",
		fmt.Sprintf("--rate=%d", hearken.SampleRate), "--channels=1", fmt.Sprintf("--latency-msec=%d", playedLate.Milliseconds()))}
	v.cmd.Env = append(os.Environ(), "PULSE_SERVER="+s.server, "HOME="+s.dir)
	var err error
	if v.in, err = v.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return v, v.cmd.Start()
}

// speak gives sound to the sink in real time, 20 ms at a time, each when its
// last sample has been spoken.
func (v *voice) speak(ctx context.Context, begun time.Time, pcm []int16) error {
	const frame = hearken.SampleRate / 50
	for pos := 0; pos < len(pcm); pos += frame {
		sound := pcm[pos:min(pos+frame, len(pcm))]
		wait(ctx, time.Until(begun.Add(position(pos+len(sound)))))
		if _, err := v.in.Write(wireSound(sound)); err != nil {
			return errors.Join(ctx.Err(), fmt.Errorf("pacat: %w", err))
		}
	}
	return nil
}

func (v *voice) stop() error {
	v.in.Close()
	return v.cmd.Wait()
}
