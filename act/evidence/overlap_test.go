package evidence

import (
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// TestFinder_Overlap has words that the microphone picked up and that the other
// side may have said in other words, because an echo is easily misheard.
func TestFinder_Overlap(t *testing.T) {
	const own = "M 10-14 Tell Bob that the boat is sold."
	for _, tt := range []struct {
		name  string
		lines []string
		want  bool
	}{
		{"Alone", []string{own}, false},
		{"Misheard", []string{own, "S 9.9-13.9 Talbots go into town."}, true},
		{"InBetween", []string{own, "S 12-12.6 I see."}, true},
		{"AnswerAtOnce", []string{"S 6-10 And what about it?", own}, false},
		{"AnswerTooEarly", []string{"S 6-10.2 And what about it?", own}, true},
		{"Answered", []string{own, "S 14-18 Certainly."}, false},
		{"AnsweredEarly", []string{own, "S 13.8-18 Certainly."}, false},
		{"Interrupted", []string{own, "S 13-18 Certainly."}, true},
		{"LongBefore", []string{"S 1-5 And what about it?", own}, false},
		{"SecondOfTwo", []string{"M 5-9 Tell Bob that", "M 10-12 the boat is sold.", "S 10.5-12 Hm, well."}, true},
		{"MarkedEcho", []string{own, "Me 9-13 Talbots go into town."}, true},
		{"Translation", []string{"M 10-14 Sag Bob, dass alles weg ist.", "MT 10-14 Tell Bob that the boat is sold.", "S 10-14 Talbot sagt viel."}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := talk(1, tt.lines...).find(t, Query{Args: []Arg{text("Bob, the boat is sold")}})[0]
			if got.Source != mine || got.Overlap != tt.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A short word lies within the time that a loudspeaker may be late.
func TestFinder_OverlapShort(t *testing.T) {
	for far, want := range map[string]bool{"S 8-10.1 Shall we go?": true, "S 9.8-9.95 Bop.": true, "S 6-9.8 Shall we go?": false} {
		got := talk(1, far, "M 10-10.4 Bob.").find(t, Query{Args: []Arg{to("bob@hub.example", "Bob")}})[0]
		if got.Source != mine || got.Overlap != want {
			t.Errorf("%s: %+v", far, got)
		}
	}
}

// Only what this computer plays can be an echo with other words: on a hub with
// many senders somebody always speaks.
func TestFinder_OverlapElsewhere(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  hearken.SessionConfig
		want bool
	}{
		{"Capture", hearken.SessionConfig{Capture: true}, true},
		{"Sender", hearken.SessionConfig{}, false},
		{"Recording", hearken.SessionConfig{Capture: true, Recorded: true}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := talk(1, "M 10-14 The boat is sold.")
			m.add(2, tt.cfg, "local", 5*time.Minute, "S 10-14 Something else entirely.")
			got := m.find(t, Query{Args: []Arg{text("The boat is sold")}})[0]
			if got.Source != mine || got.Overlap != tt.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// behind is a hub whose far side is final up to a second.
type behind struct {
	*memory
	finalUntil float64
}

func (b *behind) FinalUntil(string) (float64, bool) { return b.finalUntil, b.finalUntil >= 0 }

// Nobody can know whose words these are before the other side's are there.
func TestFinder_OverlapToCome(t *testing.T) {
	for name, tt := range map[string]struct {
		finalUntil float64
		want       bool
	}{
		"Final": {14, false}, "Behind": {13.9, true}, "OneSide": {-1, false},
	} {
		b := &behind{talk(1, "M 10-14 The boat is sold."), tt.finalUntil}
		got, err := New(b).Find(t.Context(), Query{Now: now, Args: []Arg{text("The boat is sold")}})
		if err != nil || got[0].Source != mine || got[0].Overlap != tt.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	b := &behind{talk(1, "M 10-14 Das Boot ist weg.", "MT 10-14 The boat is sold."), 13}
	got, err := New(b).Find(t.Context(), Query{Now: now, Args: []Arg{text("The boat is sold")}})
	if err != nil || !got[0].Overlap {
		t.Errorf("translated: %+v, %v", got, err)
	}
}

// Audio that was lost may have been the other side's, if there is one.
func TestFinder_OverlapGap(t *testing.T) {
	for _, tt := range []struct {
		gap      string
		channels int
		want     bool
	}{
		{"E 12-13 [gap: 1.0 s of sound were lost]", 2, true},
		{"E 15-16 [gap: 1.0 s of sound were lost]", 2, false},
		{"E 12-13 [gap: 1.0 s of sound were lost]", 1, false},
	} {
		m := talk(1, "M 10-14 The boat is sold.", tt.gap)
		m.sessions[0].Config.Channels = tt.channels
		got := m.find(t, Query{Args: []Arg{text("The boat is sold")}})[0]
		if got.Source != mine || got.Overlap != tt.want {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
}
