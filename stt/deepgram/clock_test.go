package deepgram

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// Whatever was sent, every sample is found where it was recorded.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(0, 1<<40).Draw(t, "start")
		c := newClock(start)
		var want []int64 // the position of each sample that was sent; -1 for padding
		pos := start
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				pos += rapid.Int64Range(1, 1<<30).Draw(t, "gap")
				c.jumpTo(pos)
			case 1:
				c.addPadding(20)
				for range 20 {
					want = append(want, -1)
				}
			default:
				n := rapid.Int64Range(1, 200).Draw(t, "samples")
				c.add(n)
				for range n {
					want = append(want, pos)
					pos++
				}
			}
		}
		if c.sent() != int64(len(want)) || c.endPosition() != pos {
			t.Fatalf("%d samples to %d, want %d to %d", c.sent(), c.endPosition(), len(want), pos)
		}
		from := rapid.IntRange(0, len(want)).Draw(t, "forgotten")
		c.forget(stt.Seconds(int64(from)))
		for i := from; i < len(want); i++ {
			middle := (float64(i) + 0.6) / hearken.SampleRate
			in := c.pieceAt(middle)
			if got := c.positionIn(in, float64(i)/hearken.SampleRate); want[i] >= 0 && got != want[i] {
				t.Fatalf("sample %d is at %d, want %d", i, got, want[i])
			}
			if got := c.position(float64(i+1) / hearken.SampleRate); want[i] >= 0 && got != want[i]+1 {
				t.Fatalf("sample %d ends at %d, want %d", i, got, want[i]+1)
			}
		}
		for _, wild := range []float64{-1, 1e300} {
			if got := c.position(wild); got < start || got > pos {
				t.Fatalf("%g is at %d", wild, got)
			}
		}
	})
}

func TestPace(t *testing.T) {
	p := pace{rate: 2}
	now := time.Unix(0, 0)
	var waits []time.Duration
	for _, idle := range []time.Duration{0, 0, 0, time.Hour, 0, 0} {
		now = now.Add(idle)
		wait := p.delay(hearken.SampleRate/2, now)
		waits = append(waits, wait)
		now = now.Add(wait)
	}
	quarter := 250 * time.Millisecond
	if diff := cmp.Diff([]time.Duration{0, 0, quarter, 0, 0, quarter}, waits); diff != "" {
		t.Error(diff)
	}
	p = pace{rate: -1}
	if wait := p.delay(1<<30, now); wait != 0 {
		t.Errorf("without bound there is a wait of %s", wait)
	}
}

// Time is measured by a clock that only goes forward: when somebody sets the
// computer's, no stream stalls and none is sent in a rush.
func TestStream_WallClock(t *testing.T) {
	s := newStream(t.Context(), nil, hearken.StreamConfig{})
	for name, at := range map[string]time.Time{"opened": s.opened, "sentAt": s.sentAt, "heardAt": s.receivedAt} {
		if !strings.Contains(at.String(), " m=") {
			t.Errorf("%s is on the wall clock", name)
		}
	}
	// Even a clock without that: no wait is longer than the sound is.
	p := pace{rate: 1}
	now := time.Unix(1e9, 0)
	for _, jump := range []time.Duration{0, -time.Hour, 24 * time.Hour, -time.Minute, 0} {
		now = now.Add(jump)
		if wait := p.delay(hearken.SampleRate, now); wait > 2*time.Second {
			t.Errorf("a wait of %s after a jump of %s", wait, jump)
		}
	}
}

