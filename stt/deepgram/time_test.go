package deepgram_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/deepgram"
)

// live writes sound as it comes from a microphone.
func live(stream hearken.Stream, pos int64, pcm []int16) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for frame := range slices.Chunk(pcm, 1600) {
		<-tick.C
		if err := stream.Write(hearken.Frame{Pos: pos, PCM: frame}); err != nil {
			return err
		}
		pos += int64(len(frame))
	}
	return nil
}

func open(t *testing.T, p hearken.Provider) (hearken.Stream, <-chan []hearken.StreamEvent) {
	t.Helper()
	stream, err := p.Open(t.Context(), english)
	if err != nil {
		t.Fatal(err)
	}
	return stream, collect(stream)
}

// Interim results grow from where the last final ended, and may shrink.
func TestStream_Interim(t *testing.T) {
	var events []hearken.StreamEvent
	synctest.Test(t, func(t *testing.T) {
		stream, collected := open(t, newFake(t, meeting).servePipes(t, deepgram.Config{}))
		if err := live(stream, 0, meetingAudio); err != nil {
			t.Fatal(err)
		}
		stream.Close()
		events = <-collected
	})
	var shown []string
	for _, e := range events {
		switch {
		case e.Kind == hearken.Partial:
			shown = append(shown, e.Segment.Text)
		case e.Kind == hearken.Final && e.Segment.Spoken():
			shown = append(shown, "= "+e.Segment.Text)
		case e.Kind == hearken.SpeechStarted:
			shown = append(shown, fmt.Sprintf("> %.2f", e.Time))
		}
	}
	want := []string{
		"> 0.60",
		"Could yo",
		"Could you send m",
		"Could you send me the pl",
		"Could you send me the plan for th",
		"Could you send me the plan for the new hou",
		"= Could you send me the plan for the new",
		"House by fri",
		"House by friday please beca",
		"House by friday please because we bui",
		"House by friday please because we build in ma",
		"= House by friday please because we build in may",
		"> 5.60",
		"Of cou",
		"Of course i wi",
		"= Of course i will",
		"> 9.10",
		"Thank yo",
		"Thank you very mu",
		"= Thank you very",
		"= Much",
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
}

// A stream without sound for an hour is kept alive by text, and goes on.
func TestStream_KeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, meeting)
		stream, collected := open(t, f.servePipes(t, deepgram.Config{}))
		if err := live(stream, 0, meetingAudio[:5*16000]); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		if err := live(stream, 5*16000, meetingAudio[5*16000:]); err != nil {
			t.Fatal(err)
		}
		stream.Close()
		events := <-collected
		if err := failure(events); err != nil {
			t.Fatal(err)
		}
		v := f.conn(t, 0)
		if n := len(v.texts) - 1; n < 3600/5 || n > 3600/3 || strings.Count(strings.Join(v.texts, " "), "KeepAlive") != n {
			t.Errorf("told %d times in an hour", n)
		}
		if !strings.Contains(finals(events), "Much") {
			t.Errorf("finals: %s", finals(events))
		}
	})
}

// A sound too short to be answered is no reason to give a server up.
func TestStream_ShortSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, meeting)
		stream, collected := open(t, f.servePipes(t, deepgram.Config{}))
		if err := live(stream, 0, meetingAudio[:4800]); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		stream.Close()
		if err := failure(<-collected); err != nil {
			t.Error(err)
		}
		if err := stream.Write(hearken.Frame{Pos: 4800, PCM: meetingAudio[4800:6400]}); err == nil {
			t.Error("Write after Close succeeded")
		}
		if err := stream.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
}

// While sound comes there is no need for anything else.
func TestStream_Live(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, meeting)
		stream, collected := open(t, f.servePipes(t, deepgram.Config{}))
		if err := live(stream, 0, meetingAudio); err != nil {
			t.Fatal(err)
		}
		stream.Close()
		for _, e := range <-collected {
			if e.Lag > 0 || e.Kind == hearken.Failed {
				t.Errorf("event %+v", e)
			}
		}
		if diff := cmp.Diff([]string{"CloseStream"}, f.conn(t, 0).texts); diff != "" {
			t.Error(diff)
		}
	})
}

