package deepgram_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/deepgram"
)

// transcribe sends sound that begins at cfg.Start and returns everything that was
// told about it.
func transcribe(t *testing.T, p hearken.Provider, cfg hearken.StreamConfig, pcm []int16) []hearken.StreamEvent {
	t.Helper()
	stream, err := p.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	collected := collect(stream)
	if err := write(stream, cfg.Start, pcm); err == nil {
		stream.Close()
	}
	return <-collected
}

// collect reads events until they end.
func collect(stream hearken.Stream) <-chan []hearken.StreamEvent {
	collected := make(chan []hearken.StreamEvent, 1)
	go func() {
		var events []hearken.StreamEvent
		for e := range stream.Events() {
			events = append(events, e)
		}
		collected <- events
	}()
	return collected
}

// write writes sound in frames of 100 ms.
func write(stream hearken.Stream, pos int64, pcm []int16) error {
	for frame := range slices.Chunk(pcm, 1600) {
		if err := stream.Write(hearken.Frame{Pos: pos, PCM: frame}); err != nil {
			return err
		}
		pos += int64(len(frame))
	}
	return nil
}

// finals writes the finals down, one in a line.
func finals(events []hearken.StreamEvent) string {
	var b strings.Builder
	for _, e := range events {
		if e.Kind != hearken.Final {
			continue
		}
		speaker := "-"
		if e.Segment.Speaker != nil {
			speaker = fmt.Sprint(*e.Segment.Speaker)
		}
		fmt.Fprintf(&b, "%.2f %.2f %s%s %s | %.2f\n", e.Segment.StartTime, e.Segment.EndTime, e.Segment.Status, speaker, e.Segment.Text, float64(e.FinalUntil)/hearken.SampleRate)
	}
	return b.String()
}

func failure(events []hearken.StreamEvent) error {
	if n := len(events); n > 0 && events[n-1].Kind == hearken.Failed {
		return events[n-1].Err
	}
	return nil
}

var english = hearken.StreamConfig{Session: "s", Origin: hearken.Microphone, Language: "en", Interim: true}

// Everything is told on the session's clock, and each final as it comes.
func TestStream_Finals(t *testing.T) {
	cfg := english
	cfg.Start = 100 * hearken.SampleRate
	events := transcribe(t, newFake(t, meeting).serve(t, deepgram.Config{}), cfg, meetingAudio)
	want := `100.60 102.80 C0 Could you send me the plan for the new | 102.80
102.85 105.05 C0 House by friday please because we build in may | 105.50
105.60 106.55 C1 Of course i will | 107.00
109.10 109.80 C0 Thank you very | 109.80
109.85 110.05 C0 Much | 110.50
`
	if diff := cmp.Diff(want, finals(events)); diff != "" {
		t.Error(diff)
	}
	last := events[len(events)-1]
	if last.Kind != hearken.Progress || last.FinalUntil != 114*hearken.SampleRate || last.Lag != 0 {
		t.Errorf("the last event is %+v", last)
	}
}

// A final is cut where another one speaks, and keeps the server's own text.
func TestStream_Turns(t *testing.T) {
	script := slices.Concat(phrase(0.5, 0, "are you there"), phrase(1.25, 3, "yes i am"), phrase(2, 0, "good"))
	f := newFake(t, script)
	f.shape = func(m map[string]any) {
		if c, ok := m["channel"].(map[string]any); ok {
			best := c["alternatives"].([]any)[0].(map[string]any)
			best["transcript"] = strings.ReplaceAll(best["transcript"].(string), "i am", "i,am") // no space between
		}
	}
	events := transcribe(t, f.serve(t, deepgram.Config{}), english, audioOf(script, 4))
	want := `0.50 1.20 C0 Are you there | 1.20
1.25 1.95 C3 yes i,am | 1.95
2.00 2.20 C0 good | 3.00
`
	if diff := cmp.Diff(want, finals(events)); diff != "" {
		t.Error(diff)
	}
	for _, e := range events {
		if e.Kind == hearken.Partial && e.Segment.Speaker != nil {
			t.Errorf("an interim result has a speaker: %+v", e.Segment)
		}
	}
}

