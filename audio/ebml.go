package audio

import "math/bits"

// unknownSize is the size of an element that lasts until its parent ends:
// recorders write it for what they cannot know yet.
const unknownSize = -1

// ebmlHead reads the identifier and size at the start of b. The length of the
// two is 0 if b is too short and negative if they are invalid.
func ebmlHead(b []byte) (id uint32, size int64, length int) {
	if len(b) == 0 {
		return 0, 0, 0
	}
	n := bits.LeadingZeros8(b[0]) + 1
	if n > 4 {
		return 0, 0, -1
	}
	if len(b) < n {
		return 0, 0, 0
	}
	for _, c := range b[:n] {
		id = id<<8 | uint32(c)
	}
	size, m := ebmlSize(b[n:])
	if m <= 0 {
		return 0, 0, m
	}
	return id, size, n + m
}

// ebmlSize reads a variable-length number.
func ebmlSize(b []byte) (v int64, length int) {
	if len(b) == 0 {
		return 0, 0
	}
	n := bits.LeadingZeros8(b[0]) + 1
	if n > 8 {
		return 0, -1
	}
	if len(b) < n {
		return 0, 0
	}
	v = int64(b[0]) & (1<<(8-n) - 1)
	for _, c := range b[1:n] {
		v = v<<8 | int64(c)
	}
	if v == 1<<(7*n)-1 {
		return unknownSize, n
	}
	return v, n
}

// ebmlChildren calls f with each child in b until one is cut off.
func ebmlChildren(b []byte, f func(id uint32, body []byte)) {
	for len(b) > 0 {
		id, size, n := ebmlHead(b)
		if n <= 0 || size < 0 || size > int64(len(b)-n) {
			return
		}
		f(id, b[n:n+int(size)])
		b = b[n+int(size):]
	}
}

// ebmlUint reads a number of up to 8 bytes.
func ebmlUint(b []byte) uint64 {
	var v uint64
	for _, c := range b[:min(8, len(b))] {
		v = v<<8 | uint64(c)
	}
	return v
}

// ebmlInt reads a signed number of up to 8 bytes.
func ebmlInt(b []byte) int64 {
	if len(b) == 0 {
		return 0
	}
	shift := 64 - 8*min(8, len(b))
	return int64(ebmlUint(b)<<shift) >> shift
}

// unlace splits a block's body into its frames; lacing is the block's flag. It
// returns nil if the sizes do not add up.
func unlace(b []byte, lacing byte) [][]byte {
	if lacing == 0 {
		return [][]byte{b}
	}
	if len(b) == 0 {
		return nil
	}
	count := int(b[0]) + 1
	b = b[1:]
	sizes := make([]int, 0, count)
	switch lacing {
	case 1: // Xiph
		for len(sizes) < count-1 {
			size := 0
			for {
				if len(b) == 0 {
					return nil
				}
				c := b[0]
				b = b[1:]
				size += int(c)
				if c < 255 {
					break
				}
			}
			sizes = append(sizes, size)
		}
	case 2: // all of the same size
		if len(b)%count != 0 {
			return nil
		}
		for len(sizes) < count-1 {
			sizes = append(sizes, len(b)/count)
		}
	case 3: // EBML: the first size, then differences
		size := int64(0)
		for len(sizes) < count-1 {
			v, n := ebmlSize(b)
			if n <= 0 {
				return nil
			}
			b = b[n:]
			if len(sizes) == 0 {
				size = v
			} else {
				if v == unknownSize {
					v = 1<<(7*n) - 1
				}
				size += v - (1<<(7*n-1) - 1)
			}
			if size < 0 || size > maxChunk {
				return nil
			}
			sizes = append(sizes, int(size))
		}
	}
	frames := make([][]byte, 0, count)
	for _, size := range sizes {
		if size > len(b) {
			return nil
		}
		frames = append(frames, b[:size])
		b = b[size:]
	}
	return append(frames, b)
}
