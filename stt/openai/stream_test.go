package openai_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/openai"
)

// entry is what tests compare of a segment.
func entry(s hearken.Segment) string {
	confidence := "-"
	if s.Confidence != nil {
		confidence = fmt.Sprintf("%.2f", *s.Confidence)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %.2f-%.2f %s %s %d words %s", s.Status, s.StartTime, s.EndTime, s.Language, confidence, len(s.Words), s.Text))
}

// Times, words, confidence, silences and pauses of a whole meeting.
func TestStream_Finals(t *testing.T) {
	events := transcribe(t, newFake(meeting).inside(openai.Config{}), english, append(slices.Clone(meetingAudio), make([]int16, 4*hearken.SampleRate)...))
	var got []string
	for _, e := range events {
		switch e.Kind {
		case hearken.SpeechStarted:
			got = append(got, fmt.Sprintf("> %.1f", e.Time))
		case hearken.Final:
			got = append(got, fmt.Sprintf("%s (%v)", entry(e.Segment), e.Endpoint))
		}
	}
	slices.Sort(got) // speech may start before the words of the last are there
	want := []string{
		"> 0.6", "> 5.8", "> 9.1",
		"C 0.60-5.05 en 0.78 18 words Could you send me the plan for the new house by friday please because we build in may. (true)",
		"C 5.80-6.75 en 0.78 4 words Of course i will. (true)",
		"C 9.10-10.05 en 0.78 4 words Thank you very much. (true)",
		"N 10.05-18.00 en - 0 words (false)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	last := finals(events)[1]
	if w := last.Words[3]; w.Word != "will." || fmt.Sprintf("%.2f-%.2f", w.StartTime, w.EndTime) != "6.55-6.75" || last.Estimated {
		t.Errorf("last word %+v", w)
	}
	if e := events[len(events)-1]; e.Kind != hearken.Progress || e.FinalUntil != 18*hearken.SampleRate {
		t.Errorf("last event %+v", e)
	}
}

// Finals come in the order of time, whichever answer is there first.
func TestStream_Order(t *testing.T) {
	f := newFake(meeting)
	third := make(chan struct{})
	f.answer = func(_ http.ResponseWriter, r *request) bool {
		switch text(r.words[:1]) {
		case "could":
			<-third // which is asked for only when the second is answered
		case "thank":
			close(third)
		}
		return false
	}
	events := transcribe(t, f.serve(t, openai.Config{}), english, meetingAudio)
	if diff := cmp.Diff([]string{"C Could", "C Of", "C Thank"}, firstWords(events)); diff != "" {
		t.Error(diff)
	}
}

func firstWords(events []hearken.StreamEvent) []string {
	var words []string
	for _, line := range texts(events) {
		words = append(words, strings.Join(strings.Fields(line)[:min(2, len(strings.Fields(line)))], " "))
	}
	return words
}

// count makes a script of numbers, one every two seconds.
func count(n int) (script []scriptWord, pcm []int16) {
	for i := range n {
		at := 1 + 2*float64(i)
		script = append(script, scriptWord{at, at + 0.5, fmt.Sprint(i)})
	}
	return script, audioOf(script, 2*float64(n)+1)
}

// While the server is behind, two requests are under way, a few utterances
// wait, and then the writer does. The lag is told.
func TestStream_Behind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script, pcm := count(12)
		f := newFake(script)
		var under, most atomic.Int32
		release := make(chan struct{})
		f.answer = func(http.ResponseWriter, *request) bool {
			most.Store(max(most.Load(), under.Add(1)))
			<-release
			under.Add(-1)
			return false
		}
		stream, err := f.inside(openai.Config{}).Open(t.Context(), english)
		if err != nil {
			t.Fatal(err)
		}
		collected := collect(stream)
		var written atomic.Int64
		go func() {
			defer stream.Close()
			for i := 0; i < len(pcm); i += 1600 {
				if err := stream.Write(hearken.Frame{Pos: int64(i), PCM: pcm[i:min(i+1600, len(pcm))]}); err != nil {
					t.Error(err)
				}
				written.Store(int64(i + 1600))
			}
		}()
		synctest.Wait()
		if got := written.Load() / hearken.SampleRate; got < 9 || got > 11 {
			t.Errorf("the writer waits after %d seconds", got)
		}
		close(release)
		events := <-collected
		if most.Load() != 2 {
			t.Errorf("%d requests at a time", most.Load())
		}
		var got []string
		lag := 0.0
		for _, e := range events {
			lag = max(lag, e.Lag)
			if e.Kind == hearken.Final {
				got = append(got, strings.TrimSuffix(e.Segment.Text, "."))
			}
		}
		if diff := cmp.Diff(strings.Fields(text(script)), got); diff != "" || lag < 5 {
			t.Errorf("lag %f %s", lag, diff)
		}
	})
}

