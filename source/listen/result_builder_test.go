package listen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"pgregory.net/rapid"
)

// Whatever an engine says, in an order that engines may say it: results follow
// each other without a gap, every final word comes exactly once, no utterance
// ends twice, and each Finalize has its answer.
func TestResultBuilder_Invariants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := options{interim: rapid.Bool().Draw(rt, "interim"), endpointing: rapid.Bool().Draw(rt, "endpointing"), pause: minSilence}
		if rapid.Bool().Draw(rt, "ends") {
			o.interim, o.utteranceEnd = true, 1
		}
		l := resultBuilder{opts: &o, total: func() int { return 1 }}
		var spoken []string
		now, asked := 0.0, 0
		step := func(name string) float64 { return float64(rapid.IntRange(0, 300).Draw(rt, name)) / 100 }
		for range rapid.IntRange(1, 60).Draw(rt, "events") {
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				start := now + step("gap")
				word := fmt.Sprintf("w%d", len(spoken))
				spoken = append(spoken, word)
				ev := final(start, word)
				ev.Endpoint = rapid.Bool().Draw(rt, "endpoint")
				l.event(ev)
				now = ev.Segment.EndTime
			case 1:
				l.event(partial(now+step("ahead"), "maybe this"))
			case 2:
				now += step("silence")
				l.event(finalUntil(now))
			case 3:
				end := now + step("none")
				l.event(hearken.InputEvent{Kind: hearken.InputFinal, Segment: &hearken.Segment{Status: hearken.NoSpeech, StartTime: now, EndTime: end}})
				now = end
			case 4:
				asked++
				l.finalize(now + step("held"))
			}
		}
		l.finish(now + 4)
		checkMessages(rt, &o, l.out, spoken, asked, now+4)
	})
}

func checkMessages(t *rapid.T, o *options, out []any, spoken []string, asked int, total float64) {
	end, ended, answers := 0.0, -1.0, 0
	var got []string
	for _, m := range out {
		switch m := m.(type) {
		case utteranceEnd:
			if o.utteranceEnd == 0 || m.LastWordEnd <= ended {
				t.Fatalf("an utterance ended at %v after %v", m.LastWordEnd, ended)
			}
			ended = m.LastWordEnd
		case results:
			switch {
			case !near(m.Start, end):
				t.Fatalf("begins at %v, want %v", m.Start, end)
			case m.Duration < 0, !m.IsFinal && !o.interim, m.SpeechFinal && (!m.IsFinal || !o.endpointing):
				t.Fatalf("%+v", m)
			}
			if !m.IsFinal {
				continue
			}
			end = m.Start + m.Duration
			if m.FromFinalize {
				answers++
			}
			for _, w := range m.Channel.Alternatives[0].Words {
				got = append(got, w.Word)
			}
		}
	}
	if !near(end, total) || answers != asked || strings.Join(got, " ") != strings.Join(spoken, " ") {
		t.Fatalf("the end is %v of %v, %d of %d answers, got %v of %v", end, total, answers, asked, got, spoken)
	}
}
