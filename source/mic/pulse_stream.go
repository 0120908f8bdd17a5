package mic

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jfreymuth/pulse/proto"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// fragment is how much sound the server sends at a time.
const fragment = 40 * time.Millisecond

// A stream is the sound of one source on its way to a track.
type stream struct {
	track  int
	target target
	since  time.Time
	index  uint32      // on this connection
	output uint32      // on the server
	right  atomic.Bool // it was seen to come from its target
	killed atomic.Bool // by the server

	resampler *audio.Resampler // nil at 16 kHz
	in, out   []int16
}

// open asks for a stream from a target. It starts silent; see [stream.start].
//
// The server mixes to one channel but does not resample, which we do better.
// It may not move the stream: a stream whose device is unplugged shall end and
// not, say, turn from the speakers' monitor into the microphone. No role is
// given, because servers route by it.
func open(c *proto.Client, track int, t target, movable bool) (*stream, error) {
	rate := t.rate
	if rate < audio.MinRate || rate > audio.MaxRate {
		rate = audio.MaxRate
	}
	var reply proto.CreateRecordStreamReply
	err := c.Request(&proto.CreateRecordStream{
		SampleSpec:         proto.SampleSpec{Format: proto.FormatInt16LE, Channels: 1, Rate: uint32(rate)},
		ChannelMap:         proto.ChannelMap{proto.ChannelMono},
		ChannelVolumes:     proto.ChannelVolumes{uint32(proto.VolumeNorm)},
		SourceIndex:        proto.Undefined,
		SourceName:         t.name,
		BufferMaxLength:    proto.Undefined,
		BufferFragSize:     uint32(2 * rate * int(fragment/time.Millisecond) / 1000),
		DirectOnInputIndex: proto.Undefined,
		AdjustLatency:      true,
		Corked:             true,
		NoMove:             !movable,
		Properties:         proto.PropList{"media.name": proto.PropListString(trackTitles[track] + ", transcribed")},
	}, &reply)
	if err != nil {
		return nil, err
	}
	s := &stream{track: track, target: t, since: time.Now(), index: reply.StreamIndex, output: reply.SourceOutputIndex}
	if rate != hearken.SampleRate {
		s.resampler = audio.NewResampler(rate)
	}
	return s, nil
}

// start lets sound flow.
func (s *stream) start(c *proto.Client) error {
	return c.Request(&proto.CorkRecordStream{StreamIndex: s.index}, nil)
}

// close ends the stream. One that is gone already is no matter.
func (s *stream) close(c *proto.Client) {
	_ = c.Request(&proto.DeleteRecordStream{StreamIndex: s.index}, nil)
}

// errElsewhere says that a stream does not come from its target.
type errElsewhere struct{ source uint32 }

func (e errElsewhere) Error() string { return fmt.Sprintf("it comes from source %d", e.source) }

// verify asks the server where the stream comes from, and for a monitor also
// whether it is one still, and of that sink. Sound is taken only while the
// answer is right. A stream that is not connected yet is neither right nor an
// error.
func (s *stream) verify(c *proto.Client) error {
	var info proto.GetSourceOutputInfoReply
	err := c.Request(&proto.GetSourceOutputInfo{SourceOutpuIndex: s.output}, &info)
	if err == nil && info.SourceIndex != s.target.index && info.SourceIndex != proto.Undefined {
		err = errElsewhere{info.SourceIndex}
	}
	if err == nil && info.SourceIndex != proto.Undefined {
		var source proto.GetSourceInfoReply
		err = c.Request(&proto.GetSourceInfo{SourceIndex: info.SourceIndex}, &source)
		if err == nil && (source.SourceName != s.target.name || source.MonitorSourceIndex != s.target.sink) {
			err = errElsewhere{info.SourceIndex}
		}
	}
	s.right.Store(err == nil && info.SourceIndex != proto.Undefined)
	if errors.Is(err, proto.ErrNoSuchEntity) {
		s.killed.Store(true)
		return nil
	}
	return err
}

// take brings sound to its track.
func (s *stream) take(data []byte, d *mixer) {
	if !s.right.Load() {
		return
	}
	s.in = audio.AppendPCM16(s.in[:0], data)
	if s.resampler == nil {
		d.add(s.track, s.in)
		return
	}
	s.out = s.resampler.Append(s.out[:0], s.in)
	d.add(s.track, s.out)
}
