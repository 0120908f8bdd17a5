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

// fragment is how much audio the server sends at a time.
const fragment = 40 * time.Millisecond

// A stream delivers one source's audio to a track.
type stream struct {
	track    int
	target   target
	since    time.Time
	index    uint32      // on this connection
	output   uint32      // on the server
	verified atomic.Bool // known to come from its target
	killed   atomic.Bool // by the server

	stereo    *downmixer       // nil for a source of one channel
	resampler *audio.Resampler // nil at 16 kHz
	in, out   []int16
}

// open creates a stream from a target. It is paused until [stream.start].
//
// The server mixes to two channels at most, and we mix those: it would let them
// cancel each other. It does not resample; our resampler is better.
// It must not move the stream: when a device is unplugged, its stream must end
// instead of, say, switching from the speakers' monitor to the microphone. The
// stream has no role, because servers route by it.
func open(c *proto.Client, track int, t target, movable bool) (*stream, error) {
	rate := t.rate
	if rate < audio.MinRate || rate > audio.MaxRate {
		rate = audio.MaxRate
	}
	channels, volumes := proto.ChannelMap{proto.ChannelMono}, proto.ChannelVolumes{uint32(proto.VolumeNorm)}
	if t.channels > 1 {
		channels = proto.ChannelMap{proto.ChannelLeft, proto.ChannelRight}
		volumes = append(volumes, uint32(proto.VolumeNorm))
	}
	var reply proto.CreateRecordStreamReply
	err := c.Request(&proto.CreateRecordStream{
		SampleSpec:         proto.SampleSpec{Format: proto.FormatInt16LE, Channels: byte(len(channels)), Rate: uint32(rate)},
		ChannelMap:         channels,
		ChannelVolumes:     volumes,
		SourceIndex:        proto.Undefined,
		SourceName:         t.name,
		BufferMaxLength:    proto.Undefined,
		BufferFragSize:     uint32(2 * len(channels) * rate * int(fragment/time.Millisecond) / 1000),
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
	if len(channels) > 1 {
		s.stereo = &downmixer{}
	}
	if rate != hearken.SampleRate {
		s.resampler = audio.NewResampler(rate)
	}
	return s, nil
}

// start starts the stream.
func (s *stream) start(c *proto.Client) error {
	return c.Request(&proto.CorkRecordStream{StreamIndex: s.index}, nil)
}

// close deletes the stream, if it still exists.
func (s *stream) close(c *proto.Client) {
	_ = c.Request(&proto.DeleteRecordStream{StreamIndex: s.index}, nil)
}

// errElsewhere reports that a stream comes from another source than its target.
type errElsewhere struct{ source uint32 }

func (e errElsewhere) Error() string { return fmt.Sprintf("it comes from source %d", e.source) }

// verify asks the server where the stream comes from and, for a monitor, of which
// sink it is the monitor. Audio is used only while the answer matches the
// target. A stream that is not connected yet is neither verified nor an error.
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
	s.verified.Store(err == nil && info.SourceIndex != proto.Undefined)
	if errors.Is(err, proto.ErrNoSuchEntity) {
		s.killed.Store(true)
		return nil
	}
	return err
}

// deliver passes audio to the stream's track.
func (s *stream) deliver(data []byte, d *mixer) {
	if !s.verified.Load() {
		return
	}
	s.in = audio.AppendPCM16(s.in[:0], data)
	samples := s.in
	if s.stereo != nil {
		samples = s.stereo.mix(samples)
	}
	if s.resampler != nil {
		s.out = s.resampler.Append(s.out[:0], samples)
		samples = s.out
	}
	d.add(s.track, samples)
}
