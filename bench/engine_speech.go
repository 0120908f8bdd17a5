package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/source/file"
	"github.com/hearken-dev/hearken/test/speech"
)

// A clip is one real recording.
type clip struct {
	speech.Clip
	pcm []int16
}

func (c *clip) name() string { return c.File() }

func (c *clip) seconds() float64 { return float64(len(c.pcm)) / hearken.SampleRate }

// writeWAV writes a copy of the clip.
func (c *clip) writeWAV(dir string) (path string, err error) {
	path = filepath.Join(dir, c.Name()+".wav")
	return path, os.WriteFile(path, audio.EncodeWAV(hearken.SampleRate, c.pcm), 0o600)
}

// recordings reads those of the collection that are wanted.
func recordings(want func(c *clip) bool) ([]*clip, error) {
	dir, err := speech.Dir()
	if err != nil {
		return nil, err
	}
	all, err := speech.Manifest(dir)
	if err != nil {
		return nil, fmt.Errorf("no recordings; HEARKEN_SPEECH names a directory with some: %w", err)
	}
	var clips []*clip
	for _, known := range all {
		c := &clip{Clip: known}
		if !want(c) {
			continue
		}
		if err := c.Read(); err != nil {
			return nil, err
		}
		c.pcm = c.PCM()
		clips = append(clips, c)
	}
	if len(clips) == 0 {
		return nil, fmt.Errorf("%s has no such recordings; HEARKEN_SPEECH names a larger collection", dir)
	}
	return clips, nil
}

// referenced are the English recordings with a reference, in an order in which
// any beginning is a fair sample: long and short, easy and hard.
func referenced() ([]*clip, error) {
	clips, err := recordings(func(c *clip) bool { return c.Language == "en" && c.Reference != "" })
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(clips), func(i, j int) { clips[i], clips[j] = clips[j], clips[i] })
	return clips, err
}

// first is as many of the clips as have so many seconds together.
func first(clips []*clip, seconds float64) []*clip {
	for i, c := range clips {
		if seconds -= c.seconds(); seconds < 0 {
			return clips[:i]
		}
	}
	return clips
}

func readSound(ctx context.Context, path string) ([]int16, error) {
	src, err := file.Open(path, file.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var pcm []int16
	err = src.Read(ctx, func(channels ...[]int16) error {
		pcm = append(pcm, channels[0]...)
		return nil
	})
	return pcm, err
}

// samples is a time as a number of samples.
func samples(seconds float64) int { return int(seconds * hearken.SampleRate) }

// room is the noise of a quiet room, about 66 dB below the loudest there is.
func room(seconds float64) []int16 {
	rng := rand.New(rand.NewPCG(5, 6))
	pcm := make([]int16, samples(seconds))
	for i := range pcm {
		pcm[i] = int16(16 * rng.NormFloat64())
	}
	return pcm
}

// A tape is several recordings one after the other, with pauses.
type tape struct {
	pcm   []int16
	parts []part
}

// A part is where a clip lies on a tape, in samples.
type part struct {
	*clip
	from, to int
}

// splice puts recordings on a tape with a quiet room before, between and after.
func splice(clips []*clip, pause float64) *tape {
	quiet := room(pause)
	t := &tape{pcm: slices.Clone(quiet)}
	for _, c := range clips {
		t.parts = append(t.parts, part{c, len(t.pcm), len(t.pcm) + len(c.pcm)})
		t.pcm = append(append(t.pcm, c.pcm...), quiet...)
	}
	return t
}

// deal makes so many tapes of about the same length.
func deal(clips []*clip, n int, pause float64) []*tape {
	hands, seconds := make([][]*clip, n), make([]float64, n)
	for _, c := range clips {
		least := slices.Index(seconds, slices.Min(seconds))
		hands[least] = append(hands[least], c)
		seconds[least] += c.seconds() + pause
	}
	var tapes []*tape
	for _, hand := range hands {
		if len(hand) > 0 {
			tapes = append(tapes, splice(hand, pause))
		}
	}
	return tapes
}

// texts gives each part of the tape the text that was heard in it: a segment
// belongs to the part that it overlaps most.
func (t *tape) texts(segments []hearken.Segment) map[*clip]string {
	texts := map[*clip]string{}
	for _, s := range segments {
		if !s.Spoken() {
			continue
		}
		best, most := t.parts[0].clip, -1e9
		for _, p := range t.parts {
			both := min(s.EndTime, float64(p.to)/hearken.SampleRate) - max(s.StartTime, float64(p.from)/hearken.SampleRate)
			if both > most {
				best, most = p.clip, both
			}
		}
		texts[best] = strings.TrimSpace(texts[best] + " " + s.Text)
	}
	return texts
}
