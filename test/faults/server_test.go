package faults_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
)

// A standIn is a server that speaks Deepgram's streaming protocol as its
// documentation describes it, about sound that [speech] made: results twice a
// second, finals at pauses and when there is much, which may end before the
// last interim result did, empty ones in silence, no sound for ten seconds is
// the end.
type standIn struct {
	script []spoken
	// heard is called with the time of the connection at every step, if not nil.
	heard func(seconds float64)

	stop context.Context
	work sync.WaitGroup
}

func newStandIn(t *testing.T, script []spoken) *standIn {
	ctx, cancel := context.WithCancel(context.Background())
	s := &standIn{script: script, stop: ctx}
	t.Cleanup(func() {
		cancel()
		s.work.Wait()
	})
	return s
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.work.Add(1)
	defer s.work.Done()
	w.Header().Set("dg-request-id", "11111111-2222-3333-4444-555555555555")
	if r.URL.Path != "/v1/listen" || r.Header.Get("Authorization") != "Token secret" {
		http.Error(w, `{"err_code":"INVALID_AUTH","err_msg":"Invalid credentials."}`, http.StatusUnauthorized)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	ear := &ear{server: s, conn: conn}
	ear.endpointing, _ = strconv.ParseFloat(r.URL.Query().Get("endpointing"), 64)
	ear.endpointing /= 1000
	ear.serve()
}

// An ear is one connection. Its times are seconds of the connection.
type ear struct {
	server      *standIn
	conn        *websocket.Conn
	endpointing float64

	samples int
	words   []heardWord // that have ended since the last final
	value   int16       // of the word that is being said
	began   float64
	quiet   float64 // end of the last word
	final   float64 // end of the last final
}

// onset is how long the server takes to notice that a word began: a final in a
// pause may go so far into the next word.
const onset = 0.06

type heardWord struct {
	text       string
	start, end float64
}

func (e *ear) now() float64 { return float64(e.samples) / hearken.SampleRate }

func (e *ear) serve() {
	for {
		ctx, cancel := context.WithTimeout(e.server.stop, 10*time.Second)
		kind, b, err := e.conn.Read(ctx)
		cancel()
		if err != nil {
			return
		}
		if kind == websocket.MessageText {
			if !e.told(b) {
				return
			}
			continue
		}
		if len(b) == 0 || len(b)%2 != 0 {
			e.conn.Close(websocket.StatusPolicyViolation, "DATA-0000")
			return
		}
		e.hear(b)
	}
}

// told does what a text asks for and tells whether the connection goes on.
func (e *ear) told(b []byte) bool {
	var m struct{ Type string }
	if json.Unmarshal(b, &m) != nil {
		return false
	}
	switch m.Type {
	case "Finalize":
		e.endWord()
		e.settle(e.now(), false, true)
	case "CloseStream":
		e.endWord()
		e.settle(e.now(), false, false)
		e.say(map[string]any{"type": "Metadata", "request_id": "r", "duration": e.now(), "channels": 1})
		e.conn.Close(websocket.StatusNormalClosure, "")
		return false
	}
	return true
}

// hear takes sound, in runs of the same sample, and speaks twice a second.
func (e *ear) hear(b []byte) {
	const step = hearken.SampleRate / 2
	for len(b) > 0 {
		most := min(len(b)/2, step-e.samples%step)
		n := 1
		for n < most && b[2*n] == b[0] && b[2*n+1] == b[1] {
			n++
		}
		if x := int16(b[0]) | int16(b[1])<<8; x != e.value {
			e.endWord()
			e.value, e.began = x, e.now()
		}
		e.samples += n
		b = b[2*n:]
		if e.samples%step == 0 {
			e.speak()
			if e.server.heard != nil {
				e.server.heard(e.now())
			}
		}
	}
}

func (e *ear) saying() bool { return e.value >= firstWord }

// endWord notes the word that is being said. One of which not all was heard is
// misheard.
func (e *ear) endWord() {
	if !e.saying() {
		return
	}
	w := e.server.script[e.value-firstWord]
	e.value = 0
	const enough = 0.9
	length, whole := e.now()-e.began, float64(w.to-w.from)/hearken.SampleRate
	switch {
	case length >= enough*whole:
	case length >= 0.05:
		w.text = "mumble"
	default:
		return
	}
	e.words = append(e.words, heardWord{w.text, e.began, e.now()})
	e.quiet = e.now()
}

// speak says what the sound so far is worth.
func (e *ear) speak() {
	now := e.now()
	saying := e.saying() && now-e.began >= onset
	switch {
	case len(e.words) > 0 && !saying && now-e.quiet >= e.endpointing:
		e.settle(now, true, false)
	case len(e.words) == 0 && !saying && now-e.final >= 3:
		e.settle(now, false, false)
	default:
		words := e.words
		if saying {
			words = append(slices.Clip(words), heardWord{"ha", e.began, now})
		}
		e.result(now, words, false, false, false)
		if len(e.words) > 0 && now-e.final >= 3 {
			e.settle(e.words[len(e.words)-1].end, false, false)
		}
	}
}

// settle says a final that goes to end.
func (e *ear) settle(end float64, paused, asked bool) {
	if end <= e.final {
		return
	}
	e.result(end, e.words, true, paused, asked)
	e.words, e.final = nil, end
}

func (e *ear) result(end float64, words []heardWord, final, paused, asked bool) {
	text, list := "", []map[string]any{}
	for _, w := range words {
		text += " " + w.text
		list = append(list, map[string]any{"word": w.text, "punctuated_word": w.text, "start": w.start, "end": w.end, "confidence": 0.9, "speaker": 0})
	}
	e.say(map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "start": e.final, "duration": end - e.final,
		"is_final": final, "speech_final": paused, "from_finalize": asked,
		"channel":  map[string]any{"alternatives": []any{map[string]any{"transcript": text, "confidence": 0.9, "words": list}}},
		"metadata": map[string]any{"request_id": "r", "model_uuid": "m"},
	})
}

func (e *ear) say(m map[string]any) {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(e.server.stop, 10*time.Second)
	defer cancel()
	_ = e.conn.Write(ctx, websocket.MessageText, b) // who reads next is told
}
