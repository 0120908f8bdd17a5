package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/source/ffmpeg"
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
	program, err := ffmpeg.Find(s.opts.FFmpeg)
	if err != nil {
		return hearken.Errorf(hearken.Undecodable,
			"%s is not WAV, FLAC, MP3, Ogg/Opus or WebM/Opus, and other recordings need ffmpeg: %w.", s.title(), errNoFFmpeg).
			WithTry("install ffmpeg, or convert the recording to WAV")
	}
	path := s.name
	if path == "" {
		if path, err = s.save(r); err != nil {
			return err
		}
		defer os.Remove(path) // it holds speech
	}
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("find %s: %w", s.title(), err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	process, err := ffmpeg.Start(ctx, program, nil,
		"-loglevel", "error",
		"-protocol_whitelist", "file,pipe", "-format_whitelist", formats,
		"-i", "file:"+path, // so that no name is an option or an address
		"-vn", "-sn", "-dn", "-map", "0:a:0",
		"-c:a", "pcm_s16le", "-f", "wav", "pipe:1")
	if err != nil {
		return err
	}
	err = s.decode(ctx, &stallReader{r: process, cancel: cancel}, sink)
	if err != nil {
		cancel(nil) // ffmpeg may be blocked on its pipe
	}
	waitErr := process.Wait()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStalled):
		return hearken.Errorf(hearken.Undecodable, "%s: %w.", s.title(), cause)
	case waitErr != nil && !s.delivered && (err == nil || hearken.CodeOf(err) == hearken.Undecodable):
		says := strings.ReplaceAll(process.LastMessage(), "file:"+path, s.title()) // others need not know where it is
		return hearken.Errorf(hearken.Undecodable, "%s cannot be decoded: ffmpeg says %q.", s.title(), says)
	}
	return err
}

// tempPattern is the name of saved recordings. Package upload removes files of
// such names that a killed hub left.
const tempPattern = "hearken-upload-*"

// save writes what r holds to a new file.
func (s *Source) save(r io.Reader) (path string, err error) {
	f, err := os.CreateTemp(s.opts.TempDir, tempPattern)
	if err != nil {
		return "", fmt.Errorf("save recording: %w", err)
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name()) // the error matters more
		return "", fmt.Errorf("save recording: %w", err)
	}
	return f.Name(), nil
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
