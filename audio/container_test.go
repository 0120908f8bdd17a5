package audio

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// oggPackets takes the packets out of a well-formed file.
func oggPackets(b []byte) (packets [][]byte) {
	var part []byte
	for len(b) > 27 {
		laces := b[27 : 27+int(b[26])]
		b = b[27+len(laces):]
		for _, n := range laces {
			part = append(part, b[:n]...)
			b = b[n:]
			if n < 255 {
				packets = append(packets, part)
				part = nil
			}
		}
	}
	return packets
}

// oggPages cuts a file into its pages.
func oggPages(b []byte) (pages [][]byte) {
	for len(b) > 0 {
		n := 27 + int(b[26])
		for _, lace := range b[27:n] {
			n += int(lace)
		}
		pages = append(pages, b[:n])
		b = b[n:]
	}
	return pages
}

func TestDecoder_OggDamaged(t *testing.T) {
	file := testdata(t, "chirp.opus")
	pages := oggPages(file)
	whole, _, err := decode(t, Format{}, file, 500)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("chained", func(t *testing.T) {
		got, _, err := decode(t, Format{}, append(slices.Clone(file), file...), 500)
		if err != nil || !slices.Equal(got[0], append(slices.Clone(whole[0]), whole[0]...)) {
			t.Errorf("two in a row are not twice the one: %v", err)
		}
	})
	t.Run("junk between pages", func(t *testing.T) {
		var b []byte
		for i, p := range pages {
			if i > 0 {
				b = append(b, strings.Repeat("OgOggOggX", 50)...)
			}
			b = append(b, p...)
		}
		got, _, err := decode(t, Format{}, b, 77)
		if err != nil || !same(got, whole) {
			t.Errorf("%v", err)
		}
	})
	t.Run("flipped bit", func(t *testing.T) {
		b := slices.Clone(file)
		b[len(b)-100] ^= 1
		got, _, err := decode(t, Format{}, b, 500)
		if err != nil || len(got[0]) >= len(whole[0]) {
			t.Errorf("a page with a wrong sum was heard: %v", err)
		}
	})
	t.Run("cut", func(t *testing.T) {
		if _, _, err := decode(t, Format{}, file[:len(file)-10], 500); err != nil {
			t.Error(err)
		}
	})
	t.Run("vorbis", func(t *testing.T) {
		page := slices.Clone(pages[0])
		copy(page[28:], "\x01vorbis")
		clear(page[22:26])
		binary.LittleEndian.PutUint32(page[22:], oggSum(page))
		if _, _, err := decode(t, Format{}, page, 500); hearken.CodeOf(err) != hearken.Undecodable || !strings.Contains(err.Error(), "Vorbis") {
			t.Error(err)
		}
	})
}

