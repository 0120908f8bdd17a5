package mic

import (
	"math"
	"slices"
	"testing"

	"github.com/jfreymuth/pulse/proto"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/test/speech"
)

// play plays a recording of one channel into a sink.
func (s *soundServer) play(sink string, samples []int16) {
	s.t.Helper()
	s.playChannels(sink, proto.ChannelMap{proto.ChannelMono}, samples)
}

// playChannels plays a recording of several channels into a sink.
func (s *soundServer) playChannels(sink string, channels proto.ChannelMap, samples []int16) {
	s.t.Helper()
	data := audio.AppendBytes(nil, samples)
	var upload proto.CreateUploadStreamReply
	err := s.conn.client.Request(&proto.CreateUploadStream{Name: "speech", Length: uint32(len(data)),
		SampleSpec: proto.SampleSpec{Format: proto.FormatInt16LE, Channels: byte(len(channels)), Rate: hearken.SampleRate},
		ChannelMap: channels, Properties: proto.PropList{}}, &upload)
	if err != nil {
		s.t.Fatal(err)
	}
	for len(data) > 0 {
		n := min(len(data), 32<<10)
		if err := s.conn.client.Send(upload.StreamIndex, data[:n]); err != nil {
			s.t.Fatal(err)
		}
		data = data[n:]
	}
	s.do(&proto.FinishUploadStream{StreamIndex: upload.StreamIndex})
	s.do(&proto.PlaySample{SinkIndex: proto.Undefined, SinkName: sink, Name: "speech",
		Volume: uint32(proto.VolumeNorm), Properties: proto.PropList{}})
}

// likeness is how like a is to what b holds from an offset on: 1 for the same
// but for its volume.
func likeness(a, b []int16, offset int) float64 {
	var ab, aa, bb float64
	for i, s := range a {
		j := i + offset
		if j < 0 || j >= len(b) {
			continue
		}
		x, y := float64(s), float64(b[j])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// find is where in b the sound a is, and how like it is there.
func find(a, b []int16, from, to int) (at int, like float64) {
	for offset := from; offset <= to; offset++ {
		if l := likeness(a, b, offset); l > like {
			at, like = offset, l
		}
	}
	return at, like
}

// The same speech on both channels comes out whole, and at the same moment. A
// busy machine can set the channels apart, and within seconds they are brought
// together again: only what stays apart is a fault.
func TestCapture_Speech(t *testing.T) {
	spoken := speech.Get(t, "ls-other-1688-142285-0003").PCM()
	s := startServer(t)
	h := listen(t, Config{Microphone: "speakers.monitor", System: "speakers"})
	end := s.tone("speakers", 400)
	h.hears(t, 400, 400) // both are awake
	end()
	h.hears(t, 0, 0)
	var apart []int
	for range 4 {
		off := h.hearsSpeech(t, s, spoken)
		if apart = append(apart, off); -20 <= off && off <= 20 {
			return
		}
	}
	t.Errorf("the channels stay apart: %v ms", apart)
}

// hearsSpeech plays speech and returns by how many milliseconds the second
// channel is behind the first.
func (h *heard) hearsSpeech(t *testing.T, s *soundServer, spoken []int16) int {
	t.Helper()
	s.play("speakers", spoken)
	eventually(t, "the speech begins", func() bool { return h.pitch(microphoneTrack) != 0 })
	h.mu.Lock()
	began := len(h.channels[0])
	h.mu.Unlock()
	eventually(t, "the speech is over", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.channels[0]) > began+len(spoken)+hearken.SampleRate/2
	})
	h.mu.Lock()
	quiet := began - int(pitchWindow.Milliseconds()*millisecond) // here it was silent still
	m, sys := slices.Clone(h.channels[microphoneTrack][quiet:]), slices.Clone(h.channels[systemTrack][quiet:])
	h.mu.Unlock()

	// Where the middle is, and then the rest, in short pieces: drift may move
	// them a little against each other.
	const short = hearken.SampleRate / 4
	first := slices.IndexFunc(m, func(s int16) bool { return s != 0 })
	at, _ := find(spoken[len(spoken)/2:][:short], m, first+len(spoken)/2-100*millisecond, first+len(spoken)/2+100*millisecond)
	var likes []float64
	for start := 0; start+short <= len(spoken); start += short {
		where := at + start - len(spoken)/2
		_, like := find(spoken[start:][:short], m, where-30*millisecond, where+30*millisecond)
		likes = append(likes, like)
	}
	slices.Sort(likes)
	if median := likes[len(likes)/2]; median < 0.95 || likes[0] < 0.5 {
		t.Errorf("the quarter seconds are like what was played by %.3f", likes)
	}
	offset, like := find(m[at:at+short], sys, at-100*millisecond, at+100*millisecond)
	if like < 0.95 {
		t.Errorf("the two channels are only %.3f alike", like)
	}
	t.Logf("likeness %.3f, at worst %.3f; channels %.1f ms apart", likes[len(likes)/2], likes[0], float64(offset-at)/millisecond)
	return (offset - at) / millisecond
}
