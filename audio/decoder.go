package audio

import (
	"errors"
	"fmt"

	"github.com/hearken-dev/hearken"
)

// A Decoder decodes a stream of bytes. Write takes pieces of any size and
// delivers their audio before it returns. It is for one goroutine at a time.
type Decoder struct {
	declared Format
	found    Format
	out      output
	parser   parser // nil until the kind of stream is known
	head     []byte // what came until then
	doubt    string // see Doubt
	err      error  // the first error, which later calls return too
}

// A parser decodes one kind of stream.
type parser interface {
	// write takes the next bytes, all of them.
	write(p []byte) error
	// close ends the stream.
	close() error
}

// NewDecoder makes a decoder for the declared format. It calls sink with audio
// at [hearken.SampleRate], one slice per channel, all of the same length. Sink
// may not keep them; its error ends the decoding.
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

// Format is the format of the stream, with its own rate and the number of
// channels that are delivered. It is known before the first call of sink; until
// then it returns false.
func (d *Decoder) Format() (Format, bool) {
	f := d.found
	f.Rate, f.Channels = d.out.rate, d.out.outChannels
	if f.Encoding == OggOpus || f.Encoding == WebMOpus {
		f.Rate = opusRate // it is decoded directly at 16 kHz
	}
	return f, d.out.outChannels != 0
}

// Write decodes p. Bytes that cannot be decoded give an [*hearken.Error] with
// [hearken.Undecodable]. It returns an error of sink unchanged.
func (d *Decoder) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	if raw, ok := d.parser.(*pcmParser); ok {
		d.err = raw.write(p) // the busy path needs no guard
	} else {
		d.err = d.guard(func() error { return d.parse(p) })
	}
	if d.err != nil {
		return 0, d.err
	}
	return len(p), nil
}

// Close ends the stream and delivers what is still held. An empty stream is not
// an error; one that ends before any audio is.
func (d *Decoder) Close() error {
	if d.err != nil {
		if d.parser != nil {
			_ = d.guard(d.parser.close) // releases what it holds
		}
		if errors.Is(d.err, errClosed) {
			return nil
		}
		return d.err
	}
	if d.err = d.guard(d.finish); d.err != nil {
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
	for d.parser == nil {
		if len(p) == 0 {
			return nil
		}
		n := min(len(p), HeadSize-len(d.head))
		d.head = append(d.head, p[:n]...)
		p = p[n:]
		if err := d.recognise(len(d.head) == HeadSize); err != nil {
			return err
		}
	}
	return d.parser.write(p)
}

// recognise chooses the parser once the head is long enough. Last says that no
// more will come.
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
		d.parser = newPullParser(d, decodeFLAC)
	case MP3:
		d.parser = newPullParser(d, decodeMP3)
	}
	head := d.head
	d.head = nil
	return d.parser.write(head)
}

func (d *Decoder) setRaw() error {
	f := d.declared.raw()
	d.found = f
	kinds := map[string]sampleKind{Linear16: pcm16, Linear32: float32s, Mulaw: mulaw, Alaw: alaw}
	raw := &pcmParser{out: &d.out, kind: kinds[f.Encoding]}
	if f.Encoding == Linear16 {
		raw.law = &lawDetector{}
		raw.onLaw = d.foundLaw
	}
	d.parser = raw
	return d.out.set(f.Rate, f.Channels, f.Channels)
}

// foundLaw handles bytes that were taken for PCM16 and look like another
// encoding. If the sender declared PCM16, it may be right: it is told, and the
// audio goes on. Otherwise the guess was ours.
func (d *Decoder) foundLaw(encoding string) error {
	if d.declared.Encoding != "" {
		d.doubt = "this looks like " + lawName(encoding) + ", not PCM16; if it is, declare encoding=" + encoding + " and its sample_rate, mostly 8000."
		return nil
	}
	return hearken.Errorf(hearken.Undecodable, "this looks like %s, which must be declared: encoding=%s&sample_rate=8000; if it is PCM16, declare encoding=linear16.", lawName(encoding), encoding)
}

// Doubt says why the declared encoding seems to be wrong, and what to declare
// instead. It is empty as long as nothing suggests that.
func (d *Decoder) Doubt() string { return d.doubt }

// outputChannels is how many of a container's channels are delivered. Sides
// says that two channels may be two sides of a call.
func (d *Decoder) outputChannels(sides bool) int {
	if d.declared.Channels == 0 && sides {
		return 2
	}
	return d.declared.Channels
}

// guard runs f and turns a panic into an error: codecs written by others get
// untrusted bytes.
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

// A pcmParser decodes uncompressed samples.
type pcmParser struct {
	out  *output
	kind sampleKind
	rest []byte // of an incomplete frame
	pcm  []int16

	law   *lawDetector // nil if nothing is to be noticed any more
	onLaw func(encoding string) error
}

func (p *pcmParser) write(b []byte) error {
	if p.law != nil {
		if err := p.checkLaw(b); err != nil {
			return err
		}
	}
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
		// Deliver the first frame together with the others, if they are few.
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

// checkLaw looks for another encoding than PCM16, until it is sure.
func (p *pcmParser) checkLaw(b []byte) error {
	found := p.law.write(b)
	if p.law.done {
		p.law = nil
	}
	if found == "" {
		return nil
	}
	return p.onLaw(found)
}

// close drops an incomplete frame.
func (p *pcmParser) close() error { return nil }