// element writes an EBML element.
func element(id uint32, body []byte) []byte {
	var b []byte
	for shift := 24; shift >= 0; shift -= 8 {
		if c := byte(id >> shift); c != 0 || len(b) > 0 {
			b = append(b, c)
		}
	}
	b = append(b, 0x08) // a size of five bytes
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// endless writes the head of an element whose size is not known.
func endless(id uint32) []byte {
	return append(binary.BigEndian.AppendUint32(nil, id), 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
}

// block is the body of a block of track 1.
func block(lacing byte, laces []byte, frames ...[]byte) []byte {
	b := []byte{0x81, 0, 0, lacing << 1}
	if lacing != 0 {
		b = append(append(b, byte(len(frames)-1)), laces...)
	}
	return append(b, slices.Concat(frames...)...)
}

func TestDecoder_WebMShapes(t *testing.T) {
	packets := oggPackets(testdata(t, "chirp.opus"))
	head, packets := packets[0], packets[2:]
	want, _, err := decode(t, Format{}, testdata(t, "chirp.opus"), 4000)
	if err != nil {
		t.Fatal(err)
	}
	entry := element(idTrackEntry, slices.Concat(element(idTrackNumber, []byte{1}), element(idCodecID, []byte("A_OPUS")), element(idCodecData, head)))
	video := element(idTrackEntry, slices.Concat(element(idTrackNumber, []byte{2}), element(idCodecID, []byte("V_VP8"))))
	start := slices.Concat(element(idEBML, nil), endless(idSegment), element(0xEC, make([]byte, 50)), element(idTracks, slices.Concat(video, entry)))

	xiph := func(frames [][]byte) (laces []byte) {
		for _, f := range frames[:len(frames)-1] {
			n := len(f)
			for ; n >= 255; n -= 255 {
				laces = append(laces, 255)
			}
			laces = append(laces, byte(n))
		}
		return laces
	}
	ebml := func(frames [][]byte) (laces []byte) {
		for i, f := range frames[:len(frames)-1] {
			n := len(f)
			if i > 0 {
				n += 1<<13 - 1 - len(frames[i-1])
			}
			laces = append(laces, 0x40|byte(n>>8), byte(n))
		}
		return laces
	}
	shapes := map[string]func(at int, frames [][]byte) []byte{
		"simple": func(_ int, frames [][]byte) (b []byte) {
			for _, f := range frames {
				b = append(b, element(idSimpleBlock, block(0, nil, f))...)
			}
			return b
		},
		"groups": func(_ int, frames [][]byte) (b []byte) {
			for _, f := range frames {
				b = append(b, element(idBlockGroup, slices.Concat(element(idBlock, block(0, nil, f)), element(0x9B, []byte{20})))...)
			}
			return b
		},
		"xiph lacing": func(_ int, frames [][]byte) []byte {
			return element(idSimpleBlock, block(1, xiph(frames), frames...))
		},
		"ebml lacing": func(_ int, frames [][]byte) []byte {
			return element(idSimpleBlock, block(3, ebml(frames), frames...))
		},
		"other track between": func(_ int, frames [][]byte) []byte {
			other := block(0, nil, []byte("picture"))
			other[0] = 0x82
			return slices.Concat(element(idSimpleBlock, other), element(idSimpleBlock, block(1, xiph(frames), frames...)))
		},
	}
	for name, shape := range shapes {
		for _, open := range []bool{true, false} {
			file := slices.Clone(start)
			for at := 0; at < len(packets); at += 10 {
				body := slices.Concat(element(0xE7, []byte{byte(at)}), shape(at, packets[at:min(at+10, len(packets))]))
				if open {
					file = append(append(file, endless(idCluster)...), body...)
				} else {
					file = append(file, element(idCluster, body)...)
				}
			}
			for _, piece := range []int{1, 100, len(file)} {
				got, _, err := decode(t, Format{}, file, piece)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				// WebM does not cut the end here; Ogg did.
				if n := len(want[0]); len(got[0]) < n || !slices.Equal(got[0][:n], want[0]) {
					t.Errorf("%s, open %v, in pieces of %d: it sounds different", name, open, piece)
				}
			}
			twice, _, err := decode(t, Format{}, append(slices.Clone(file), file...), 999)
			if once, _, _ := decode(t, Format{}, file, 999); err != nil || len(twice[0]) != 2*len(once[0]) {
				t.Errorf("%s: a second recording after the first: %v", name, err)
			}
		}
	}

	t.Run("padding", func(t *testing.T) {
		discard := binary.BigEndian.AppendUint64(nil, 10_000_000) // 10 ms
		file := slices.Concat(start, endless(idCluster), element(idBlockGroup, slices.Concat(element(idBlock, block(0, nil, packets[0])), element(idDiscard, discard))))
		got, _, err := decode(t, Format{}, file, 50)
		if err != nil || len(got[0]) != 160-104 {
			t.Errorf("%d samples, %v; 20 ms without 10 ms at the end and 312/3 samples at the start", len(got[0]), err)
		}
	})
	t.Run("huge block", func(t *testing.T) {
		file := append(slices.Clone(start), 0xA3, 0x08, 0x7f, 0xff, 0xff, 0xff)
		if _, _, err := decode(t, Format{}, file, 50); hearken.CodeOf(err) != hearken.Undecodable {
			t.Error(err)
		}
	})
	t.Run("wrong lacing", func(t *testing.T) {
		file := slices.Concat(start, endless(idCluster), element(idSimpleBlock, block(1, []byte{255, 255, 255}, []byte("a"), []byte("b"))))
		if _, _, err := decode(t, Format{}, file, 50); hearken.CodeOf(err) != hearken.Undecodable {
			t.Error(err)
		}
	})
}

// A packet that does not decode costs its own time and nothing else.
func TestDecoder_OpusLoss(t *testing.T) {
	packets := oggPackets(testdata(t, "chirp.opus"))
	file := slices.Concat(element(idEBML, nil), endless(idSegment), element(idTrackEntry, slices.Concat(element(idTrackNumber, []byte{1}), element(idCodecID, []byte("A_OPUS")), element(idCodecData, packets[0]))))
	for i, p := range packets[2:] {
		if i == 20 {
			p = []byte{p[0] | 2, 252} // says that two frames follow; they do not
		}
		file = append(file, element(idSimpleBlock, block(0, nil, p))...)
	}
	got, _, err := decode(t, Format{}, file, 500)
	if err != nil {
		t.Fatal(err)
	}
	if want := (len(packets)-2)*320 + 320 - 104; len(got[0]) != want {
		t.Errorf("%d samples, want %d", len(got[0]), want)
	}
	garbage := slices.Clone(file[:bytes.Index(file, element(idSimpleBlock, block(0, nil, packets[2])))])
	for range 10 {
		garbage = append(garbage, element(idSimpleBlock, block(0, nil, []byte{3}))...)
	}
	if _, _, err := decode(t, Format{}, garbage, 500); hearken.CodeOf(err) != hearken.Undecodable {
		t.Errorf("a stream of nothing but wrong packets: %v", err)
	}
}
