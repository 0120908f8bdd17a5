package listen

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

func newServer(t *testing.T, handler *Handler, front http.Handler) string {
	t.Helper()
	server := httptest.NewServer(front)
	t.Cleanup(func() {
		shut(t, handler)
		server.Close()
	})
	return "ws" + strings.TrimPrefix(server.URL, "http") + "/v1/listen"
}

// play has the engine report on ten seconds of audio and returns all messages
// up to the end.
func play(t *testing.T, query string, events ...hearken.InputEvent) []message {
	t.Helper()
	h, _, url := serve(t)
	c := dial(t, h, url+query, nil)
	if strings.Contains(query, "channels=2") {
		c.sendAudio(make([]byte, 4*160000))
		poll(t, func() bool { return c.has() == 160000 })
	} else {
		c.seconds(10)
	}
	var all []message
	for _, ev := range events {
		c.in.emit(ev)
		if ev.Kind == "" {
			continue
		}
		// A partial that waits behind another would be replaced by it: the
		// writer must get each of them.
		poll(t, func() bool { return len(c.in.events) == 0 })
	}
	c.text(`{"type":"CloseStream"}`)
	rest, _ := c.rest()
	all = append(all, rest...)
	checkGapless(t, all)
	return all
}

// builderMessages plays events without a connection, where the order of every single one
// matters.
func builderMessages(t *testing.T, query string, events ...any) []message {
	t.Helper()
	o, err := parseOptions(strings.TrimPrefix(query, "?"), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := resultBuilder{opts: &o, total: func() int { return 1 }}
	for _, ev := range events {
		switch ev := ev.(type) {
		case hearken.InputEvent:
			l.event(ev)
		case finalizeRequest:
			l.finalize(ev.at)
		case float64:
			l.finish(ev)
		}
	}
	var all []message
	for _, m := range l.out {
		b, _ := json.Marshal(m)
		got := message{raw: string(b)}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		all = append(all, got)
	}
	return all
}

func TestResults_Interim(t *testing.T) {
	events := []any{
		partial(0.5, "one"), partial(0.5, "one two three"), partial(0.5, "one two too"),
		final(0.5, "one two"), partial(1.7, "free"), partial(1.7, "free beer"), endpoint(1.7, "three"),
	}
	all := builderMessages(t, pcm16+"&interim_results=true", events...)
	checkGapless(t, all)
	if got := words(t, all); got != "one two three" {
		t.Errorf("finals say %q: a word is missing, doubled or was retracted", got)
	}
	if len(all) != 7 || !near(all[2].end(), 2.2) || !near(all[3].end(), 1.6) {
		t.Fatalf("%+v", all)
	}
	for i, m := range all[:3] {
		if m.IsFinal || m.Start != 0 || i > 0 && m.Duration < all[i-1].Duration {
			t.Errorf("an interim result that shrinks or moves: %s", m.raw)
		}
	}
	if !near(all[4].Start, 1.6) {
		t.Errorf("the next begins at %v", all[4].Start)
	}
	for _, m := range builderMessages(t, pcm16, events...) {
		if !m.IsFinal {
			t.Errorf("nobody asked for %s", m.raw)
		}
	}
}

func TestResults_Formatting(t *testing.T) {
	seg := said(hearken.Microphone, 0, "Don't pay $3.50, Dr. O'Neil — “please”!")
	ev := hearken.InputEvent{Kind: hearken.InputFinal, Origin: hearken.Microphone, Segment: seg}
	for _, tt := range []struct{ query, text, first string }{
		{"&punctuate=true", seg.Text, "Don't"},
		{"&smart_format=true", seg.Text, "Don't"},
		{"", "don't pay $3.50 dr o'neil please", ""},
	} {
		all := builderMessages(t, pcm16+tt.query, ev)
		a := all[0].alternative(t)
		if a.Transcript != tt.text || a.Words[0].Word != "don't" || a.Words[0].Punctuated != tt.first {
			t.Errorf("%s: %s", tt.query, all[0].raw)
		}
		if len(a.Words) != 6 {
			t.Errorf("%d words: a mark that stands alone is none", len(a.Words))
		}
		if strings.Contains(all[0].raw, "speaker") || strings.Contains(all[0].raw, "language") {
			t.Errorf("nobody asked for a speaker or a language: %s", all[0].raw)
		}
	}
}

// An engine that gives no words gets some; most clients want them.
func TestResults_NoWords(t *testing.T) {
	all := builderMessages(t, pcm16, hearken.InputEvent{Kind: hearken.InputFinal, Origin: hearken.Microphone, Segment: &hearken.Segment{
		Origin: hearken.Microphone, Status: hearken.Confirmed, Text: "Olá, mundo inteiro.", StartTime: 1, EndTime: 3,
	}})
	a := all[0].alternative(t)
	if len(a.Words) != 3 || a.Words[0].Start != 1 || a.Words[2].End != 3 || a.Words[1].Start != a.Words[0].End {
		t.Errorf("%s", all[0].raw)
	}
	if a.Transcript != "olá mundo inteiro" || a.Confidence != unknownConfidence {
		t.Errorf("%s", all[0].raw)
	}
}

func TestResults_Endpoints(t *testing.T) {
	events := []any{final(0, "one"), endpoint(1, "two"), final(4, "three"), endpoint(5, "four")}
	for _, tt := range []struct {
		query string
		want  []bool
	}{
		{"", []bool{false, true, false, true}},
		{"&endpointing=300", []bool{false, true, false, true}},
		{"&endpointing=false", []bool{false, false, false, false}},
	} {
		var got []bool
		for _, m := range builderMessages(t, pcm16+tt.query, events...) {
			got = append(got, m.SpeechFinal)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.query, got, tt.want)
		}
	}
	// What was cut for its length, and then nobody spoke, ends all the same.
	all := builderMessages(t, pcm16+"&endpointing=800", final(0, "one"), finalUntil(1.2), finalUntil(1.4), finalUntil(1.6))
	if len(all) != 2 || !all[1].SpeechFinal || all[1].text(t) != "" || !near(all[1].end(), 1.4) {
		t.Errorf("%+v", all)
	}
	if all := builderMessages(t, pcm16+"&endpointing=false", final(0, "one"), finalUntil(4)); all[1].SpeechFinal {
		t.Errorf("%s", all[1].raw)
	}
}