// Words that were shown and then taken back leave a mark and no text.
func TestStream_Retracted(t *testing.T) {
	script := phrase(0.4, 0, "achoo oh")
	f := newFake(t, script)
	f.shape = func(m map[string]any) {
		if m["is_final"] == true {
			m["channel"].(map[string]any)["alternatives"] = []any{map[string]any{"transcript": "", "words": []any{}}}
		}
	}
	events := transcribe(t, f.serve(t, deepgram.Config{}), english, audioOf(script, 2))
	if diff := cmp.Diff("0.40 0.85 N-  | 0.85\n", finals(events)); diff != "" {
		t.Error(diff)
	}
}

// A server that never settles what it showed does not cost the words.
func TestStream_Unsettled(t *testing.T) {
	script := phrase(0.4, 0, "so it goes")
	f := newFake(t, script)
	f.shape = func(m map[string]any) {
		if m["is_final"] == true {
			m["type"] = "Nothing"
		}
	}
	events := transcribe(t, f.serve(t, deepgram.Config{}), english, audioOf(script, 1.2))
	if diff := cmp.Diff("0.40 1.00 C- So it go | 1.20\n", finals(events)); diff != "" {
		t.Error(diff)
	}
}

// Silence is told when it is long, and gone over when it is not.
func TestStream_Silence(t *testing.T) {
	script := slices.Concat(phrase(8, 0, "hello"), phrase(140, 0, "goodbye"))
	events := transcribe(t, newFake(t, script).serve(t, deepgram.Config{}), english, audioOf(script, 150))
	want := `0.00 8.00 N-  | 8.00
8.00 8.20 C0 Hello | 8.50
8.20 68.50 N-  | 68.50
68.50 128.50 N-  | 128.50
128.50 140.00 N-  | 140.00
140.00 140.20 C0 Goodbye | 140.50
140.20 150.00 N-  | 150.00
`
	if diff := cmp.Diff(want, finals(events)); diff != "" {
		t.Error(diff)
	}
}

func TestStream_Words(t *testing.T) {
	script := phrase(0.5, 2, "hej hej")
	cfg := english
	cfg.Language = "multi"
	events := transcribe(t, newFake(t, script).serve(t, deepgram.Config{}), cfg, audioOf(script, 2))
	i := slices.IndexFunc(events, func(e hearken.StreamEvent) bool { return e.Kind == hearken.Final })
	if i < 0 {
		t.Fatal("no final came")
	}
	sure, word, two := 0.95, 0.9, 2
	want := hearken.Segment{
		Status: hearken.Confirmed, IsFinal: true, Text: "Hej hej", StartTime: 0.5, EndTime: 0.95, Confidence: &sure, Speaker: &two, Language: "sv",
		Words: []hearken.Word{
			{Word: "Hej", StartTime: 0.5, EndTime: 0.7, Confidence: &word, Speaker: &two},
			{Word: "hej", StartTime: 0.75, EndTime: 0.95, Confidence: &word, Speaker: &two},
		},
	}
	if diff := cmp.Diff(want, events[i].Segment); diff != "" {
		t.Error(diff)
	}
}

// A server that places no words still has its text heard.
func TestStream_NoWords(t *testing.T) {
	script := phrase(0.5, 0, "plain text")
	f := newFake(t, script)
	f.shape = func(m map[string]any) {
		if c, ok := m["channel"].(map[string]any); ok {
			delete(c["alternatives"].([]any)[0].(map[string]any), "words")
		}
	}
	events := transcribe(t, f.serve(t, deepgram.Config{}), english, audioOf(script, 2))
	if diff := cmp.Diff("0.00 1.50 C- Plain text | 1.50\n", finals(events)); diff != "" {
		t.Error(diff)
	}
}