// Finalize ends what is being said, without a pause, and all that was written
// is dealt with. What goes on is a new utterance.
func TestStream_Finalize(t *testing.T) {
	f := newFake(meeting)
	stream, err := f.inside(openai.Config{}).Open(t.Context(), english)
	if err != nil {
		t.Fatal(err)
	}
	half := int64(2.58 * hearken.SampleRate) // after the eighth word
	if err := stream.Write(hearken.Frame{PCM: meetingAudio[:half]}); err != nil {
		t.Fatal(err)
	}
	if err := stream.Finalize(); err != nil {
		t.Fatal(err)
	}
	var final hearken.StreamEvent
	for e := range stream.Events() {
		if e.Kind == hearken.Final {
			final = e
		}
		if e.Kind == hearken.Progress && e.FinalUntil == half {
			break
		}
	}
	if final.Segment.Text != "Could you send me the plan for the." || final.Endpoint || final.FinalUntil != half {
		t.Errorf("final %+v", final)
	}
	collected := collect(stream)
	if err := stream.Write(hearken.Frame{Pos: half, PCM: meetingAudio[half:]}); err != nil {
		t.Fatal(err)
	}
	if err := stream.Finalize(); err != nil { // in silence
		t.Fatal(err)
	}
	stream.Close()
	if diff := cmp.Diff([]string{"C New house by friday please because we build in may.", "C Of course i will.", "C Thank you very much."}, texts(<-collected)); diff != "" {
		t.Error(diff)
	}
	if err := stream.Finalize(); err == nil {
		t.Error("Finalize after Close succeeded")
	}
}

// A session says which pause ends an utterance.
func TestStream_Endpointing(t *testing.T) {
	for endpointing, want := range map[time.Duration][]string{
		0:                       {"C Could", "C Of", "C Thank"},
		1500 * time.Millisecond: {"C Could", "C Thank"},
		-1:                      {"C Could"},
	} {
		cfg := english
		cfg.Endpointing = endpointing
		events := transcribe(t, newFake(meeting).inside(openai.Config{}), cfg, meetingAudio)
		if diff := cmp.Diff(want, firstWords(events)); diff != "" {
			t.Errorf("%s: %s", endpointing, diff)
		}
	}
}

// In silence nothing is sent, and what is dealt with follows the sound.
func TestStream_Silence(t *testing.T) {
	f := newFake(nil)
	pcm := make([]int16, 130*hearken.SampleRate)
	events := transcribe(t, f.inside(openai.Config{}), english, pcm)
	if n := len(f.asked(transcriptions)); n > 0 {
		t.Errorf("%d requests", n)
	}
	if got := len(finals(events)); got != 3 {
		t.Errorf("%d entries, want one a minute and one at the end", got)
	}
	through, steps := int64(0), 0
	for _, e := range events {
		if e.FinalUntil > through {
			through, steps = e.FinalUntil, steps+1
		}
	}
	if through != int64(len(pcm)) || steps < 3 {
		t.Errorf("dealt with %d in %d steps", through, steps)
	}
}

