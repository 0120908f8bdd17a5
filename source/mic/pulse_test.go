package mic

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jfreymuth/pulse/proto"

	"github.com/hearken-dev/hearken"
)

func TestCapture_BothSides(t *testing.T) {
	s := startServer(t)
	s.tone("mike", 400)
	s.tone("speakers", 1000)
	h := listen(t, Config{})
	h.hears(t, 400, 1000)
	want := []string{"Microphone: Monitor of Mike.", "System audio: monitor of Speakers.", consent}
	if diff := cmp.Diff(want, h.Notes()); diff != "" {
		t.Error(diff)
	}
	for i, l := range h.Levels() {
		if l < 0.5 || l > 1 {
			t.Errorf("the level of %s is %v", trackTitles[i], l)
		}
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{0, 0}, h.Levels()); diff != "" {
		t.Errorf("levels when it has ended: %s", diff)
	}
	// It holds nothing on the server any more, and can be run again.
	eventually(t, "no stream is left", func() bool { return len(s.outputs()) == 0 })
}

func (s *soundServer) outputs() []*proto.GetSourceOutputInfoReply {
	s.t.Helper()
	var reply proto.GetSourceOutputInfoListReply
	if err := s.conn.client.Request(&proto.GetSourceOutputInfoList{}, &reply); err != nil {
		s.t.Fatal(err)
	}
	return reply
}

func TestCapture_OneSide(t *testing.T) {
	s := startServer(t)
	s.tone("mike", 400)
	s.tone("speakers", 1000)
	t.Run("Microphone", func(t *testing.T) {
		h := listen(t, Config{System: Off})
		h.hears(t, 400)
		if n := len(h.Levels()); n != 1 {
			t.Errorf("%d channels", n)
		}
	})
	t.Run("System", func(t *testing.T) {
		h := listen(t, Config{Microphone: Off})
		h.hears(t, 0, 1000)
		h.says(t, "Microphone: off.")
	})
	t.Run("Named", func(t *testing.T) {
		h := listen(t, Config{Microphone: "Monitor of Speakers", System: "mike"})
		h.hears(t, 1000, 400)
	})
}

// Sound that one channel has upside down is heard, on either side, though the
// sum of the channels is silence.
func TestCapture_UpsideDown(t *testing.T) {
	s := startServer(t)
	h := listen(t, Config{})
	endMike, endSpeakers := s.tone("mike", 400), s.tone("speakers", 1000)
	h.hears(t, 400, 1000) // both are awake
	endMike()
	endSpeakers()
	stereo := make([]int16, 2*20*hearken.SampleRate)
	for i := 0; i < len(stereo); i += 2 {
		stereo[i] = int16(8000 * math.Sin(2*math.Pi*700*float64(i/2)/hearken.SampleRate))
		stereo[i+1] = -stereo[i]
	}
	for _, sink := range []string{"mike", "speakers"} {
		s.playChannels(sink, proto.ChannelMap{proto.ChannelLeft, proto.ChannelRight}, stereo)
	}
	h.hears(t, 700, 700)
}

