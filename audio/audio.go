// Package audio decodes what senders use (raw PCM, WAV, Opus in Ogg or WebM,
// FLAC, MP3, at any rate) into what the hub works with: 16-bit samples at
// 16 kHz, one slice per channel.
//
// A [Decoder] is an [io.WriteCloser] that takes bytes in pieces of any size and
// calls a function with the audio in them:
//
//	dec, err := audio.NewDecoder(audio.Format{}, input.Write)
//	...
//	_, err = io.Copy(dec, file)
//	...
//	err = dec.Close()
//
// The package is pure: it opens no files, starts no goroutines and uses a
// bounded amount of memory for any input. The output does not depend on how the
// bytes were split.
package audio

import (
	"fmt"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// Encodings. The raw ones are declared by the sender, in Deepgram's words; the
// others are recognised by their first bytes.
const (
	Linear16 = "linear16" // little-endian PCM16
	Linear32 = "linear32" // little-endian 32-bit floating point
	Mulaw    = "mulaw"
	Alaw     = "alaw"

	WAV      = "wav"
	OggOpus  = "ogg-opus"
	WebMOpus = "webm-opus"
	WebMPCM  = "webm-pcm"
	FLAC     = "flac"
	MP3      = "mp3"
)

// Sample rates that raw audio may have.
const (
	MinRate = 8000
	MaxRate = 48000
)

// maxFileRate is the highest rate that a container may name.
const maxFileRate = 384000

// A Format describes how audio is encoded. The zero value declares nothing.
type Format struct {
	// Encoding is [Linear16], [Linear32], [Mulaw] or [Alaw] for raw audio. If
	// it is empty, a container is recognised by its first bytes, and anything
	// else is taken for [Linear16].
	Encoding string
	// Rate is in samples per second. The default for raw audio is 8000 for
	// [Mulaw] and [Alaw] and 16000 for the others. Containers have their own.
	Rate int
	// Channels is 1 for raw audio by default. For a container, 1 mixes all
	// channels and 2 keeps two apart. If it is 0, two channels stay apart in
	// WAV and FLAC. In the others they are mixed, because browsers record one
	// microphone into both and joint coding blends them.
	Channels int
}

// Check returns an [*hearken.Error] with [hearken.Invalid] if the declaration
// is wrong.
func (f Format) Check() error {
	switch f.Encoding {
	case "", Linear16, Linear32, Mulaw, Alaw:
	default:
		return hearken.Errorf(hearken.Invalid,
			"encoding %q is not one of linear16, linear32, mulaw and alaw; leave it out for WAV, Ogg or WebM, which are recognised by their first bytes.", safetext.Clip(f.Encoding, 40))
	}
	if f.Rate != 0 && (f.Rate < MinRate || f.Rate > MaxRate) {
		return hearken.Errorf(hearken.Invalid, "a sample rate of %d is outside of %d to %d.", f.Rate, MinRate, MaxRate)
	}
	if f.Channels < 0 || f.Channels > 2 {
		return hearken.Errorf(hearken.Invalid, "%d channels are not 1 or 2.", f.Channels)
	}
	return nil
}

// raw fills in the defaults of raw audio.
func (f Format) raw() Format {
	if f.Encoding == "" {
		f.Encoding = Linear16
	}
	if f.Rate == 0 {
		f.Rate = hearken.SampleRate
		if f.Encoding == Mulaw || f.Encoding == Alaw {
			f.Rate = MinRate
		}
	}
	if f.Channels == 0 {
		f.Channels = 1
	}
	return f
}

// undecodable is the error for audio that cannot be decoded.
func undecodable(format string, args ...any) error {
	what := fmt.Errorf(format, args...)
	return hearken.Errorf(hearken.Undecodable,
		"this is not decodable audio (%w); send PCM16 at 8 to 48 kHz, WAV, Ogg/Opus or WebM/Opus.", what)
}

// CountRate is the rate at which a sender with this declaration counts its
// samples: its own for declared raw audio, otherwise the hub's.
func (f Format) CountRate() int {
	if f.Encoding == "" && f.Rate == 0 {
		return hearken.SampleRate
	}
	return f.raw().Rate
}
