package audio

import (
	"bytes"
	"encoding/binary"
)

// DetectFormat tells the encoding of a container by its first bytes, as many as
// there are up to [HeadSize]. It returns "" for what is none of ours.
func DetectFormat(head []byte) string {
	kind, err := sniff(head[:min(len(head), maxHead)], true)
	if err != nil || kind == Linear16 {
		return ""
	}
	return kind
}

// HeadSize is how many bytes at either end of a file [DetectFormat] and
// [Duration] look at.
const HeadSize = 64 << 10

// Duration estimates how long the sound of a file is, in seconds, by its
// first and last bytes and its size. It returns 0 if they do not tell.
func Duration(head, tail []byte, size int64) float64 {
	switch DetectFormat(head) {
	case WAV:
		return wavDuration(head, size)
	case OggOpus:
		return oggDuration(head, tail)
	case WebMOpus:
		return webmDuration(head)
	case FLAC:
		return flacDuration(head)
	case MP3:
		return mp3Duration(head, size)
	}
	return 0
}

func wavDuration(b []byte, size int64) float64 {
	var perSecond int64
	for at := 12; at+8 <= len(b); {
		id, n := string(b[at:at+4]), int64(binary.LittleEndian.Uint32(b[at+4:]))
		at += 8
		switch {
		case id == "fmt " && at+12 <= len(b):
			perSecond = int64(binary.LittleEndian.Uint32(b[at+8:]))
		case id == "data" && perSecond > 0:
			if n == 0 || n > size-int64(at) {
				n = size - int64(at)
			}
			return float64(max(0, n)) / float64(perSecond)
		}
		if n += n & 1; n > int64(len(b)-at) {
			break
		}
		at += int(n)
	}
	return 0
}

func oggDuration(head, tail []byte) float64 {
	at := bytes.LastIndex(tail, []byte("OggS"))
	start := bytes.Index(head, []byte("OpusHead"))
	if at < 0 || len(tail) < at+14 || start < 0 || len(head) < start+12 {
		return 0
	}
	granule := int64(binary.LittleEndian.Uint64(tail[at+6:]))
	skip := int64(binary.LittleEndian.Uint16(head[start+10:]))
	return float64(max(0, granule-skip)) / opusRate
}

func webmDuration(head []byte) float64 {
	const idInfo, idScale, idDuration = 0x1549A966, 0x2AD7B1, 0x4489
	for len(head) > 0 {
		id, size, n := ebmlHead(head)
		switch {
		case n <= 0:
			return 0
		case id == idSegment:
			head = head[n:]
			continue
		case size < 0 || size > int64(len(head)-n):
			return 0
		case id == idInfo:
			scale, duration := uint64(1e6), 0.0
			ebmlChildren(head[n:n+int(size)], func(id uint32, body []byte) {
				switch id {
				case idScale:
					scale = ebmlUint(body)
				case idDuration:
					duration = ebmlFloat(body)
				}
			})
			if seconds := duration * float64(scale) / 1e9; seconds > 0 && seconds < 1e9 {
				return seconds
			}
			return 0
		}
		head = head[n+int(size):]
	}
	return 0
}

func flacDuration(b []byte) float64 {
	if len(b) < 26 {
		return 0
	}
	packed := binary.BigEndian.Uint64(b[18:])
	rate, samples := packed>>44, packed&(1<<36-1)
	if rate == 0 {
		return 0
	}
	return float64(samples) / float64(rate)
}

// mp3Duration believes the encoder's count of frames, and without one assumes
// that all of the file has the bit rate of its first frame.
func mp3Duration(b []byte, size int64) float64 {
	if len(b) >= 10 && string(b[:3]) == "ID3" {
		n := int64(b[6])<<21 | int64(b[7])<<14 | int64(b[8])<<7 | int64(b[9]) + 10
		if n >= int64(len(b)) {
			return 0
		}
		b, size = b[n:], size-n
	}
	frame := mp3FrameSize(b)
	if frame == 0 {
		return 0
	}
	seconds := mp3FrameSeconds(b)
	for _, tag := range []string{"Xing", "Info"} {
		at := bytes.Index(b[:min(len(b), 64)], []byte(tag))
		if at > 0 && len(b) >= at+12 && b[at+7]&1 != 0 {
			return float64(binary.BigEndian.Uint32(b[at+8:])) * seconds
		}
	}
	return float64(size) / float64(frame) * seconds
}

// mp3FrameSeconds is the length of the frame whose valid header b begins with.
func mp3FrameSeconds(b []byte) float64 {
	rate := [...]float64{44100, 48000, 32000}[b[2]>>2&3]
	switch b[1] >> 3 & 3 {
	case 3:
		return 1152 / rate
	case 2:
		return 576 / (rate / 2)
	}
	return 576 / (rate / 4)
}