// Silence is reported about once a second, and never over words that are shown.
func TestResults_Silence(t *testing.T) {
	var events []any
	for i := range 50 {
		events = append(events, finalUntil(float64(i)/10))
	}
	all := builderMessages(t, pcm16+"&interim_results=true", events...)
	checkGapless(t, all)
	if len(all) != 4 {
		t.Errorf("%d results for five seconds", len(all))
	}
	for _, m := range all {
		if m.text(t) != "" || !m.IsFinal || !strings.Contains(m.raw, `"words":[]`) || m.SpeechFinal {
			t.Errorf("%s", m.raw)
		}
	}
	all = builderMessages(t, pcm16+"&interim_results=true", partial(3, "word"), finalUntil(2.8), final(3, "word"))
	if len(all) != 2 || all[1].Start != 0 {
		t.Errorf("silence before a word that is shown: %+v", all)
	}
	// It was not speech after all.
	all = builderMessages(t, pcm16+"&interim_results=true", partial(3, "word"), finalUntil(4.5))
	if len(all) != 2 || all[1].text(t) != "" || all[1].end() != 4.5 {
		t.Errorf("%+v", all)
	}
	none := hearken.InputEvent{Kind: hearken.InputFinal, Origin: hearken.Microphone, Segment: &hearken.Segment{Status: hearken.NoSpeech, EndTime: 0.7}}
	if all := builderMessages(t, pcm16, none, none); len(all) != 1 || all[0].text(t) != "" || all[0].end() != 0.7 {
		t.Errorf("%+v", all)
	}
}

