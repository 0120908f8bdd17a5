package mic

import (
	"fmt"
	"strings"

	"github.com/jfreymuth/pulse/proto"

	"github.com/hearken-dev/hearken"
)

// A world is what a sound server has at one moment.
type world struct {
	sink, source string // the names of the defaults
	sinks        []*proto.GetSinkInfoReply
	sources      []*proto.GetSourceInfoReply
}

// look asks the server for all of it.
func look(c *proto.Client) (*world, error) {
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
	return &world{sink: server.DefaultSinkName, source: server.DefaultSourceName, sinks: sinks, sources: sources}, nil
}

// A target is a source of the server that a track is to be taken from.
type target struct {
	index uint32
	name  string
	title string
	sink  uint32 // whose monitor it is, or proto.Undefined
	rate  int

	muted, suspended bool
}

const stateSuspended = 2

func newTarget(s *proto.GetSourceInfoReply) target {
	return target{index: s.SourceIndex, name: s.SourceName, title: title(s.Device, s.SourceName),
		sink: s.MonitorSourceIndex, rate: int(s.Rate), muted: s.Mute, suspended: s.State == stateSuspended}
}

// note is what people are told of a track that is taken from here.
func (t target) note() string {
	if t.muted {
		return t.title + ", which is muted in the system's sound settings"
	}
	return t.title
}

func title(description, name string) string {
	if description == "" {
		return name
	}
	return description
}

// pick finds what a track is to be taken from: the named device or the default
// one.
func (w *world) pick(track int, name string) (target, error) {
	if track == systemTrack {
		return w.system(name)
	}
	return w.microphone(name)
}

func (w *world) microphone(name string) (target, error) {
	if name != "" {
		for _, s := range w.sources {
			if s.SourceName == name || strings.EqualFold(s.Device, name) {
				return newTarget(s), nil
			}
		}
		return target{}, w.unknown(microphoneTrack, name)
	}
	for _, s := range w.sources {
		// Where there is no microphone the server takes the monitor of the
		// output for one, which would make M a copy of S.
		if s.SourceName == w.source && (s.MonitorSourceIndex == proto.Undefined || s.MonitorSourceName != w.sink) {
			return newTarget(s), nil
		}
	}
	return target{}, hearken.Errorf(hearken.NotFound, "there is no microphone.").
		WithTry("connect one, or enable its profile in the system's sound settings")
}

func (w *world) system(name string) (target, error) {
	sink := name
	if sink == "" {
		sink = w.sink
	}
	for _, s := range w.sinks {
		if s.SinkName != sink && s.MonitorSourceName != sink && (name == "" || !strings.EqualFold(s.Device, name)) {
			continue
		}
		for _, m := range w.sources {
			if m.SourceName == s.MonitorSourceName && m.MonitorSourceIndex == s.SinkIndex {
				t := newTarget(m)
				t.title = "monitor of " + title(s.Device, s.SinkName)
				return t, nil
			}
		}
		return target{}, hearken.Errorf(hearken.NotFound, "%s has no monitor.", title(s.Device, s.SinkName))
	}
	if name != "" {
		return target{}, w.unknown(systemTrack, name)
	}
	return target{}, hearken.Errorf(hearken.NotFound, "there is no output device.").
		WithTry("connect one, or enable its profile in the system's sound settings")
}

// unknown says that there is no device of a name, and which there are.
func (w *world) unknown(track int, name string) error {
	var names []string
	for _, d := range w.devices() {
		if d.Origin == origins[track] {
			names = append(names, d.Name)
		}
	}
	return noDevice(track, name, names)
}

var origins = [...]hearken.Origin{microphoneTrack: hearken.Microphone, systemTrack: hearken.System}

// devices lists inputs, then outputs. Monitors are left out: as a microphone
// they are no use but to those who know their names.
func (w *world) devices() []Device {
	var all []Device
	mic, _ := w.microphone("")
	for _, s := range w.sources {
		if s.MonitorSourceIndex == proto.Undefined || s.SourceName == mic.name {
			all = append(all, Device{Name: s.SourceName, Title: title(s.Device, s.SourceName),
				Origin: hearken.Microphone, Default: s.SourceName == mic.name})
		}
	}
	for _, s := range w.sinks {
		all = append(all, Device{Name: s.SinkName, Title: title(s.Device, s.SinkName),
			Origin: hearken.System, Default: s.SinkName == w.sink})
	}
	return all
}

// titleOf is how people call a source.
func (w *world) titleOf(index uint32) string {
	for _, s := range w.sources {
		if s.SourceIndex == index {
			return title(s.Device, s.SourceName)
		}
	}
	return "another device"
}
