// Package file reads recordings: it opens an audio file of any format and
// delivers its audio as the hub needs it.
//
// WAV, FLAC, MP3, Ogg/Opus and WebM/Opus are decoded here, recognised by their
// content and not by their names. Everything else needs ffmpeg.
package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// Options say how to read a file. The zero value is useful.
type Options struct {
	// Separate keeps the two channels of a recording apart, as for calls with
	// one side on each. Otherwise all channels are mixed.
	Separate bool
	// FFmpeg is the program for formats that are not decoded here. If it is
	// empty, ffmpeg is looked for in PATH.
	FFmpeg string
	// TempDir is where a recording from a reader is saved while ffmpeg decodes
	// it; empty for the system's directory.
	TempDir string
}

// A Source is one recording. Read may be called once.
type Source struct {
	opts      Options
	name      string // as the caller named it; empty for a reader
	r         io.Reader
	close     func() error
	head      []byte
	kind      string // of container; empty for one that ffmpeg must decode
	delivered bool   // sink got some audio
}

// Open opens a file by its path.
func Open(path string, opts Options) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("it is a directory")
	}
	if err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	s := &Source{opts: opts, name: path, r: f, close: f.Close}
	if err := s.readHead(); err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	return s, nil
}

// New reads a recording from a reader, which it does not close. If ffmpeg must
// decode it, it is first saved to a file that only this user can read: the index
// of an M4A is often at its end.
func New(r io.Reader, opts Options) (*Source, error) {
	s := &Source{opts: opts, r: r, close: func() error { return nil }}
	if err := s.readHead(); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	return s, nil
}

func openError(path string, err error) error {
	name := filepath.Base(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hearken.Errorf(hearken.NotFound, "there is no file %s.", path)
	case errors.Is(err, fs.ErrPermission):
		return hearken.Errorf(hearken.Forbidden, "%s may not be read.", name)
	}
	return hearken.Errorf(hearken.Invalid, "%s cannot be read: %w.", name, err)
}

// readHead reads the first bytes and recognises the format.
func (s *Source) readHead() error {
	s.head = make([]byte, audio.HeadSize)
	n, err := io.ReadFull(s.r, s.head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	s.head = s.head[:n]
	if s.kind = audio.DetectFormat(s.head); audio.Probe(s.head) != nil {
		s.kind = "" // not every Ogg holds Opus, nor every WAV plain samples
	}
	return nil
}

// Close releases the file.
func (s *Source) Close() error { return s.close() }

// Read delivers the whole recording in order, at [hearken.SampleRate], one
// slice per channel; sink may not keep them. It stops at an error of sink and
// when ctx ends.
func (s *Source) Read(ctx context.Context, sink func(channels ...[]int16) error) error {
	deliver := func(channels ...[]int16) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.delivered = true
		return sink(channels...)
	}
	if len(s.head) == 0 {
		return hearken.Errorf(hearken.Undecodable, "%s is empty.", s.title())
	}
	if s.kind == "" {
		return s.convert(ctx, io.MultiReader(bytes.NewReader(s.head), s.r), deliver)
	}
	err := s.decode(ctx, io.MultiReader(bytes.NewReader(s.head), s.r), deliver)
	// What is wrong may come after the head: try ffmpeg.
	if hearken.CodeOf(err) == hearken.Undecodable && !s.delivered && s.name != "" {
		if retried := s.convert(ctx, nil, deliver); !errors.Is(retried, errNoFFmpeg) {
			return retried
		}
	}
	return err
}

// decode decodes what r holds.
func (s *Source) decode(ctx context.Context, r io.Reader, sink func(channels ...[]int16) error) error {
	format := audio.Format{Channels: 1}
	if s.opts.Separate {
		format.Channels = 2
	}
	d, err := audio.NewDecoder(format, sink)
	if err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if _, err := d.Write(buf[:n]); err != nil {
			_ = d.Close()
			return s.withName(err)
		}
		if errors.Is(err, io.EOF) {
			return s.withName(d.Close())
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = d.Close()
			return fmt.Errorf("read %s: %w", s.title(), err)
		}
	}
}

// withName adds the file's name to an error of decoding.
func (s *Source) withName(err error) error {
	if hearken.CodeOf(err) != hearken.Undecodable {
		return err
	}
	return hearken.Errorf(hearken.Undecodable, "%s: %w", s.title(), err)
}

func (s *Source) title() string {
	if s.name == "" {
		return "the recording"
	}
	return filepath.Base(s.name)
}
