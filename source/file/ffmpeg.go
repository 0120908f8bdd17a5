package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// stallTimeout is how long ffmpeg may take for the next audio.
const stallTimeout = time.Minute

var errNoFFmpeg = errors.New("ffmpeg is not installed")

// formats are what ffmpeg may open: recordings, and nothing that names other
// files or addresses, as playlists do.
const formats = "mov,matroska,aac,ac3,eac3,adts,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dsf,flac,flv,gsm,mp3,mpeg,mpegts,ogg,rm,tta,voc,w64,wav,wv"

// convert decodes the file with ffmpeg, or what r holds if there is no name.
// Ffmpeg writes WAV, which says its rate and channels.
func (s *Source) convert(ctx context.Context, r io.Reader, sink func(channels ...[]int16) error) error {
	program, err := s.ffmpeg()
	if err != nil {
		return hearken.Errorf(hearken.Undecodable,
			"%s is not WAV, FLAC, MP3, Ogg/Opus or WebM/Opus, and other recordings need ffmpeg: %w.", s.title(), err).
			WithTry("install ffmpeg, or convert the recording to WAV")
	}
	input := "pipe:0"
	if s.name != "" {
		path, err := filepath.Abs(s.name)
		if err != nil {
			return fmt.Errorf("find %s: %w", s.title(), err)
		}
		input = "file:" + path // so that no name is an option or an address
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, program,
		"-nostdin", "-hide_banner", "-loglevel", "error",
		"-protocol_whitelist", "file,pipe", "-format_whitelist", formats,
		"-i", input, "-vn", "-sn", "-dn", "-map", "0:a:0",
		"-c:a", "pcm_s16le", "-f", "wav", "pipe:1")
	if s.name == "" {
		cmd.Stdin = r
	}
	stderr := &lastLine{max: 2000}
	cmd.Stderr = stderr
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start ffmpeg: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start ffmpeg: %w", err)
	}
	err = s.decode(ctx, &stallReader{r: out, cancel: cancel}, sink)
	if err != nil {
		cancel(nil) // ffmpeg may be blocked on its pipe
	}
	waitErr := cmd.Wait()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStalled):
		return hearken.Errorf(hearken.Undecodable, "%s: %w.", s.title(), cause)
	case waitErr != nil && !s.delivered && (err == nil || hearken.CodeOf(err) == hearken.Undecodable):
		return hearken.Errorf(hearken.Undecodable, "%s cannot be decoded: ffmpeg says %q.", s.title(), stderr.String())
	}
	return err
}

func (s *Source) ffmpeg() (string, error) {
	program := s.opts.FFmpeg
	if program == "" {
		program = "ffmpeg"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", errNoFFmpeg
	}
	return path, nil
}

var errStalled = fmt.Errorf("ffmpeg gave no audio for %v", stallTimeout)

// A stallReader is ffmpeg's output. A read that takes too long ends ffmpeg;
// time between reads does not count.
type stallReader struct {
	r      io.Reader
	cancel context.CancelCauseFunc
}

func (w *stallReader) Read(b []byte) (int, error) {
	timer := time.AfterFunc(stallTimeout, func() { w.cancel(errStalled) })
	defer timer.Stop()
	return w.r.Read(b)
}

// A lastLine keeps the end of what is written to it.
type lastLine struct {
	buf bytes.Buffer
	max int
}

func (t *lastLine) Write(b []byte) (int, error) {
	t.buf.Write(b)
	if over := t.buf.Len() - t.max; over > 0 {
		t.buf.Next(over)
	}
	return len(b), nil
}

// String is the last line, which says what went wrong.
func (t *lastLine) String() string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(t.buf.String(), "?")), "\n")
	return lines[len(lines)-1]
}
