package audio

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// The elements of Matroska that are used here.
const (
	idEBML        = 0x1A45DFA3
	idSegment     = 0x18538067
	idTracks      = 0x1654AE6B
	idTrackEntry  = 0xAE
	idTrackNumber = 0xD7
	idCodecID     = 0x86
	idCodecData   = 0x63A2
	idEncodings   = 0x6D80
	idAudio       = 0xE1
	idRate        = 0xB5
	idChannels    = 0x9F
	idBitDepth    = 0x6264
	idCluster     = 0x1F43B675
	idBlockGroup  = 0xA0
	idBlock       = 0xA1
	idSimpleBlock = 0xA3
	idDiscard     = 0x75A2
)

// A webmParser walks through the elements of WebM as a browser's MediaRecorder
// writes them. It enters the containers it knows and ignores where they end. So
// it handles unknown sizes, clusters cut anywhere and a second recording after
// the first.
type webmParser struct {
	d       *Decoder
	buf     []byte // the current element so far
	skip    int64  // bytes of an element to skip
	track   uint64 // number of the decoded track; 0 for none yet
	codec   string
	opus    opusStream
	pcm     pcmParser
	refused string // a codec that was seen and is not supported
}

func (w *webmParser) write(p []byte) error {
	for len(p) > 0 {
		if w.skip > 0 {
			n := int(min(int64(len(p)), w.skip))
			w.skip -= int64(n)
			p = p[n:]
			continue
		}
		need, err := w.need()
		if err != nil {
			return err
		}
		n := min(len(p), need)
		w.buf = append(w.buf, p[:n]...)
		p = p[n:]
		if err := w.advance(); err != nil {
			return err
		}
	}
	return nil
}

// need is how many more bytes the current element needs: one at a time for its
// head, then its whole body.
func (w *webmParser) need() (int, error) {
	_, size, n := ebmlHead(w.buf)
	switch {
	case n < 0:
		return 0, undecodable("webm: no element where one should be")
	case n == 0:
		return 1, nil
	}
	return n + int(size) - len(w.buf), nil
}

// advance handles the current element as far as it has come.
func (w *webmParser) advance() error {
	id, size, n := ebmlHead(w.buf)
	if n < 0 {
		return undecodable("webm: no element where one should be")
	}
	if n == 0 {
		return nil
	}
	switch id {
	case idSegment, idCluster, idTracks:
		w.buf = w.buf[:0] // enter it
		return nil
	case idTrackEntry, idBlockGroup, idSimpleBlock:
		if size < 0 || size > maxChunk {
			return undecodable("webm: an element of %d bytes", size)
		}
		if len(w.buf) < n+int(size) {
			return nil
		}
		body := w.buf[n:]
		var err error
		switch id {
		case idTrackEntry:
			err = w.entry(body)
		case idBlockGroup:
			err = w.group(body)
		default:
			err = w.block(body, 0)
		}
		w.buf = w.buf[:0]
		return err
	case idEBML:
		w.track = 0 // a recording begins
	}
	if size < 0 {
		return undecodable("webm: element %x without an end", id)
	}
	w.buf, w.skip = w.buf[:0], size
	return nil
}

// entry chooses the first track that can be decoded.
func (w *webmParser) entry(b []byte) error {
	var number uint64
	var codec string
	var head []byte
	rate, channels, depth, encoded := 8000.0, 1, 0, false
	ebmlChildren(b, func(id uint32, body []byte) {
		switch id {
		case idTrackNumber:
			number = ebmlUint(body)
		case idCodecID:
			codec = string(body)
		case idCodecData:
			head = body
		case idEncodings:
			encoded = true
		case idAudio:
			ebmlChildren(body, func(id uint32, body []byte) {
				switch id {
				case idRate:
					rate = ebmlFloat(body)
				case idChannels:
					channels = int(min(255, ebmlUint(body)))
				case idBitDepth:
					depth = int(min(255, ebmlUint(body)))
				}
			})
		}
	})
	if w.track != 0 || number == 0 {
		return nil
	}
	kind, plain := webmKind(codec, depth)
	switch {
	case encoded:
		w.refused = "a compressed or encrypted track"
		return nil
	case codec == "A_OPUS":
		w.opus.d = w.d
		if err := w.opus.start(head); err != nil {
			return err
		}
	case plain:
		w.d.found.Encoding = WebMPCM
		w.pcm = pcmParser{out: &w.d.out, kind: kind}
		if err := w.d.out.set(int(max(0, min(rate, maxFileRate+1))), channels, w.d.outputChannels(false)); err != nil {
			return err
		}
	default:
		w.refused = "codec " + safetext.Clip(strings.ToValidUTF8(codec, ""), 40)
		return nil
	}
	w.track, w.codec = number, codec
	return nil
}

func webmKind(codec string, depth int) (sampleKind, bool) {
	switch {
	case codec == "A_PCM/INT/LIT" && depth == 16:
		return pcm16, true
	case codec == "A_PCM/FLOAT/IEEE" && depth == 32:
		return float32s, true
	}
	return 0, false
}

// group handles the block of a group, and how much of its end is padding.
func (w *webmParser) group(b []byte) error {
	var block []byte
	var discard int64
	ebmlChildren(b, func(id uint32, body []byte) {
		switch id {
		case idBlock:
			block = body
		case idDiscard:
			discard = ebmlInt(body)
		}
	})
	if block == nil {
		return nil
	}
	return w.block(block, discard)
}

// block decodes the frames of a block; discard is in nanoseconds.
func (w *webmParser) block(b []byte, discard int64) error {
	track, n := ebmlSize(b)
	if n <= 0 || len(b) < n+3 {
		return undecodable("webm: a block that is cut off")
	}
	if w.track == 0 {
		if w.refused != "" {
			return undecodable("webm with %s, not Opus", w.refused)
		}
		return undecodable("webm: audio before any track")
	}
	if uint64(track) != w.track {
		return nil
	}
	lacing := b[n+2] >> 1 & 3
	frames := unlace(b[n+3:], lacing)
	if frames == nil {
		return undecodable("webm: a block whose frames do not add up")
	}
	for _, f := range frames {
		if w.codec != "A_OPUS" {
			if err := w.pcm.write(f); err != nil {
				return err
			}
			continue
		}
		if err := w.opus.packet(f); err != nil {
			return err
		}
	}
	if w.codec != "A_OPUS" {
		return nil
	}
	cut := 0
	if discard > 0 && discard < 1e9 {
		cut = int(discard * hearken.SampleRate / 1e9)
	}
	return w.opus.emit(min(cut, w.opus.held()))
}

func (w *webmParser) close() error {
	switch {
	case w.track != 0:
		return nil
	case w.refused != "":
		return undecodable("webm with %s, not Opus", w.refused)
	}
	return undecodable("webm: no audio in it")
}

func ebmlFloat(b []byte) float64 {
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}