// An answer to Finalize settles what was sent before it, and never more.
func TestStream_settled(t *testing.T) {
	answer, long, pause := message{FromFinalize: true}, message{}, message{SpeechFinal: true}
	at := func(times ...float64) (asked []finalizeRequest) {
		for _, t := range times {
			asked = append(asked, finalizeRequest{sent: toSamples(t), pause: t == 2})
		}
		return asked
	}
	for name, c := range map[string]struct {
		finalizes []finalizeRequest
		m         message
		end       float64
		to        float64
		paused    bool
		left      []finalizeRequest
	}{
		"Asked":       {at(3), answer, 3, 3, false, nil},
		"Rounded":     {at(1, 3), answer, 2.98, 3, false, nil},
		"Short":       {at(3), answer, 2.5, 3, false, nil},
		"UtteranceIs": {at(2), answer, 2, 2, true, nil},
		"Both":        {at(2, 3), answer, 3, 3, false, nil},
		"First":       {at(2, 3), answer, 1, 2, true, at(3)},
		"Stale":       {at(2, 3), answer, 2, 2, true, at(3)},
		"Unasked":     {nil, answer, 2, 2, false, nil},
		"Covered":     {at(2), pause, 3, 3, true, at(2)}, // its own answer may still come
		"Unanswered":  {at(2, 3), long, 12.5, 12.5, false, at(3)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStream(t.Context(), nil, hearken.StreamConfig{})
			s.finalizes = c.finalizes
			to, paused := s.settleFinal(&c.m, c.end)
			if to != c.to || paused != c.paused {
				t.Errorf("settled to %g, paused %t", to, paused)
			}
			if diff := cmp.Diff(c.left, s.finalizes, cmp.AllowUnexported(finalizeRequest{}), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	turns := func(texts ...[]string) []part {
		var parts []part
		for _, words := range texts {
			var p part
			for _, w := range words {
				p.words = append(p.words, word{Word: "x", Punctuated: w})
			}
			parts = append(parts, p)
		}
		return parts
	}
	for name, c := range map[string]struct {
		text  string
		parts []part
		want  []string
	}{
		"One":     {" All of  it. ", turns([]string{"All", "it."}), []string{"All of  it."}},
		"Two":     {"One two. Three!", turns([]string{"One", "two."}, []string{"Three!"}), []string{"One two.", "Three!"}},
		"NoSpace": {"はい。そうです。", turns([]string{"はい。"}, []string{"そう", "です。"}), []string{"はい。", "そうです。"}},
		"Same":    {"no no no", turns([]string{"no"}, []string{"no"}, []string{"no"}), []string{"no", "no", "no"}},
		"Other":   {"$20 please", turns([]string{"twenty"}, []string{"dollars", "please"}), []string{"twenty", "dollars please"}},
		"Empty":   {"", turns([]string{"a", "b"}), []string{"a b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, splitText(c.text, c.parts)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever a server says, what is told is in order and about sound that was
// sent.
func TestStream_Wild(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(0, 12), rapid.Float64(), rapid.Just(-1.0))
	speaker := rapid.Ptr(rapid.IntRange(-1, 2), true)
	words := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) word {
		return word{Word: rapid.StringN(0, 3, -1).Draw(t, "word"), Start: number.Draw(t, "start"), End: number.Draw(t, "end"), Speaker: speaker.Draw(t, "speaker")}
	}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		const start = 5 * hearken.SampleRate
		s := newStream(t.Context(), nil, hearken.StreamConfig{Start: start, Interim: true})
		s.events = make(chan hearken.StreamEvent, 1000)
		s.clock.add(4 * hearken.SampleRate)
		s.clock.jumpTo(20 * hearken.SampleRate)
		s.clock.add(6 * hearken.SampleRate)
		for range rapid.IntRange(1, 6).Draw(t, "results") {
			m := message{Start: number.Draw(t, "start"), Duration: number.Draw(t, "duration"), IsFinal: rapid.Bool().Draw(t, "final")}
			m.Channel.Alternatives = []alternative{{Transcript: rapid.StringN(0, 9, -1).Draw(t, "text"), Words: words.Draw(t, "words")}}
			s.handleResult(&m)
		}
		s.emitRemaining()
		close(s.events)
		through, end := int64(start), stt.Seconds(start)
		for e := range s.events {
			if e.Kind == hearken.Progress || e.Kind == hearken.Final {
				if e.FinalUntil < through || e.FinalUntil > 26*hearken.SampleRate {
					t.Fatalf("through goes from %d to %d", through, e.FinalUntil)
				}
				through = e.FinalUntil
			}
			seg := e.Segment
			if e.Kind == hearken.Partial && (seg.Text == "" || seg.StartTime < end || seg.EndTime < seg.StartTime || seg.EndTime > 26) {
				t.Fatalf("a partial %q from %f to %f after %f", seg.Text, seg.StartTime, seg.EndTime, end)
			}
			if e.Kind == hearken.Final {
				if seg.Status == hearken.Confirmed && seg.Text == "" {
					t.Fatal("a final without text")
				}
				if seg.StartTime < end || seg.EndTime < seg.StartTime || seg.EndTime > 26 {
					t.Fatalf("a final from %f to %f after %f", seg.StartTime, seg.EndTime, end)
				}
				end = seg.EndTime
			}
		}
	})
}
