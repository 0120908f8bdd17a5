package audio

import (
	"bytes"
	"encoding/binary"
	"math"
)

// HeadSize is how many bytes are needed to recognise any format: two frames of
// the largest MP3.
const HeadSize = 4096

// rawHead is how many bytes of raw audio are checked: 20 ms at 16 kHz.
const rawHead = 640

// unsupported lists the first bytes of formats that are not decoded here, so
// that the error can name them.
var unsupported = []struct {
	at    int
	magic string
	name  string
}{
	{0, "RIFF", "RIFF that is not WAVE"}, {4, "ftyp", "MP4 or M4A"}, {0, "FORM", "AIFF"}, {0, "#!AMR", "AMR"}, {0, "caff", "CAF"},
	{0, "\x30\x26\xb2\x75", "WMA"}, {0, "FLV\x01", "FLV"}, {0, "MThd", "MIDI"}, {0, "wvpk", "WavPack"},
	{0, "\x89PNG", "a PNG picture"}, {0, "\xff\xd8\xff\xe0", "a JPEG picture"}, {0, "%PDF", "a PDF"},
	{0, "PK\x03\x04", "a ZIP archive"}, {0, "\x1f\x8b\x08", "gzip"},
}

// sniff recognises a stream by its first bytes, or returns "" if it needs more.
// Anything else is [Linear16], unless it is not plausible.
func sniff(b []byte, last bool) (string, error) {
	if len(b) < 12 && !last {
		return "", nil
	}
	switch {
	case hasAt(b, 0, "RIFF") && hasAt(b, 8, "WAVE"), hasAt(b, 0, "RF64") && hasAt(b, 8, "WAVE"):
		return WAV, nil
	case hasAt(b, 0, "OggS"):
		return OggOpus, nil
	case hasAt(b, 0, "\x1a\x45\xdf\xa3"):
		return WebMOpus, nil
	case hasAt(b, 0, "fLaC"):
		return FLAC, nil
	case hasAt(b, 0, "ID3") && len(b) >= 10 && b[3] < 0xff && b[6]|b[7]|b[8]|b[9] < 0x80:
		return MP3, nil
	}
	for _, f := range unsupported {
		if hasAt(b, f.at, f.magic) {
			return "", undecodable("it is %s", f.name)
		}
	}
	switch synced(b, mp3FrameSize) {
	case yes:
		return MP3, nil
	case maybe:
		if !last {
			return "", nil
		}
	}
	switch synced(b, adtsFrameSize) {
	case yes:
		return "", undecodable("it is AAC")
	case maybe:
		if !last {
			return "", nil
		}
	}
	if len(b) < rawHead && !last {
		return "", nil
	}
	return Linear16, plausible(b)
}

// DetectFormat recognises a container by its first bytes, up to [HeadSize]. It
// returns "" for any other format.
func DetectFormat(head []byte) string {
	kind, err := sniff(head[:min(len(head), HeadSize)], true)
	if err != nil || kind == Linear16 {
		return ""
	}
	return kind
}

// Probe returns why a [Decoder] would not decode a stream that is not declared
// and begins with head, of up to [HeadSize] bytes: what is in a container is
// known only from its content. It returns nil if nothing in head is wrong.
func Probe(head []byte) error {
	d, err := NewDecoder(Format{}, func(...[]int16) error { return nil })
	if err != nil {
		return err
	}
	_, err = d.Write(head[:min(len(head), HeadSize)])
	_ = d.Close() // that the stream ends here is no error
	return err
}

func hasAt(b []byte, at int, magic string) bool {
	return len(b) >= at+len(magic) && string(b[at:at+len(magic)]) == magic
}

// plausible rejects bytes that cannot be PCM16: text, or numbers without a
// pattern, such as compressed or encrypted data. Silence and every recording
// pass, because their samples resemble their neighbours or are mostly small. A
// sender of white noise at full scale must declare it.
func plausible(b []byte) error {
	if len(b) < 64 {
		return nil
	}
	silent := bytes.Count(b, b[:1]) == len(b) // telephones are silent in any byte
	if !silent && !bytes.ContainsFunc(b, func(r rune) bool { return r == 0xfffd || r < ' ' && r != '\n' && r != '\r' && r != '\t' }) {
		return undecodable("it is text")
	}
	if len(b) < 256 {
		return nil
	}
	var power, product, sum float64
	previous := 0.0
	n := len(b) / 2
	for i := range n {
		s := float64(int16(binary.LittleEndian.Uint16(b[2*i:])))
		power += s * s
		product += s * previous
		sum += s
		previous = s
	}
	rms := math.Sqrt(power/float64(n)) / 32768
	if rms > 0.42 && math.Abs(product/power) < 0.3 && math.Abs(sum)/float64(n)/32768 < 0.2 {
		if _, alike := smoothness(mulaw.append(nil, b)); alike > 0.6 {
			return undecodable("it looks like mu-law, which must be declared: encoding=mulaw&sample_rate=8000")
		}
		return undecodable("it looks like compressed or random data; if it is PCM16, declare encoding=linear16")
	}
	return nil
}

type match int

const (
	no match = iota
	maybe
	yes
)

// synced reports whether b begins with a frame that is followed by another: one
// alone may be a sample.
func synced(b []byte, size func([]byte) int) match {
	n := size(b)
	switch {
	case n == 0:
		return no
	case len(b) < n+6:
		return maybe
	case size(b[n:]) == 0:
		return no
	}
	return yes
}

// mp3FrameSize is the size of the frame of MPEG layer III whose header b
// begins with, or 0.
func mp3FrameSize(b []byte) int {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 || b[1]&0x06 != 0x02 {
		return 0
	}
	version, rateIndex, bitIndex := b[1]>>3&3, b[2]>>2&3, b[2]>>4
	if version == 1 || rateIndex == 3 || bitIndex == 0 || bitIndex == 15 {
		return 0
	}
	rate := [...]int{44100, 48000, 32000}[rateIndex]
	kbits := [...]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[bitIndex]
	samples := 144
	if version != 3 {
		kbits = [...]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[bitIndex]
		rate /= 2
		samples = 72
		if version == 0 {
			rate /= 2
		}
	}
	return samples*kbits*1000/rate + int(b[2]>>1&1)
}

// adtsFrameSize is the size of the AAC frame whose header b begins with, or 0.
func adtsFrameSize(b []byte) int {
	if len(b) < 6 || b[0] != 0xff || b[1]&0xf6 != 0xf0 || b[2]>>2&15 > 12 {
		return 0
	}
	n := int(b[3]&3)<<11 | int(b[4])<<3 | int(b[5])>>5
	if n < 7 {
		return 0
	}
	return n
}