func TestCapture_Defaults(t *testing.T) {
	s := startServer(t)
	s.load("module-null-sink", "sink_name=hall norewinds=1 sink_properties=device.description=Hall")
	s.load("module-null-sink", "sink_name=headset norewinds=1 sink_properties=device.description=Headset")
	s.tone("mike", 400)
	s.tone("headset", 700)
	s.tone("hall", 1500)
	end := s.tone("speakers", 1000)
	h := listen(t, Config{})
	h.hears(t, 400, 1000)
	end() // what plays would be moved along
	s.do(&proto.SetDefaultSink{SinkName: "hall"})
	h.hears(t, 400, 1500)
	s.do(&proto.SetDefaultSource{SourceName: "headset.monitor"})
	h.hears(t, 700, 1500)
	want := []string{"Microphone: Monitor of Headset.", "System audio: monitor of Hall.",
		"System audio: monitor of Hall.", "Microphone: Monitor of Headset.", consent}
	got := h.Notes()
	for i := range got {
		if len(got[i]) > 9 && got[i][2] == ':' {
			got[i] = got[i][len("15:04:05 "):]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one note for each change: %s", diff)
	}
}

// A device that is unplugged is silence, and never the sound of the other.
func TestCapture_Unplugged(t *testing.T) {
	s := startServer(t)
	end := s.tone("mike", 400)
	s.tone("speakers", 1000)
	h := listen(t, Config{})
	h.hears(t, 400, 1000)

	end() // or it would be moved to the speakers
	s.do(&proto.UnloadModule{ModuleIndex: s.moduleOf("mike")})
	if w := s.world(); w.source != "speakers.monitor" {
		t.Fatalf("the server's microphone is now %q", w.source)
	}
	h.hears(t, 0, 1000)
	h.says(t, "Microphone is not captured: there is no microphone.")

	s.load("module-null-sink", "sink_name=mike norewinds=1 rate=16000")
	end = s.tone("mike", 700)
	s.do(&proto.SetDefaultSource{SourceName: "mike.monitor"})
	h.hears(t, 700, 1000)

	end()
	s.do(&proto.UnloadModule{ModuleIndex: s.moduleOf("speakers")})
	s.do(&proto.UnloadModule{ModuleIndex: s.moduleOf("mike")})
	h.hears(t, 0, 0)
	h.says(t, "System audio is not captured: there is no output device.")
	s.load("module-null-sink", "sink_name=speakers norewinds=1")
	s.tone("speakers", 1500)
	h.hears(t, 0, 1500)
}

// A named device that is gone is waited for, whatever the default is.
func TestCapture_NamedUnplugged(t *testing.T) {
	s := startServer(t)
	s.tone("speakers", 1000)
	end := s.tone("mike", 400)
	h := listen(t, Config{Microphone: Off, System: "mike"})
	h.hears(t, 0, 400)
	end()
	s.do(&proto.UnloadModule{ModuleIndex: s.moduleOf("mike")})
	h.hears(t, 0, 0)
	h.says(t, `There is no output device "mike".`)
	s.load("module-null-sink", "sink_name=mike norewinds=1")
	s.tone("mike", 700)
	h.hears(t, 0, 700)
}

// outputOn is the stream of a track on the server.
func (s *soundServer) outputOn(track int) *proto.GetSourceOutputInfoReply {
	s.t.Helper()
	for _, o := range s.outputs() {
		if strings.HasPrefix(o.MediaName, trackTitles[track]) {
			return o
		}
	}
	s.t.Fatalf("no stream for %s", trackTitles[track])
	return nil
}

func (s *soundServer) source(name string) uint32 {
	s.t.Helper()
	for _, i := range s.world().sources {
		if i.SourceName == name {
			return i.SourceIndex
		}
	}
	s.t.Fatalf("no source %s", name)
	return 0
}

func TestCapture_Moved(t *testing.T) {
	s := startServer(t)
	s.tone("mike", 400)
	s.tone("speakers", 1000)

	t.Run("Refused", func(t *testing.T) {
		h := listen(t, Config{})
		h.hears(t, 400, 1000)
		move := &proto.MoveSourceOutput{SourceOutputIndex: s.outputOn(systemTrack).SourceOutpuIndex,
			DeviceIndex: s.source("mike.monitor")}
		if err := s.conn.client.Request(move, nil); err == nil {
			t.Error("the stream could be moved")
		}
	})
	// A server that moves it nonetheless.
	t.Run("Noticed", func(t *testing.T) {
		h := listen(t, Config{}, func(p *pulse) { p.movable = true })
		h.hears(t, 400, 1000)
		before := s.outputOn(systemTrack).SourceOutpuIndex
		s.do(&proto.MoveSourceOutput{SourceOutputIndex: before, DeviceIndex: s.source("mike.monitor")})
		h.says(t, "the sound server connected it to Monitor of Mike and not to the monitor of Speakers")
		eventually(t, "there is another stream", func() bool {
			for _, o := range s.outputs() {
				if strings.HasPrefix(o.MediaName, trackTitles[systemTrack]) && o.SourceOutpuIndex != before {
					return o.SourceIndex == s.source("speakers.monitor")
				}
			}
			return false
		})
		h.hears(t, 400, 1000)
	})
}

func TestCapture_ServerRestart(t *testing.T) {
	s := startServer(t)
	s.tone("mike", 400)
	s.tone("speakers", 1000)
	h := listen(t, Config{})
	h.hears(t, 400, 1000)
	s.stop()
	h.hears(t, 0, 0)
	h.says(t, "the sound server does not respond")
	s.start()
	s.tone("mike", 700)
	s.tone("speakers", 1500)
	h.hears(t, 700, 1500)
	if now := h.Notes()[:2]; strings.Contains(strings.Join(now, " "), "gone") {
		t.Errorf("still %q", now)
	}
}

func TestCapture_Muted(t *testing.T) {
	s := startServer(t)
	s.tone("mike", 400)
	h := listen(t, Config{})
	h.hears(t, 400, 0)
	s.do(&proto.SetSourceMute{SourceIndex: s.source("mike.monitor"), Mute: true})
	h.says(t, "Microphone: Monitor of Mike, which is muted in the system's sound settings.")
	h.hears(t, 0, 0)
}

// A device that another program has taken for itself.
func TestCapture_Suspended(t *testing.T) {
	s := startServer(t)
	s.load("module-remap-source", "master=mike.monitor source_name=headset source_properties=device.description=Headset")
	s.do(&proto.SetDefaultSource{SourceName: "headset"})
	s.tone("mike", 400)
	s.tone("speakers", 1000)
	h := listen(t, Config{})
	h.hears(t, 400, 1000)
	taken := &proto.SuspendSource{SourceIndex: s.source("headset"), Suspend: true}
	s.do(taken)
	h.hears(t, 0, 1000)
	h.says(t, "Microphone is not captured: Headset is suspended")
	taken.Suspend = false
	s.do(taken)
	h.hears(t, 400, 1000)
	eventually(t, "it is captured again", func() bool { return h.Notes()[0] == "Microphone: Headset." })
}

func TestDevices(t *testing.T) {
	startServer(t)
	conn, err := dial(t.Context(), func(any) {})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.close()
	w, err := readState(&conn.client)
	if err != nil {
		t.Fatal(err)
	}
	want := []device{
		{Name: "mike.monitor", Title: "Monitor of Mike", Origin: hearken.Microphone, Default: true},
		{Name: "speakers", Title: "Speakers", Origin: hearken.System, Default: true},
		{Name: "mike", Title: "Mike", Origin: hearken.System},
	}
	if diff := cmp.Diff(want, w.devices()); diff != "" {
		t.Error(diff)
	}
}

// A server on this computer knows its user without a cookie, each time.
func TestDial_Often(t *testing.T) {
	startServer(t)
	for i := range 300 {
		conn, err := dial(t.Context(), func(any) {})
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		conn.close()
	}
}