// Sound goes out in messages that the server likes, whatever the frames are.
func TestStream_Messages(t *testing.T) {
	for _, size := range []int{1, 7, 100, 320, 1600, 5000, 40000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			f := newFake(t, meeting)
			stream, err := f.serve(t, deepgram.Config{}).Open(t.Context(), english)
			if err != nil {
				t.Fatal(err)
			}
			collected := collect(stream)
			pos := int64(0)
			for frame := range slices.Chunk(meetingAudio[:40320], size) {
				if err := stream.Write(hearken.Frame{Pos: pos, PCM: frame}); err != nil {
					t.Fatal(err)
				}
				pos += int64(len(frame))
			}
			// What was written before is not sent again.
			if err := stream.Write(hearken.Frame{Pos: pos - 50, PCM: make([]int16, 50)}); err != nil {
				t.Fatal(err)
			}
			stream.Close()
			<-collected
			v := f.conn(t, 0)
			if v.samples != 40320 || v.longest > 1600 || v.shortest < 320 && size != 5000 && size != 7 && size != 100 {
				t.Errorf("%d samples in messages of %d to %d", v.samples, v.shortest, v.longest)
			}
			if diff := cmp.Diff([]string{"CloseStream"}, v.texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Nothing that is being said goes on beyond a gap: the server settles it there.
func TestStream_Gap(t *testing.T) {
	f := newFake(t, meeting)
	stream, err := f.serve(t, deepgram.Config{}).Open(t.Context(), english)
	if err != nil {
		t.Fatal(err)
	}
	collected := collect(stream)
	for _, err := range []error{
		write(stream, 0, meetingAudio[:24000+50]), // in the middle of a word
		write(stream, 100*16000, meetingAudio[9*16000:11*16000]),
		stream.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := `0.60 1.50 C0 Could you send me | 1.50
100.10 101.05 C0 Thank you very much | 101.50
`
	if diff := cmp.Diff(want, finals(<-collected)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Finalize", "CloseStream"}, f.conn(t, 0).texts); diff != "" {
		t.Error(diff)
	}
}

// Utterance ends make the server settle what noise keeps open.
func TestStream_UtteranceEnd(t *testing.T) {
	script := phrase(0.5, 0, "anyway")
	f := newFake(t, script)
	f.at = 2.2
	f.fault = func(v *fakeConn) bool {
		v.say(map[string]any{"type": "UtteranceEnd", "channel": []int{0, 1}, "last_word_end": 0.7})
		return true
	}
	p := f.serve(t, deepgram.Config{Extra: map[string][]string{"endpointing": {"false"}, "utterance_end_ms": {""}}})
	stream, err := p.Open(t.Context(), english)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(stream, 0, audioOf(script, 2.4)); err != nil {
		t.Fatal(err)
	}
	for e := range stream.Events() {
		if e.Kind == hearken.Final {
			if !e.Endpoint {
				t.Error("the end of an utterance is no pause")
			}
			stream.Close() // it came without that
		}
	}
	if diff := cmp.Diff([]string{"Finalize", "CloseStream"}, f.conn(t, 0).texts); diff != "" {
		t.Error(diff)
	}
}

// Whoever opens a new stream where the last one's finals end, again and
// again, loses no word and gets none twice.
func TestStream_Again(t *testing.T) {
	f := newFake(t, meeting)
	f.at = 2.9
	f.fault = func(v *fakeConn) bool { return false }
	p := f.serve(t, deepgram.Config{})
	var words []string
	cfg := english
	for opened := 0; ; opened++ {
		if opened > 20 {
			t.Fatal("no progress")
		}
		events := transcribe(t, p, cfg, meetingAudio[cfg.Start:])
		for _, e := range events {
			if e.Kind == hearken.Final && e.Segment.Spoken() {
				words = append(words, hearken.Terms(e.Segment.Text)...)
			}
			cfg.Start = max(cfg.Start, e.FinalUntil)
		}
		f.conn(t, opened)
		if failure(events) == nil {
			break
		}
		f.at += 0.7 // so that at last it gets through
	}
	if diff := cmp.Diff(text(meeting), strings.Join(words, " ")); diff != "" {
		t.Error(diff)
	}
}

// Nothing waits for a server that does not answer once the stream is given up.
func TestStream_Abandoned(t *testing.T) {
	f := newFake(t, meeting)
	f.at = 0.1
	f.fault = func(v *fakeConn) bool {
		<-f.stop // takes no more sound
		return false
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stream, err := f.serve(t, deepgram.Config{}).Open(ctx, english)
	if err != nil {
		t.Fatal(err)
	}
	collected := collect(stream)
	gone := errors.New("gone")
	wrote := make(chan error)
	go func() {
		pcm, pos := make([]int16, 16000), int64(0)
		for {
			if err := stream.Write(hearken.Frame{Pos: pos, PCM: pcm}); err != nil {
				wrote <- err
				return
			}
			if pos += 16000; pos == 100*16000 {
				cancel(gone)
			}
		}
	}()
	if err := <-wrote; !errors.Is(err, gone) {
		t.Errorf("Write: %v", err)
	}
	if events := <-collected; failure(events) != nil {
		t.Errorf("the stream failed: %v", failure(events))
	}
}
