// Package audio turns the sound that people really send (raw PCM, WAV, Opus
// in Ogg or WebM, FLAC, MP3, at any rate) into the one kind that the hub
// works with: 16-bit samples at 16 kHz, one slice for each channel.
//
// A [Decoder] is an [io.WriteCloser] that is fed with bytes in pieces of any
// size and calls a function with what they sound like:
//
//	dec, err := audio.NewDecoder(audio.Format{}, input.Write)
//	...
//	_, err = io.Copy(dec, file)
//	...
//	err = dec.Close()
//
// The package is pure: it opens nothing, starts nothing and keeps a bounded
// amount of memory whatever it is fed with. What comes out does not depend on
// how the bytes were cut.
package audio

import (
	"fmt"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Encodings. The raw ones are declared by the sender, in Deepgram's words; the
// others are recognised by their first bytes.
const (
	Linear16 = "linear16" // little-endian PCM16
	Mulaw    = "mulaw"
	Alaw     = "alaw"

	WAV      = "wav"
	OggOpus  = "ogg-opus"
	WebMOpus = "webm-opus"
	WebMPCM  = "webm-pcm"
	FLAC     = "flac"
	MP3      = "mp3"
)

// Rates that raw sound may have.
const (
	MinRate = 8000
	MaxRate = 48000
)

// maxFileRate is the highest rate that a container may name.
const maxFileRate = 384000

// A Format says what sound is like. As the declaration of a sender its zero
// value means that nothing was declared.
type Format struct {
	// Encoding is [Linear16], [Mulaw] or [Alaw] for raw sound, which is then
	// taken as it is. If it is empty the container is recognised by its first
	// bytes, and what is no container is taken for [Linear16].
	Encoding string
	// Rate is in samples per second. It is 16000 for [Linear16] and 8000 for
	// the others unless declared. Containers bring their own.
	Rate int
	// Channels is 1 for raw sound unless declared. For a container, 1 mixes
	// all channels and 2 keeps two apart. If it is 0, two channels stay apart
	// in WAV and FLAC; in the others they are mixed, because browsers record
	// one microphone into both and joint coding blends them.
	Channels int
}

// Check reports what is wrong with a declaration, as an [*hearken.Error] with
// [hearken.Invalid].
func (f Format) Check() error {
	switch f.Encoding {
	case "", Linear16, Mulaw, Alaw:
	default:
		return hearken.Errorf(hearken.Invalid,
			"encoding %q is not one of linear16, mulaw and alaw; leave it out for WAV, Ogg or WebM, which are recognised by their first bytes.", clip(f.Encoding))
	}
	if f.Rate != 0 && (f.Rate < MinRate || f.Rate > MaxRate) {
		return hearken.Errorf(hearken.Invalid, "a sample rate of %d is outside of %d to %d.", f.Rate, MinRate, MaxRate)
	}
	if f.Channels < 0 || f.Channels > 2 {
		return hearken.Errorf(hearken.Invalid, "%d channels are not 1 or 2.", f.Channels)
	}
	return nil
}

// raw fills the gaps of a declaration of raw sound.
func (f Format) raw() Format {
	if f.Encoding == "" {
		f.Encoding = Linear16
	}
	if f.Rate == 0 {
		f.Rate = hearken.SampleRate
		if f.Encoding != Linear16 {
			f.Rate = MinRate
		}
	}
	if f.Channels == 0 {
		f.Channels = 1
	}
	return f
}

// undecodable makes the error for sound that cannot be decoded.
func undecodable(format string, args ...any) error {
	what := fmt.Errorf(format, args...)
	return hearken.Errorf(hearken.Undecodable,
		"this is not decodable audio (%w); send PCM16 at 8 to 48 kHz, WAV, Ogg/Opus or WebM/Opus.", what)
}

// clip shortens what a stranger sent before it is shown.
func clip(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}

// CountRate is the rate in which a sender with this declaration counts its
// samples: its own if it declared raw sound, and otherwise that of the hub.
func (f Format) CountRate() int {
	if f.Encoding == "" && f.Rate == 0 {
		return hearken.SampleRate
	}
	return f.raw().Rate
}