func TestResults_UtteranceEnd(t *testing.T) {
	query := pcm16 + "&interim_results=true&utterance_end_ms=1000"
	ends := func(all []message) []float64 {
		var out []float64
		for _, m := range all {
			if m.Type == "UtteranceEnd" {
				if string(m.Channel) != "[0,1]" {
					t.Errorf("%s", m.raw)
				}
				out = append(out, m.LastWordEnd)
			}
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		events []any
		want   []float64
	}{
		{"Once", []any{endpoint(0, "one two"), finalUntil(2), finalUntil(2.1), finalUntil(5), finalUntil(9)}, []float64{1.1}},
		{"TooEarly", []any{endpoint(0, "one"), finalUntil(1.4)}, nil},
		{"NothingSaid", []any{finalUntil(5), finalUntil(9)}, nil},
		{"Each", []any{endpoint(0, "one"), finalUntil(3), endpoint(3, "two"), finalUntil(6)}, []float64{0.5, 3.5}},
		{"ShortPause", []any{final(0, "one"), final(1.2, "two"), finalUntil(9)}, []float64{1.7}},
		{"NextWordTells", []any{final(0, "one"), partial(1.6, "two"), final(1.6, "two")}, []float64{0.5}},
		{"NextSpeechTells", []any{final(0, "one"), speechAt(1.6)}, []float64{0.5}},
		{"NextSpeechIsSoon", []any{final(0, "one"), speechAt(1.2)}, nil},
		{"AtTheEnd", []any{final(0, "one"), 1.6}, []float64{0.5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := builderMessages(t, query, tt.events...)
			if diff := cmp.Diff(tt.want, ends(all)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkGapless(t, all)
		})
	}
	if got := ends(builderMessages(t, pcm16, endpoint(0, "one"), finalUntil(9))); got != nil {
		t.Errorf("nobody asked for %v", got)
	}
}

func speechAt(seconds float64) hearken.InputEvent {
	return hearken.InputEvent{Kind: hearken.InputSpeechStarted, Origin: hearken.Microphone, Seconds: seconds}
}

func TestResults_SpeechStarted(t *testing.T) {
	started := speechAt(0.4)
	all := play(t, pcm16+"&vad_events=true", started, endpoint(0.5, "one"))
	if all[0].raw != `{"type":"SpeechStarted","channel":[0,1],"timestamp":0.4}` {
		t.Errorf("%s", all[0].raw)
	}
	all = play(t, pcm16, started, endpoint(0.5, "one"))
	if slices.Contains(kinds(all), "SpeechStarted") {
		t.Errorf("nobody asked for %v", kinds(all))
	}
}

func TestResults_Multichannel(t *testing.T) {
	all := play(t, pcm16+"&channels=2&multichannel=true",
		endpoint(1, "left one"), far(endpoint(0.5, "right")), finalUntil(5), far(endpoint(3, "right again")), endpoint(6, "left two"))
	var said [2]string
	for _, m := range all {
		if m.Type != "Results" {
			continue
		}
		if m.ChannelIndex[1] != 2 {
			t.Errorf("%s", m.raw)
		}
		said[m.ChannelIndex[0]] = strings.TrimSpace(said[m.ChannelIndex[0]] + " " + m.text(t))
	}
	if said[0] != "left one left two" || said[1] != "right right again" {
		t.Errorf("%q", said)
	}
	if last := all[len(all)-1]; last.Channels != 2 || last.Duration != 10 {
		t.Errorf("%s", last.raw)
	}
}

func TestResults_Diarize(t *testing.T) {
	one, two := 1, 2
	ev := final(0, "yes no")
	ev.Segment.Speaker, ev.Segment.Words[1].Speaker = &one, &two
	for _, query := range []string{"&diarize=true", "&diarize_model=latest"} {
		w := builderMessages(t, pcm16+query, ev)[0].alternative(t).Words
		if w[0].Speaker == nil || *w[0].Speaker != 1 || w[1].Speaker == nil || *w[1].Speaker != 2 {
			t.Errorf("%s: %+v", query, w)
		}
	}
	if m := builderMessages(t, pcm16, ev)[0]; strings.Contains(m.raw, "speaker") {
		t.Errorf("nobody asked for a speaker: %s", m.raw)
	}
}

func TestResults_Multilingual(t *testing.T) {
	ev := final(0, "Bom dia")
	ev.Segment.Language = "pt"
	a := builderMessages(t, pcm16+"&language=multi", ev)[0].alternative(t)
	if !slices.Equal(a.Languages, []string{"pt"}) || a.Words[0].Language != "pt" || a.Words[1].Language != "pt" {
		t.Errorf("%+v", a)
	}
}

// Words that came late, after an engine failed, are not lost.
func TestResults_Late(t *testing.T) {
	all := builderMessages(t, pcm16, final(0, "one"), final(5, "three"), final(2, "two"), final(8, "four"))
	if got := words(t, all); got != "one three two four" {
		t.Errorf("%q", got)
	}
	if all[2].Start != 2 || !near(all[2].end(), 2.5) || !near(all[3].Start, 5.5) {
		t.Errorf("%s %s", all[2].raw, all[3].raw)
	}
}

// What the hub notes is not what somebody said.
func TestResults_Events(t *testing.T) {
	note := final(0, "[gap: 1.0 s of audio was lost]")
	note.Origin, note.Segment.Origin = hearken.EventOrigin, hearken.EventOrigin
	translated := final(0, "Good morning")
	translated.Segment.Status = hearken.Translated
	if all := play(t, pcm16, note, translated); len(all) != 2 || all[0].text(t) != "" {
		t.Errorf("%+v", all)
	}
}

func TestFinalize(t *testing.T) {
	marks := func(all []message) (at []int) {
		for i, m := range all {
			if m.FromFinalize {
				at = append(at, i)
			}
		}
		return at
	}
	complete := final(0.5, "one")
	complete.Seconds = 2
	for _, tt := range []struct {
		name   string
		events []any
		want   []int
		count  int
	}{
		{"FinalCovers", []any{finalizeRequest{at: 1.05}, final(0.5, "one")}, []int{0}, 1},
		{"FinalSaysSo", []any{finalizeRequest{at: 2}, complete}, []int{0}, 1},
		{"SilenceAfter", []any{finalizeRequest{at: 2}, final(0.5, "one"), finalUntil(1.2), finalUntil(2)}, []int{1}, 2},
		{"OnlyTheLast", []any{finalizeRequest{at: 3}, final(0.5, "one"), final(1.1, "two"), final(2.5, "three")}, []int{2}, 3},
		{"Nothing", []any{finalizeRequest{at: 0}}, []int{0}, 1},
		{"AllFinal", []any{finalUntil(2), finalizeRequest{at: 2}, finalUntil(2.5)}, []int{1}, 2},
		{"StaysUsable", []any{finalizeRequest{at: 1}, final(0.5, "one"), final(2, "two"), finalizeRequest{at: 2.5}}, []int{0, 2}, 3},
		{"Twice", []any{finalizeRequest{at: 1}, finalizeRequest{at: 1.2}, final(0.5, "one"), finalUntil(1.2)}, []int{0, 1}, 2},
		{"TwiceAtOnce", []any{finalizeRequest{at: 1}, finalizeRequest{at: 1}, final(0.5, "one")}, []int{0, 1}, 2},
		{"ByTheEnd", []any{finalizeRequest{at: 2}, 2.0}, []int{0}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := builderMessages(t, pcm16, tt.events...)
			checkGapless(t, all)
			if got := marks(all); !slices.Equal(got, tt.want) || len(all) != tt.count {
				t.Errorf("%v of %d are marked, want %v of %d", got, len(all), tt.want, tt.count)
			}
		})
	}
}

// Finalize over the wire, of all channels and of one.
func TestHandler_Finalize(t *testing.T) {
	h, _, url := serve(t)
	c := dial(t, h, url+pcm16+"&channels=2&multichannel=true", nil)
	c.text(`{"type":"Finalize"}`) // of nothing
	for range 2 {
		if m := c.next("Results"); !m.FromFinalize || m.Duration != 0 {
			t.Errorf("%s", m.raw)
		}
	}
	c.sendAudio(make([]byte, 2*64000))
	c.text(`{"type":"Finalize","channel":1}`)
	poll(t, func() bool { return len(c.in.asked()) == 2 })
	if diff := cmp.Diff([][]hearken.Origin{nil, {hearken.System}}, c.in.asked()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.in.emit(final(1, "left so far"), far(final(1.2, "right")), far(finalUntil(2)))
	for _, want := range []struct {
		index int
		text  string
		mark  bool
	}{{0, "left so far", false}, {1, "right", false}, {1, "", true}} {
		m := c.next("Results")
		if m.ChannelIndex[0] != want.index || m.text(t) != want.text || m.FromFinalize != want.mark {
			t.Errorf("%s, want %+v", m.raw, want)
		}
	}
	c.text(`{"type":"Finalize"}`)
	for range 2 { // both have nothing left
		if m := c.next("Results"); !m.FromFinalize {
			t.Errorf("%s", m.raw)
		}
	}
	c.text(`{"type":"CloseStream"}`)
	c.rest()
}

func TestHandler_Formats(t *testing.T) {
	left := make([]int16, 4800)
	for i := range left {
		left[i] = int16(8000 * math.Sin(float64(i)/20))
	}
	right := make([]int16, len(left)) // silence
	half := make([]int16, len(left))
	var floats []byte
	for i, s := range left {
		half[i] = s / 2
		bits := math.Float32bits(float32(s) / 32768)
		floats = append(floats, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
	}
	stereo := audio.EncodeWAV(16000, left, right)
	for _, tt := range []struct {
		name, query string
		data        []byte
		described   []any
		want        [][]int16 // nil where only the length counts
	}{
		{"PCM", pcm16, audio.AppendBytes(nil, left), []any{"linear16", 16000, 1}, [][]int16{left}},
		{"Float", "?encoding=linear32&sample_rate=16000", floats, []any{"linear32", 16000, 1}, [][]int16{left}},
		{"Mulaw", "?encoding=mulaw", make([]byte, 2400), []any{"mulaw", 8000, 1}, nil},
		{"Alaw", "?encoding=alaw&sample_rate=8000", make([]byte, 2400), []any{"alaw", 8000, 1}, nil},
		{"Mixed", pcm16 + "&channels=2", stereo[44:], []any{"linear16", 16000, 1}, [][]int16{half}},
		{"Apart", pcm16 + "&channels=2&multichannel=true", stereo[44:], []any{"linear16", 16000, 2}, [][]int16{left, right}},
		{"WAV", "", stereo, []any{"wav", 16000, 1}, [][]int16{half}},
		{"WAVApart", "?multichannel=true", stereo, []any{"wav", 16000, 2}, [][]int16{left, right}},
		{"WAVOne", "?multichannel=true", audio.EncodeWAV(16000, left), []any{"wav", 16000, 1}, [][]int16{left}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, _, url := serve(t)
			c := dial(t, h, url+tt.query, nil)
			for chunk := range slices.Chunk(tt.data, 997) {
				c.sendAudio(chunk)
			}
			c.text(`{"type":"CloseStream"}`)
			all, _ := c.rest()
			pcm, described := c.in.received()
			if diff := cmp.Diff(tt.described, described); diff != "" {
				t.Fatalf("described (-want +got):\n%s", diff)
			}
			for i, want := range tt.want {
				if !slices.Equal(pcm[i], want) {
					t.Errorf("channel %d is not what was sent", i)
				}
			}
			last := all[len(all)-1]
			if len(pcm[0]) != len(left) || last.Duration != 0.3 || last.Channels != tt.described[2] {
				t.Errorf("got %d samples; %s", len(pcm[0]), last.raw)
			}
		})
	}
}

// near reports whether two times are the same but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Gapless is what every client of results relies on.
func checkGapless(t *testing.T, all []message) {
	t.Helper()
	end := map[int]float64{}
	for _, m := range all {
		if m.Type != "Results" {
			continue
		}
		i := m.ChannelIndex[0]
		if !near(m.Start, end[i]) {
			t.Errorf("starts at %v, want %v: %s", m.Start, end[i], m.raw)
		}
		if m.SpeechFinal && !m.IsFinal {
			t.Errorf("speech_final without is_final: %s", m.raw)
		}
		if m.IsFinal {
			end[i] = m.end()
		}
	}
}

func words(t *testing.T, all []message) string {
	t.Helper()
	var b bytes.Buffer
	for _, m := range all {
		if m.Type == "Results" && m.IsFinal {
			for _, w := range m.alternative(t).Words {
				b.WriteString(w.Word + " ")
			}
		}
	}
	return strings.TrimSpace(b.String())
}

func kinds(all []message) []string {
	var out []string
	for _, m := range all {
		out = append(out, m.Type)
	}
	return slices.Clip(out)
}

// The summary says what was asked for and not done.
func TestStream_Warnings(t *testing.T) {
	h, _, url := serve(t)
	c := dial(t, h, url+pcm16+"&diarize=true", nil)
	tone := make([]byte, 16000) // of mu-law, at 333 Hz
	for i := range tone {
		tone[i] = []byte{0xff, 0xa8, 0x98, 0x90, 0x8d, 0x8b, 0x8a, 0x8b, 0x8d, 0x90, 0x98, 0xa8, 0x7f, 0x28, 0x18, 0x10, 0x0d, 0x0b, 0x0a, 0x0b, 0x0d, 0x10, 0x18, 0x28}[i%24]
	}
	c.sendAudio(tone)
	c.in.emit(final(0, "noise"))
	c.next("Results")
	c.text(`{"type":"CloseStream"}`)
	all, _ := c.rest()
	got := all[len(all)-1].Warnings
	if len(got) != 2 || got[0].Parameter != "diarize" || got[1].Parameter != "encoding" || !strings.Contains(got[1].Message, "encoding=mulaw") {
		t.Errorf("%+v", got)
	}
}
