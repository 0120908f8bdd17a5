package mic

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jfreymuth/pulse/proto"

	"github.com/hearken-dev/hearken"
)

// A serverState lists a sound server's devices at one moment.
type serverState struct {
	sink, source string // the names of the defaults
	sinks        []*proto.GetSinkInfoReply
	sources      []*proto.GetSourceInfoReply
}

// readState asks the server for its devices.
func readState(c *proto.Client) (*serverState, error) {
	var server proto.GetServerInfoReply
	if err := c.Request(&proto.GetServerInfo{}, &server); err != nil {
		return nil, fmt.Errorf("ask for defaults: %w", err)
	}
	var sinks proto.GetSinkInfoListReply
	if err := c.Request(&proto.GetSinkInfoList{}, &sinks); err != nil {
		return nil, fmt.Errorf("list outputs: %w", err)
	}
	var sources proto.GetSourceInfoListReply
	if err := c.Request(&proto.GetSourceInfoList{}, &sources); err != nil {
		return nil, fmt.Errorf("list inputs: %w", err)
	}
	return &serverState{sink: server.DefaultSinkName, source: server.DefaultSourceName, sinks: sinks, sources: sources}, nil
}

// A target is the server's source for a track.
type target struct {
	index uint32
	name  string
	title string
	sink  uint32 // whose monitor it is, or proto.Undefined

	rate, channels   int
	muted, suspended bool
}

const stateSuspended = 2

func newTarget(s *proto.GetSourceInfoReply) target {
	return target{index: s.SourceIndex, name: s.SourceName, title: cmp.Or(s.Device, s.SourceName),
		sink: s.MonitorSourceIndex, rate: int(s.Rate), channels: int(s.Channels), muted: s.Mute, suspended: s.State == stateSuspended}
}

// note describes the target in the status.
func (t target) note() string {
	if t.muted {
		return t.title + ", which is muted in the system's sound settings"
	}
	return t.title
}

// pick finds the target of a track: the named device or the default one.
func (w *serverState) pick(track int, name string) (target, error) {
	if track == systemTrack {
		return w.system(name)
	}
	return w.microphone(name)
}

func (w *serverState) microphone(name string) (target, error) {
	if name != "" {
		for _, s := range w.sources {
			if s.SourceName == name || strings.EqualFold(s.Device, name) {
				return newTarget(s), nil
			}
		}
		return target{}, w.unknown(microphoneTrack, name)
	}
	for _, s := range w.sources {
		// Without a microphone, the server's default is the output's monitor,
		// which would record the other side twice.
		if s.SourceName == w.source && (s.MonitorSourceIndex == proto.Undefined || s.MonitorSourceName != w.sink) {
			return newTarget(s), nil
		}
	}
	return target{}, hearken.Errorf(hearken.NotFound, "there is no microphone.").
		WithTry("connect one, or enable its profile in the system's sound settings")
}

func (w *serverState) system(name string) (target, error) {
	sink := cmp.Or(name, w.sink)
	for _, s := range w.sinks {
		if s.SinkName != sink && s.MonitorSourceName != sink && (name == "" || !strings.EqualFold(s.Device, name)) {
			continue
		}
		for _, m := range w.sources {
			if m.SourceName == s.MonitorSourceName && m.MonitorSourceIndex == s.SinkIndex {
				t := newTarget(m)
				t.title = "monitor of " + cmp.Or(s.Device, s.SinkName)
				return t, nil
			}
		}
		return target{}, hearken.Errorf(hearken.NotFound, "%s has no monitor.", cmp.Or(s.Device, s.SinkName))
	}
	if name != "" {
		return target{}, w.unknown(systemTrack, name)
	}
	return target{}, hearken.Errorf(hearken.NotFound, "there is no output device.").
		WithTry("connect one, or enable its profile in the system's sound settings")
}

// unknown returns an error that lists the devices of a track.
func (w *serverState) unknown(track int, name string) error {
	var names []string
	for _, d := range w.devices() {
		if d.Origin == origins[track] {
			names = append(names, d.Name)
		}
	}
	return noDevice(track, name, names)
}

var origins = [...]hearken.Origin{microphoneTrack: hearken.Microphone, systemTrack: hearken.System}

// devices lists inputs, then outputs. It leaves out monitors, which are rarely
// useful as a microphone.
func (w *serverState) devices() []device {
	var all []device
	mic, _ := w.microphone("")
	for _, s := range w.sources {
		if s.MonitorSourceIndex == proto.Undefined || s.SourceName == mic.name {
			all = append(all, device{Name: s.SourceName, Title: cmp.Or(s.Device, s.SourceName),
				Origin: hearken.Microphone, Default: s.SourceName == mic.name})
		}
	}
	for _, s := range w.sinks {
		all = append(all, device{Name: s.SinkName, Title: cmp.Or(s.Device, s.SinkName),
			Origin: hearken.System, Default: s.SinkName == w.sink})
	}
	return all
}

// titleOf returns the display name of a source.
func (w *serverState) titleOf(index uint32) string {
	for _, s := range w.sources {
		if s.SourceIndex == index {
			return cmp.Or(s.Device, s.SourceName)
		}
	}
	return "another device"
}
