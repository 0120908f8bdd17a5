package audio

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/hearken-dev/hearken"
)

// maxPacket limits one packet of an Ogg stream. The tags may hold a picture,
// but nothing needs more than this.
const maxPacket = 1 << 20

// maxJunk is how much is skipped in search of the next page: two lost ones.
const maxJunk = 128 << 10

// An oggParser splits Ogg pages and feeds the packets of the first Opus stream
// to a decoder. Streams may follow one another.
type oggParser struct {
	opus   opusStream
	page   []byte // the current page so far
	serial uint32
	stage  int    // expected: 0 the head, 1 the tags, 2 audio
	part   []byte // a packet that continues in the next page
	broken bool   // it began in a page that was lost
	seen   bool   // a page
	last   int64  // granule position of the page before
	junk   int    // bytes skipped in search of a page
}

func (o *oggParser) write(p []byte) error {
	for len(p) > 0 {
		// A page is at most 27+255+255*255 bytes, so it is collected whole.
		n := min(len(p), o.missing())
		o.page = append(o.page, p[:n]...)
		p = p[n:]
		for len(o.page) > 0 && o.missing() == 0 {
			if err := o.parsePage(); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing is how many bytes of the current page are still to come.
func (o *oggParser) missing() int {
	const fixed = 27
	if len(o.page) >= 4 && string(o.page[:4]) != "OggS" {
		return 0 // not a page at all
	}
	if len(o.page) < fixed {
		return fixed - len(o.page)
	}
	head := fixed + int(o.page[26])
	if len(o.page) < head {
		return head - len(o.page)
	}
	size := head
	for _, lace := range o.page[fixed:head] {
		size += int(lace)
	}
	return max(0, size-len(o.page))
}

// parsePage handles a complete page, or searches for the next one if this is
// none.
func (o *oggParser) parsePage() error {
	if len(o.page) < 27 || string(o.page[:4]) != "OggS" || o.page[4] != 0 || oggSum(o.page) != binary.LittleEndian.Uint32(o.page[22:]) {
		return o.resync()
	}
	o.junk = 0
	err := o.read(o.page)
	o.page = o.page[:0]
	return err
}

// resync skips what is not a page.
func (o *oggParser) resync() error {
	for i := 1; i < len(o.page); i++ {
		if o.page[i] == 'O' && string(o.page[i:min(i+4, len(o.page))]) == "OggS"[:min(4, len(o.page)-i)] {
			o.junk += i
			o.page = o.page[:copy(o.page, o.page[i:])]
			return o.tooMuchJunk()
		}
	}
	o.junk += len(o.page)
	o.page = o.page[:0]
	return o.tooMuchJunk()
}

func (o *oggParser) tooMuchJunk() error {
	o.broken, o.part = true, o.part[:0]
	if o.junk > maxJunk {
		return undecodable("ogg: no page to be found")
	}
	return nil
}

// read handles the packets of a page.
func (o *oggParser) read(page []byte) error {
	flags := page[5]
	granule := int64(binary.LittleEndian.Uint64(page[6:]))
	serial := binary.LittleEndian.Uint32(page[14:])
	laces := page[27 : 27+int(page[26])]
	body := page[27+len(laces):]

	if flags&2 != 0 { // a stream begins
		if o.stage == 2 && serial != o.serial && o.opus.good == 0 {
			return nil // another track of the same recording
		}
		if len(body) < 8 || string(body[:8]) != "OpusHead" {
			if o.stage == 0 && len(body) >= 7 && string(body[1:7]) == "vorbis" {
				return undecodable("ogg with Vorbis, not Opus")
			}
			return nil
		}
		o.serial, o.stage, o.last, o.seen = serial, 0, 0, true
		o.part, o.broken = o.part[:0], false
	}
	if !o.seen || serial != o.serial {
		return nil
	}
	if flags&1 == 0 {
		o.part, o.broken = o.part[:0], false
	} else if len(o.part) == 0 {
		o.broken = true
	}
	for _, lace := range laces {
		o.part = append(o.part, body[:lace]...)
		body = body[lace:]
		if len(o.part) > maxPacket {
			return undecodable("ogg: a packet of more than %d bytes", maxPacket)
		}
		if lace == 255 {
			continue // the packet continues
		}
		if !o.broken {
			if err := o.packet(o.part); err != nil {
				return err
			}
		}
		o.part, o.broken = o.part[:0], false
	}
	return o.finishPage(granule, flags&4 != 0)
}

func (o *oggParser) packet(p []byte) error {
	switch o.stage {
	case 0:
		o.stage = 1
		return o.opus.start(p)
	case 1:
		o.stage = 2
		if len(p) >= 8 && string(p[:8]) == "OpusTags" {
			return nil
		}
	}
	return o.opus.packet(p)
}

// finishPage delivers the audio of a page. On the last page the granule
// position says where the audio ends within the last packet.
func (o *oggParser) finishPage(granule int64, last bool) error {
	if o.stage != 2 {
		return nil
	}
	cut := 0
	if held := o.opus.held(); last && granule >= 0 && o.last >= 0 {
		want := (granule - o.last) * hearken.SampleRate / opusRate
		if want >= 0 && want < int64(held) {
			cut = held - int(want)
		}
	}
	if granule >= 0 {
		o.last = granule
	}
	return o.opus.emit(cut)
}

func (o *oggParser) close() error {
	if o.stage == 0 {
		return undecodable("ogg: no Opus in it")
	}
	return o.opus.emit(0)
}

// oggSum is a page's checksum: CRC-32 with the usual polynomial, but with
// reversed bits, nothing inverted, and its own field taken for zero.
func oggSum(page []byte) uint32 {
	sum := uint32(0)
	for i, b := range page {
		if i >= 22 && i < 26 {
			b = 0
		}
		sum = sum<<8 ^ oggTable[byte(sum>>24)^b]
	}
	return sum
}

var oggTable = func() (t [256]uint32) {
	poly := bits.Reverse32(crc32.IEEE)
	for i := range t {
		r := uint32(i) << 24
		for range 8 {
			if r&(1<<31) != 0 {
				r = r<<1 ^ poly
			} else {
				r <<= 1
			}
		}
		t[i] = r
	}
	return t
}()