// The server gets sound within ten seconds even if nobody has any yet, and
// what it hears later is still where it was said.
func TestStream_FirstSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, meeting)
		stream, collected := open(t, f.servePipes(t, deepgram.Config{}))
		<-time.After(25 * time.Second)
		if err := live(stream, 0, meetingAudio); err != nil {
			t.Fatal(err)
		}
		stream.Close()
		events := <-collected
		if err := failure(events); err != nil {
			t.Fatal(err)
		}
		if first := f.conn(t, 0).firstSound; first >= 10*time.Second {
			t.Errorf("the first sound came after %s", first)
		}
		if !strings.HasPrefix(finals(events), "0.60 2.80 C0 Could") {
			t.Errorf("finals: %s", finals(events))
		}
		if e := events[len(events)-1]; e.FinalUntil != 14*hearken.SampleRate {
			t.Errorf("the last event is %+v", e)
		}
	})
}

// What was kept is sent faster than it was said, but not much.
func TestStream_Pace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, meeting)
		stream, collected := open(t, f.servePipes(t, deepgram.Config{}))
		began := time.Now()
		if err := write(stream, 0, audioOf(meeting, 60)); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began) // of the bubble's time
		stream.Close()
		if err := failure(<-collected); err != nil {
			t.Fatal(err)
		}
		if v := f.conn(t, 0); v.over > 1.01 || took > 48*time.Second {
			t.Errorf("%.2f s too early, %s in all", v.over, took)
		}
	})
}

// A server that says nothing while it gets sound is given up, and so is one
// that takes none, one that does not finish, and one that does not answer.
func TestStream_Stall(t *testing.T) {
	mute := func(v *fakeConn) bool {
		v.mute = true
		return true
	}
	deaf := func(v *fakeConn) bool {
		v.idle.Stop()
		<-v.f.stop
		return false
	}
	for name, c := range map[string]struct {
		fault func(*fakeConn) bool
		at    float64
		sound []int16
		want  string
	}{
		"Mute":       {mute, 2, audioOf(nil, 60), "Deepgram got audio and did not answer for 10s."},
		"Deaf":       {deaf, 2, audioOf(nil, 60), "Deepgram got audio and did not answer for 10s."},
		"MuteAtEnd":  {mute, 4, audioOf(nil, 4), "Deepgram did not finish the stream and sent nothing for 10s."},
		"DeafAtEnd":  {deaf, 4, audioOf(nil, 4), "Deepgram got audio and did not answer for 10s."},
		"MuteAtOnce": {mute, 0.1, audioOf(nil, 60), "Deepgram got audio and did not answer for 10s."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, meeting)
				f.at, f.fault = c.at, c.fault
				stream, collected := open(t, f.servePipes(t, deepgram.Config{}))
				wrote := live(stream, 0, c.sound)
				if wrote == nil {
					stream.Close()
				}
				events := <-collected
				err := failure(events)
				if err == nil || err.Error() != c.want || hearken.CodeOf(err) != hearken.ProviderConnectionFailed {
					t.Errorf("failed with %v", err)
				}
				if wrote != nil && !errors.Is(wrote, err) {
					t.Errorf("Write: %v", wrote)
				}
				if strings.HasPrefix(name, "Mute") && len(c.sound) > 10*16000 && !slices.ContainsFunc(events, func(e hearken.StreamEvent) bool { return e.Lag > 7 }) {
					t.Error("nobody was told how far behind the server is")
				}
			})
		})
	}
}

// A server that takes the connection and no more does not hold up a session.
func TestProvider_Open_NoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, meeting)
		f.refuse = func(http.ResponseWriter) { <-f.stop }
		_, err := f.servePipes(t, deepgram.Config{}).Open(t.Context(), english)
		if err == nil || err.Error() != "Deepgram did not answer within 10s." {
			t.Errorf("Open: %v", err)
		}
	})
}
