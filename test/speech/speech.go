// Package speech gives tests and benchmarks real recordings and the models to
// transcribe them with. The recordings in testdata/speech are part of the repository,
// so that a fresh clone proves the engine with nothing beside it. HEARKEN_SPEECH
// names a larger collection of the same layout.
package speech

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// EnvDir names the directory of a larger collection.
const EnvDir = "HEARKEN_SPEECH"

// A Clip is one recording of 16 kHz.
type Clip struct {
	Path      string
	Reference string // what is said in it, if somebody wrote it down
	Language  string // "-" if nobody speaks
	Kind      string // such as "read", "spontaneous", "call", "noise"
	Licence   string
	Channels  [][]int16

	seconds float64 // as the manifest says
}

// PCM is the audio of the first channel.
func (c Clip) PCM() []int16 { return c.Channels[0] }

// Floats is the audio of the first channel from -1 to 1.
func (c Clip) Floats() []float32 {
	floats := make([]float32, len(c.PCM()))
	for i, sample := range c.PCM() {
		floats[i] = float32(sample) / (1 << 15)
	}
	return floats
}

// File is the name that the manifest gives the clip.
func (c Clip) File() string { return filepath.Base(c.Path) }

// Name is the file's name without its ending, the same in every collection.
func (c Clip) Name() string { return strings.TrimSuffix(c.File(), filepath.Ext(c.Path)) }

// Seconds is how long the clip is.
func (c Clip) Seconds() float64 { return float64(len(c.PCM())) / hearken.SampleRate }

// Half is 0 or 1. Settings are tuned on one half of a collection and reported
// on the other.
func (c Clip) Half() int {
	h := fnv.New32a()
	h.Write([]byte(c.Name() + ".wav"))
	return int(h.Sum32()>>8) % 2
}

// Dir is the directory of the collection that HEARKEN_SPEECH names, from the
// root of the repository if it is relative, or else of the repository's own.
func Dir() (string, error) {
	dir := os.Getenv(EnvDir)
	if dir == "" {
		return ownDir()
	}
	if !filepath.IsAbs(dir) {
		root, err := repository()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.tsv")); err != nil {
		return "", fmt.Errorf("%s names no collection of recordings: %w. Try: unset it, and testdata/speech is used", EnvDir, err)
	}
	return dir, nil
}

func ownDir() (string, error) {
	root, err := repository()
	return filepath.Join(root, "testdata", "speech"), err
}

// repository finds the root of the repository, from whichever package's
// directory a test runs in.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no repository here: run this in a clone of Hearken")
		}
		dir = parent
	}
}

// mislabelled names recordings of other collections whose language is not what
// their manifest says.
var mislabelled = map[string]string{"silero-test": "en"}

// Manifest lists the clips of a collection without their audio.
func Manifest(dir string) ([]Clip, error) {
	path := filepath.Join(dir, "manifest.tsv")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var clips []Clip
	for line := range strings.Lines(string(text)) {
		column := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if column[0] == "file" {
			continue
		}
		if len(column) < 7 {
			return nil, fmt.Errorf("%s: %q has %d columns, not 7", path, column[0], len(column))
		}
		c := Clip{Path: filepath.Join(dir, column[0]), Reference: column[2], Language: column[3], Kind: column[4], Licence: column[6]}
		if c.seconds, err = strconv.ParseFloat(column[1], 64); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, column[0], err)
		}
		c.Language = cmp.Or(mislabelled[c.Name()], c.Language)
		clips = append(clips, c)
	}
	if len(clips) == 0 {
		return nil, fmt.Errorf("%s lists no recordings", path)
	}
	return clips, nil
}

// Read adds the audio to a clip of a manifest.
func (c *Clip) Read() error {
	channels, err := decode(c.Path)
	c.Channels = channels
	return err
}

var decoded sync.Map // of path to [][]int16: many tests use the same few clips

func decode(path string) ([][]int16, error) {
	if known, ok := decoded.Load(path); ok {
		return known.([][]int16), nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var channels [][]int16
	decoder, err := audio.NewDecoder(audio.Format{}, func(pieces ...[]int16) error {
		if channels == nil {
			channels = make([][]int16, len(pieces))
		}
		for i, piece := range pieces {
			channels[i] = append(channels[i], piece...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Write(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := decoder.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(channels) == 0 {
		return nil, fmt.Errorf("%s has no audio", path)
	}
	for i := range channels {
		channels[i] = slices.Clip(channels[i]) // whoever appends to it gets a copy
	}
	decoded.Store(path, channels)
	return channels, nil
}
