package audio

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/hajimehoshi/go-mp3"
	"github.com/mewkiz/flac"
)

// A pullParser runs a codec that reads from an [io.Reader]. The codec runs as a
// coroutine: it continues when bytes are written and pauses when it needs more.
type pullParser struct {
	next   func() (error, bool)
	stop   func()
	reader pushReader
}

// A pushReader is the reader that the codec reads from.
type pushReader struct {
	b     []byte
	ended bool
	pause func() bool // returns to the writer
}

// newPullParser does not run the codec yet: it starts with the first bytes.
func newPullParser(d *Decoder, codec func(d *Decoder, r io.Reader) error) *pullParser {
	p := &pullParser{}
	p.next, p.stop = iter.Pull(func(yield func(error) bool) {
		p.reader.pause = func() bool { return yield(nil) }
		if err := codec(d, &p.reader); err != nil {
			yield(err)
		}
	})
	return p
}

func (p *pullParser) write(b []byte) error {
	p.reader.b = b
	err, running := p.next()
	if !running && len(p.reader.b) > 0 {
		p.reader.b = nil // what follows the audio: mostly tags
	}
	return err
}

func (p *pullParser) close() error {
	p.reader.ended = true
	err, _ := p.next()
	p.stop()
	return err
}

// Read takes what was written and waits for more.
func (f *pushReader) Read(b []byte) (int, error) {
	for len(f.b) == 0 {
		if f.ended || !f.pause() {
			return 0, io.EOF
		}
	}
	n := copy(b, f.b)
	f.b = f.b[n:]
	return n, nil
}

// decodeFLAC decodes a whole stream of FLAC.
func decodeFLAC(d *Decoder, r io.Reader) error {
	stream, err := flac.New(r)
	if err != nil {
		return codecError(err)
	}
	info := stream.Info
	if err := d.out.set(int(info.SampleRate), int(info.NChannels), d.outputChannels(true)); err != nil {
		return err
	}
	shift := int(info.BitsPerSample) - 16
	var pcm []int16
	for frames := 0; ; frames++ {
		frame, err := stream.ParseNext()
		if ended(err) && frames > 0 {
			return nil
		}
		if err != nil {
			return codecError(err)
		}
		if len(frame.Subframes) != int(info.NChannels) {
			return undecodable("flac: the number of channels changed")
		}
		pcm = pcm[:0]
		for i := range int(frame.BlockSize) {
			for _, sub := range frame.Subframes {
				s := sub.Samples[i]
				switch {
				case shift > 0:
					pcm = append(pcm, round(int64(s), uint(shift)))
				default:
					pcm = append(pcm, int16(s<<-shift))
				}
			}
		}
		if err := d.out.interleaved(pcm); err != nil {
			return err
		}
	}
}

// decodeMP3 decodes a whole stream of MP3. Its codec always gives two
// channels.
func decodeMP3(d *Decoder, r io.Reader) error {
	head, err := skipID3(r)
	if err != nil {
		return codecError(err)
	}
	delay := mp3Delay(head)
	r = io.MultiReader(bytes.NewReader(head), r)
	stream, err := mp3.NewDecoder(r)
	if err != nil {
		return codecError(err)
	}
	if err := d.out.set(stream.SampleRate(), 2, d.outputChannels(false)); err != nil {
		return err
	}
	buf := make([]byte, 4*1152)
	var pcm []int16
	for {
		n, err := io.ReadFull(stream, buf)
		pcm = AppendPCM16(pcm[:0], buf[:n-n%4])
		skipped := min(2*delay, len(pcm))
		delay -= skipped / 2
		if err := d.out.interleaved(pcm[skipped:]); err != nil {
			return err
		}
		if ended(err) {
			return nil
		}
		if err != nil {
			return codecError(err)
		}
	}
}

// ended reports whether err only marks the end.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// skipID3 skips the tags at the start, which may be large, without keeping
// them. It returns the head of the first frame.
func skipID3(r io.Reader) ([]byte, error) {
	for {
		head := make([]byte, 10, mp3TagEnd)
		if _, err := io.ReadFull(r, head); err != nil {
			return nil, err
		}
		if string(head[:3]) != "ID3" {
			n, err := io.ReadFull(r, head[len(head):cap(head)])
			if !ended(err) && err != nil {
				return nil, err
			}
			return head[:len(head)+n], nil
		}
		size := int64(head[6])<<21 | int64(head[7])<<14 | int64(head[8])<<7 | int64(head[9])
		if head[5]&0x10 != 0 {
			size += 10 // a footer
		}
		if _, err := io.CopyN(io.Discard, r, size); err != nil {
			return nil, err
		}
	}
}

// mp3TagEnd is the latest end of the encoder's tag in a first frame.
const mp3TagEnd = 36 + 144

// mp3Delay is how many samples come before the audio: a first frame that only
// holds the encoder's tag, and the delay of encoder and decoder.
func mp3Delay(head []byte) int {
	if len(head) < mp3TagEnd || mp3FrameSize(head) == 0 {
		return 0
	}
	at, frame := 36, 1152
	mono, first := head[3]>>6 == 3, head[1]>>3&3 == 3
	switch {
	case first && mono, !first && !mono:
		at = 21
	case !first:
		at = 13
	}
	if !first {
		frame = 576
	}
	if tag := string(head[at : at+4]); tag != "Xing" && tag != "Info" {
		return 0
	}
	const decoderDelay = 529
	delay := int(head[at+141])<<4 | int(head[at+142])>>4
	if delay == 0 {
		return frame
	}
	return frame + delay + decoderDelay
}
