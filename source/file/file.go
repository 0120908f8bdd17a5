// Package file hears recordings: it opens an audio file, whatever it is, and
// hands out its sound as the hub wants it.
//
// WAV, FLAC, MP3, Ogg/Opus and WebM/Opus are decoded here, recognised by what
// they hold and not by their names. Everything else goes through ffmpeg where
// that is installed.
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
	"sync/atomic"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// Options say how a file is to be heard. The zero value is good.
type Options struct {
	// Separate keeps the two channels of a recording apart, as for calls with
	// one side on each. Otherwise all channels are mixed.
	Separate bool
	// FFmpeg is the program for everything that is not decoded here. If it is
	// empty, ffmpeg is looked for in PATH.
	FFmpeg string
}

// A Source is one recording. Read may be called once; the other methods may be
// called at any time, while it runs too.
type Source struct {
	opts     Options
	name     string // as the caller named it; empty for a reader
	r        io.Reader
	close    func() error
	head     []byte
	kind     string  // of container; empty for one that is not ours
	size     int64   // in bytes; 0 if unknown
	duration float64 // in seconds; 0 if unknown
	taken    atomic.Int64
	samples  atomic.Int64
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
	if info.Mode().IsRegular() {
		s.size = info.Size()
	}
	if err := s.look(); err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	if s.size > 0 {
		tail := make([]byte, min(s.size, audio.HeadSize))
		n, _ := f.ReadAt(tail, s.size-int64(len(tail)))
		s.duration = audio.Duration(s.head, tail[:n], s.size)
	}
	return s, nil
}

// New takes a recording from a reader, which it does not close.
func New(r io.Reader, opts Options) (*Source, error) {
	s := &Source{opts: opts, r: r, close: func() error { return nil }}
	if err := s.look(); err != nil {
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

// look reads the first bytes and puts them back.
func (s *Source) look() error {
	s.head = make([]byte, audio.HeadSize)
	n, err := io.ReadFull(s.r, s.head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	s.head = s.head[:n]
	s.kind = audio.DetectFormat(s.head)
	return nil
}

// Close releases the file.
func (s *Source) Close() error { return s.close() }

// Duration is how long the recording is, in seconds, or 0 if that is not known
// before it has been heard.
func (s *Source) Duration() float64 { return s.duration }

// Heard is how much has been handed out, in seconds.
func (s *Source) Heard() float64 {
	return float64(s.samples.Load()) / hearken.SampleRate
}

// Progress is how much of the recording has been heard, from 0 to 1, or -1 if
// that cannot be told.
func (s *Source) Progress() float64 {
	switch {
	case s.kind != "" && s.size > 0:
		return min(1, float64(s.taken.Load())/float64(s.size))
	case s.duration > 0:
		return min(1, s.Heard()/s.duration)
	}
	return -1
}

// Read hands out the whole recording in order, at [hearken.SampleRate], one
// slice for each channel; sink may not keep them. It stops at an error of sink
// and when ctx ends.
func (s *Source) Read(ctx context.Context, sink func(channels ...[]int16) error) error {
	counted := func(channels ...[]int16) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.samples.Add(int64(len(channels[0])))
		return sink(channels...)
	}
	if len(s.head) == 0 {
		return hearken.Errorf(hearken.Undecodable, "%s is empty.", s.title())
	}
	s.taken.Store(int64(len(s.head)))
	if s.kind == "" {
		return s.convert(ctx, io.MultiReader(bytes.NewReader(s.head), s.r), counted)
	}
	err := s.decode(ctx, io.MultiReader(bytes.NewReader(s.head), &counter{r: s.r, n: &s.taken}), counted)
	// Not every Ogg holds Opus, nor every WAV plain samples.
	if hearken.CodeOf(err) == hearken.Undecodable && s.samples.Load() == 0 && s.name != "" {
		if again := s.convert(ctx, nil, counted); !errors.Is(again, errNoFFmpeg) {
			return again
		}
	}
	return err
}

// decode feeds what r holds to a decoder.
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
			return s.named(err)
		}
		if errors.Is(err, io.EOF) {
			return s.named(d.Close())
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

// named says which file it is that cannot be decoded.
func (s *Source) named(err error) error {
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

// A counter counts what is read through it.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}
