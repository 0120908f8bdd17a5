package audio

import (
	"errors"
	"fmt"

	"github.com/hearken-dev/hearken"
)

// A Decoder turns a stream of bytes into sound. It is fed by Write with
// pieces of any size and hands on what they hold before Write returns. It is
// for one goroutine at a time.
type Decoder struct {
	declared Format
	found    Format
	out      output
	parser   parser // nil until the kind of stream is known
	head     []byte // what came until then
	err      error  // the first failure, which is also every later one
}

// A parser takes apart one kind of stream.
type parser interface {
	// write takes the next bytes, all of them.
	write(p []byte) error
	// close takes the end of the stream.
	close() error
}

// NewDecoder makes a decoder for what a sender declared. The sink is called
// with sound at [hearken.SampleRate], one slice for each channel, all of the
// same length; it may not keep them. Its error ends the decoding.
func NewDecoder(declared Format, sink func(channels ...[]int16) error) (*Decoder, error) {
	if err := declared.Check(); err != nil {
		return nil, err
	}
	d := &Decoder{declared: declared, out: output{sink: sink}}
	if declared.Encoding != "" {
		if err := d.setRaw(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Format is what the sound turned out to be, with its own rate and the number
// of channels that are handed on. It is known before the sink is first called
// and reported as false until then.
func (d *Decoder) Format() (Format, bool) {
	f := d.found
	f.Rate, f.Channels = d.out.rate, d.out.kept
	if f.Encoding == OggOpus || f.Encoding == WebMOpus {
		f.Rate = opusRate // it is decoded at 16 kHz without a detour
	}
	return f, d.out.kept != 0
}

// Samples is how much sound was handed on, in samples of each channel at
// [hearken.SampleRate].
func (d *Decoder) Samples() int64 { return d.out.samples }

// Write decodes p. Bytes that cannot be decoded give an [*hearken.Error] with
// [hearken.Undecodable]; an error of the sink is returned as it is.
func (d *Decoder) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	if raw, ok := d.parser.(*pcmParser); ok {
		d.err = raw.write(p) // the busy path: no guard needed, no work wasted
	} else {
		d.err = d.guard(func() error { return d.parse(p) })
	}
	if d.err != nil {
		return 0, d.err
	}
	return len(p), nil
}

// Close takes the end of the stream: what is still held is handed on. A stream
// of nothing at all is no error; one that ended before any sound is.
func (d *Decoder) Close() error {
	if d.err != nil {
		if d.parser != nil {
			_ = d.guard(d.parser.close) // lets go of what it holds
		}
		if errors.Is(d.err, errClosed) {
			return nil
		}
		return d.err
	}
	d.err = d.guard(d.finish)
	if d.err != nil {
		return d.err
	}
	d.err = errClosed
	return nil
}

var errClosed = errors.New("decoder is closed")

func (d *Decoder) finish() error {
	if d.parser == nil && len(d.head) > 0 {
		if err := d.recognise(true); err != nil {
			return err
		}
	}
	if d.parser == nil {
		return nil
	}
	if err := d.parser.close(); err != nil {
		return err
	}
	return d.out.flush()
}

func (d *Decoder) parse(p []byte) error {
	if d.parser != nil {
		return d.parser.write(p)
	}
	for d.parser == nil {
		if len(p) == 0 {
			return nil
		}
		n := min(len(p), maxHead-len(d.head))
		d.head = append(d.head, p[:n]...)
		p = p[n:]
		if err := d.recognise(len(d.head) == maxHead); err != nil {
			return err
		}
	}
	return d.parser.write(p)
}

// recognise chooses the parser once the head tells enough; last says that no
// more of it will come.
func (d *Decoder) recognise(last bool) error {
	kind, err := sniff(d.head, last)
	if err != nil || kind == "" {
		return err
	}
	d.found.Encoding = kind
	switch kind {
	case Linear16:
		if err := d.setRaw(); err != nil {
			return err
		}
	case WAV:
		d.parser = &wavParser{d: d}
	case OggOpus:
		d.parser = &oggParser{opus: opusStream{d: d}}
	case WebMOpus:
		d.parser = &webmParser{d: d}
	case FLAC:
		d.parser = newPuller(d, decodeFLAC)
	case MP3:
		d.parser = newPuller(d, decodeMP3)
	}
	head := d.head
	d.head = nil
	return d.parser.write(head)
}

func (d *Decoder) setRaw() error {
	f := d.declared.raw()
	d.found = f
	p := &pcmParser{out: &d.out}
	switch f.Encoding {
	case Mulaw:
		p.kind = mulaw
	case Alaw:
		p.kind = alaw
	default:
		p.kind = pcm16
	}
	d.parser = p
	return d.out.set(f.Rate, f.Channels, f.Channels)
}

// keep is how many of a container's channels are handed on, if it may have two
// sides.
func (d *Decoder) keep(sides bool) int {
	if d.declared.Channels == 0 && sides {
		return 2
	}
	return d.declared.Channels
}

// guard runs f and makes an error of a panic: codecs written by others are fed
// with whatever strangers send.
func (d *Decoder) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = undecodable("%s: %v", d.found.Encoding, p)
		}
	}()
	err = f()
	if err != nil && errors.Is(err, errCodec) {
		return undecodable("%s: %w", d.found.Encoding, err)
	}
	return err
}

// errCodec marks an error that a codec found in its input.
var errCodec = errors.New("codec")

func codecError(err error) error {
	if hearken.CodeOf(err) != "" {
		return err
	}
	return fmt.Errorf("%w: %w", errCodec, err)
}

// A pcmParser takes samples that lie there plainly.
type pcmParser struct {
	out  *output
	kind sampleKind
	rest []byte // the beginning of a frame that is not complete
	pcm  []int16
}

func (p *pcmParser) write(b []byte) error {
	frame := p.kind.size() * p.out.channels
	if len(p.rest) > 0 {
		n := min(len(b), frame-len(p.rest))
		p.rest = append(p.rest, b[:n]...)
		b = b[n:]
		if len(p.rest) < frame {
			return nil
		}
		p.pcm = p.kind.append(p.pcm[:0], p.rest)
		p.rest = p.rest[:0]
		// The first frame goes together with the others, if they are few.
		if len(b) > frame*blockSamples {
			if err := p.out.interleaved(p.pcm); err != nil {
				return err
			}
			p.pcm = p.pcm[:0]
		}
	} else {
		p.pcm = p.pcm[:0]
	}
	for {
		n := min(len(b)-len(b)%frame, frame*blockSamples)
		p.pcm = p.kind.append(p.pcm, b[:n])
		b = b[n:]
		if err := p.out.interleaved(p.pcm); err != nil {
			return err
		}
		p.pcm = p.pcm[:0]
		if len(b) < frame {
			break
		}
	}
	p.rest = append(p.rest, b...)
	return nil
}

// close leaves half a frame behind: there is no sample in it.
func (p *pcmParser) close() error { return nil }