// Text that comes piece by piece is shown as it comes.
func TestStream_Partials(t *testing.T) {
	cfg := english
	cfg.Model = "gpt-4o-transcribe"
	f := newFake(meeting)
	stream, err := f.serve(t, openai.Config{}).Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	collected := collect(stream)
	if err := stream.Write(hearken.Frame{PCM: meetingAudio}); err != nil {
		t.Fatal(err)
	}
	stream.Close()
	shown := false
	for _, e := range <-collected {
		switch e.Kind {
		case hearken.Partial:
			shown = true
			if s := e.Segment; s.Status != hearken.Unconfirmed || s.Text == "" || !s.Estimated || s.Words == nil {
				t.Errorf("partial %+v", s)
			}
		case hearken.Final:
			if s := e.Segment; s.Spoken() && (!s.Estimated || s.Confidence != nil) {
				t.Errorf("final %+v", s)
			}
		}
	}
	if !shown {
		t.Error("nothing was shown")
	}
	for name, answer := range map[string]string{
		"BreaksOff": "data: {\"type\":\"transcript.text.delta\",\"delta\":\"Hi\"}\n\n",
		"Garbled":   "data: {\"type\":\n\n",
		"Error":     "data: {\"type\":\"error\",\"error\":{\"message\":\"overloaded\"}}\n\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(meeting)
			f.answer = func(w http.ResponseWriter, _ *request) bool {
				header("Content-Type", "text/event-stream", body(200, answer))(w)
				return true
			}
			if err := failure(transcribe(t, f.inside(openai.Config{}), cfg, meetingAudio)); hearken.CodeOf(err) != hearken.ProviderConnectionFailed {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A translation follows what it translates. One that fails costs only itself,
// and a server that has none is not asked again.
func TestStream_Translate(t *testing.T) {
	swedish := hearken.StreamConfig{Session: "s-1", Language: "sv", Translate: true}
	for name, c := range map[string]struct {
		cfg    hearken.StreamConfig
		answer func(http.ResponseWriter)
		want   []string
		asked  int
		model  string
	}{
		"Whisper": {swedish, nil, []string{"C Could", "T COULD", "C Of", "T OF", "C Thank", "T THANK"}, 3, "whisper-1"},
		"Newer":   {hearken.StreamConfig{Language: "sv", Translate: true, Model: "gpt-4o-transcribe"}, nil, []string{"C Could", "T COULD", "C Of", "T OF", "C Thank", "T THANK"}, 3, "whisper-1"},
		"English": {hearken.StreamConfig{Language: "en-GB", Translate: true}, nil, []string{"C Could", "C Of", "C Thank"}, 0, ""},
		"Down":    {swedish, body(503, ""), []string{"C Could", "C Of", "C Thank"}, 3, "whisper-1"},
		"None":    {swedish, body(404, ""), []string{"C Could", "C Of", "C Thank"}, 1, "whisper-1"},
		"Nothing": {swedish, body(200, `{"text":"."}`), []string{"C Could", "C Of", "C Thank"}, 3, "whisper-1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(meeting)
			if c.cfg.Language == "sv" {
				f.shape = func(verbose map[string]any) { verbose["language"] = "swedish" }
			}
			f.answer = func(w http.ResponseWriter, r *request) bool {
				if r.path != translations || c.answer == nil {
					return false
				}
				c.answer(w)
				return true
			}
			stream, err := f.inside(openai.Config{}).Open(t.Context(), c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			var events []hearken.StreamEvent
			collected := make(chan struct{})
			finals := make(chan struct{}, 100)
			go func() {
				defer close(collected)
				for e := range stream.Events() {
					events = append(events, e)
					if e.Kind == hearken.Final && e.Segment.Status == hearken.Confirmed {
						finals <- struct{}{}
					}
				}
			}()
			for _, part := range [][2]int{{0, 92000}, {92000, 136000}, {136000, len(meetingAudio)}} { // one utterance at a time
				if err := stream.Write(hearken.Frame{Pos: int64(part[0]), PCM: meetingAudio[part[0]:part[1]]}); err != nil {
					t.Fatal(err)
				}
				<-finals
			}
			stream.Close()
			<-collected
			if diff := cmp.Diff(c.want, firstWords(events)); diff != "" || failure(events) != nil {
				t.Errorf("%v %s", failure(events), diff)
			}
			asked := f.asked(translations)
			if name != "None" && len(asked) != c.asked || len(asked) > 3 || c.asked > 0 && asked[0].field("model") != c.model {
				t.Errorf("asked %d times", len(asked))
			}
			var before hearken.Segment
			for _, e := range events {
				if e.Kind != hearken.Final {
					continue
				}
				if s := e.Segment; s.Status == hearken.Translated && (s.Language != "en" || s.StartTime != before.StartTime || s.EndTime != before.EndTime || before.Language != "sv") {
					t.Errorf("%+v after %+v", s, before)
				}
				before = e.Segment
			}
		})
	}
}

// Whoever leaves takes the requests along.
func TestStream_Cancel(t *testing.T) {
	f := newFake(meeting)
	asked, ended := make(chan struct{}), make(chan struct{})
	f.answer = func(_ http.ResponseWriter, r *request) bool {
		if r.n == 0 {
			close(asked)
			<-r.ctx.Done()
			close(ended)
		}
		return true
	}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := f.inside(openai.Config{}).Open(ctx, english)
	if err != nil {
		t.Fatal(err)
	}
	collected := collect(stream)
	if err := stream.Write(hearken.Frame{PCM: meetingAudio[:6*hearken.SampleRate]}); err != nil {
		t.Fatal(err)
	}
	<-asked
	cancel()
	<-ended
	if err := failure(<-collected); err != nil {
		t.Errorf("failed with %v", err)
	}
	if err := stream.Write(hearken.Frame{Pos: 6 * hearken.SampleRate, PCM: meetingAudio[:1600]}); err == nil {
		t.Error("Write after the end succeeded")
	}
}

// However the sound is cut into frames, and however long people speak without
// a pause, each word is heard once, at the same time.
func TestStream_Cuts(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var script []scriptWord
			at := 0.3
			for i := range 40 + r.IntN(80) {
				script = append(script, scriptWord{at, at + 0.3, fmt.Sprint(i)})
				at += 0.3 + []float64{0.12, 0.12, 0.15, 0.2, 0.3, 0.3, 0.7, 2}[r.IntN(8-int(seed%4))]
			}
			pcm := audioOf(script, at+0.5)
			once := transcribeCut(t, script, pcm, func() int { return len(pcm) })
			often := transcribeCut(t, script, pcm, func() int { return 1 + r.IntN(1+r.IntN(20000)) })
			if diff := cmp.Diff(once, often); diff != "" {
				t.Error(diff)
			}
			var words []string
			for i, s := range once {
				for _, w := range s.Words {
					words = append(words, strings.TrimSuffix(w.Word, "."))
				}
				if s.EndTime-s.StartTime > 25 || i > 0 && s.StartTime < once[i-1].EndTime {
					t.Errorf("a segment from %f to %f", s.StartTime, s.EndTime)
				}
			}
			if diff := cmp.Diff(strings.Fields(text(script)), words); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// transcribeCut is what is confirmed of sound that is written in frames of the sizes
// that next tells.
func transcribeCut(t *testing.T, script []scriptWord, pcm []int16, next func() int) []hearken.Segment {
	t.Helper()
	stream, err := newFake(script).inside(openai.Config{}).Open(t.Context(), english)
	if err != nil {
		t.Fatal(err)
	}
	collected := collect(stream)
	for i := 0; i < len(pcm); {
		n := min(next(), len(pcm)-i)
		if err := stream.Write(hearken.Frame{Pos: int64(i), PCM: pcm[i : i+n]}); err != nil {
			t.Fatal(err)
		}
		i += n
	}
	stream.Close()
	return slices.DeleteFunc(finals(<-collected), func(s hearken.Segment) bool { return s.Status != hearken.Confirmed })
}
