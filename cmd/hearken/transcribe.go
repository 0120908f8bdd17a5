package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/export"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/source/file"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

type transcribeCmd struct {
	Files    []string `arg:"" name:"file" help:"Recordings: wav, flac, mp3, ogg or webm, and anything else if ffmpeg is installed. -: standard input."`
	Format   string   `short:"f" default:"txt" enum:"txt,json,srt,vtt,md,toon" help:"txt, json, srt, vtt, md or toon."`
	Language string   `short:"l" help:"Spoken language. Default: en."`
	Output   string   `short:"o" placeholder:"PATH" help:"File to write to, or a directory if there are several recordings."`
	Separate bool     `help:"Transcribe the two channels separately, for a call with one side on each."`
	Quiet    bool     `short:"q" help:"Do not show progress."`
}

// Run transcribes all files, and fails at the end if one of them failed.
func (c *transcribeCmd) Run(ctx context.Context, p *program) error {
	root, err := modelRoot(p.cfg)
	if err != nil {
		return err
	}
	if err := models.Ready(root); err != nil {
		return err
	}
	vocabulary, err := readVocabulary(p.cfg.Vocabulary)
	if err != nil {
		return err
	}
	language := cmp.Or(c.Language, p.cfg.DefaultLanguage, fallbackLanguage)
	model, err := bestModel(root, language, p.cfg.LocalModel)
	if err != nil {
		return err
	}
	engine := moonshine.Open(ctx, moonshine.Config{
		Dir: root, Library: models.Library(root), Language: language, Model: model, Vocabulary: vocabulary, Log: p.log,
	})
	defer func() {
		if err := engine.Close(context.WithoutCancel(ctx)); err != nil {
			p.log.Warn("engine not closed", "error", err)
		}
	}()
	if err := engine.Check(ctx, hearken.StreamConfig{Language: language}); err != nil {
		return err
	}
	failed := false
	for _, name := range c.Files {
		err := c.transcribe(ctx, p, engine, name, language, model)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.fail(err)
			failed = true
		}
	}
	if failed {
		return exitCode(1)
	}
	return nil
}

// bestModel prefers the more accurate model: a recording need not be transcribed
// in real time.
func bestModel(root, language, configured string) (string, error) {
	if configured != "auto" {
		return configured, nil
	}
	found, err := moonshine.Catalog(root)
	if err != nil {
		return "", fmt.Errorf("list models: %w", err)
	}
	primary, _, _ := strings.Cut(strings.ToLower(language), "-")
	if slices.ContainsFunc(found, func(f moonshine.Installed) bool { return f.Language == primary && f.Kind == "base" }) {
		return "base", nil
	}
	return "auto", nil
}

func (c *transcribeCmd) transcribe(ctx context.Context, p *program, engine *moonshine.Provider, name, language, model string) error {
	channels, err := c.read(ctx, p, name)
	if err != nil {
		return err
	}
	bar := p.progress(filepath.Base(name), c.Quiet)
	defer bar.clear()
	session := newRecording(name, language, model)
	for i, pcm := range channels {
		origin := []hearken.Origin{hearken.Microphone, hearken.System}[min(i, 1)]
		segments, err := engine.TranscribeAll(ctx, pcm, hearken.StreamConfig{Session: session.ID, Origin: origin, Language: language},
			func(done float64) { bar.show((float64(i) + done) / float64(len(channels))) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, s := range segments {
			s.Origin = origin
			session.segments = append(session.segments, s)
		}
		session.Duration = max(session.Duration, float64(len(pcm))/hearken.SampleRate)
	}
	bar.clear()
	session.finish()
	var h heard
	h.add(session.segments)
	if remark := h.remark(); remark != "" {
		fmt.Fprintf(p.stderr, "%s: %s (%.1f seconds of audio, language %s)\n", name, remark, session.Duration, language)
	}
	return c.write(p, name, session)
}

// read decodes a whole recording.
func (c *transcribeCmd) read(ctx context.Context, p *program, name string) (channels [][]int16, err error) {
	opts := file.Options{Separate: c.Separate}
	var src *file.Source
	if name == "-" {
		src, err = file.New(p.stdin, opts)
	} else {
		src, err = file.Open(name, opts)
	}
	if err != nil {
		return nil, err
	}
	defer src.Close()
	err = src.Read(ctx, func(parts ...[]int16) error {
		for len(channels) < len(parts) {
			channels = append(channels, nil)
		}
		for i, part := range parts {
			channels[i] = append(channels[i], part...)
		}
		return nil
	})
	return channels, err
}

// write writes one transcript to standard output or its file.
func (c *transcribeCmd) write(p *program, name string, s *recording) (err error) {
	out := p.stdout
	if c.Output != "" && c.Output != "-" {
		path := c.Output
		if info, err := os.Stat(path); len(c.Files) > 1 || err == nil && info.IsDir() {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			base := filepath.Base(name)
			path = filepath.Join(path, strings.TrimSuffix(base, filepath.Ext(base))+"."+c.Format)
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	} else if len(c.Files) > 1 && c.Format == "txt" {
		fmt.Fprintf(out, "==> %s <==\n", name)
	}
	return export.Write(out, c.Format, &s.Session, nil, export.List(s.segments))
}

// A recording is a file as a session, so that it is exported like one.
type recording struct {
	hearken.Session
	segments []hearken.Segment
}

func newRecording(name, language, model string) *recording {
	return &recording{Session: hearken.Session{
		ID: uuid.NewString(), Title: filepath.Base(name), Status: hearken.Stopped, StopReason: hearken.StopFinished,
		Language: language, Provider: "local", StartedAt: time.Now().UTC().Truncate(time.Millisecond),
		Config: hearken.SessionConfig{Model: model},
	}}
}

// finish sorts the entries and fills in what the hub does in a live session.
func (r *recording) finish() {
	slices.SortStableFunc(r.segments, func(a, b hearken.Segment) int { return cmp.Compare(a.StartTime, b.StartTime) })
	for i := range r.segments {
		s := &r.segments[i]
		s.Line, s.ID = i+1, r.ID+"-"+strconv.Itoa(i+1)
		s.IsFinal, s.Durable = true, true
		s.StartTime, s.EndTime = roundToMillis(s.StartTime), roundToMillis(s.EndTime)
		for j := range s.Words {
			w := &s.Words[j]
			w.StartTime, w.EndTime = roundToMillis(w.StartTime), roundToMillis(w.EndTime)
		}
		s.Timestamp = r.StartedAt.Add(time.Duration(s.StartTime * float64(time.Second)))
	}
	stopped := r.StartedAt.Add(time.Duration(r.Duration * float64(time.Second)))
	r.StoppedAt, r.SegmentCount = &stopped, len(r.segments)
}

func roundToMillis(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }
