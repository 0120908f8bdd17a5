package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
)

// An engine stands in for Deepgram. It knows the recordings, so it hears every
// phrase exactly.
type engine struct {
	phrases []phrase // by their value, less [firstValue]
}

func newEngine(recordings ...*recording) *engine {
	e := &engine{}
	for _, r := range recordings {
		e.phrases = append(e.phrases, r.phrases...)
	}
	return e
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(1 << 20)
	s := &stream{engine: e, conn: conn, ctx: r.Context()}
	for {
		kind, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary {
			s.receive(data)
		} else if !s.control(data) {
			return
		}
	}
}

// A stream is one connection to the engine. Its times are in seconds.
type stream struct {
	engine  *engine
	conn    *websocket.Conn
	ctx     context.Context
	samples int
	value   int     // of the phrase that is being said; 0 for silence
	began   float64 // when it began
	settled float64 // the end of the last result
}

func (s *stream) now() float64 { return float64(s.samples) / hearken.SampleRate }

// receive takes audio. A phrase is final when it ends, and silence every second.
func (s *stream) receive(data []byte) {
	for ; len(data) > 1; data = data[2:] {
		if v := int(int16(binary.LittleEndian.Uint16(data))); v != s.value {
			s.settle(false)
			s.value, s.began = v, s.now()
		}
		s.samples++
		if s.value == 0 && s.now()-s.settled >= 1 {
			s.settle(false)
		}
	}
}

// control does what a text message asks for and reports whether the connection
// continues.
func (s *stream) control(data []byte) bool {
	var m struct{ Type string }
	if json.Unmarshal(data, &m) != nil {
		return false
	}
	switch m.Type {
	case "Finalize":
		s.settle(true)
	case "CloseStream":
		s.settle(false)
		s.write(map[string]any{"type": "Metadata", "request_id": "fixture", "duration": s.now(), "channels": 1})
		_ = s.conn.Close(websocket.StatusNormalClosure, "")
		return false
	}
	return true
}

// settle sends a final result for everything since the last one.
func (s *stream) settle(asked bool) {
	now := s.now()
	if now <= s.settled && !asked {
		return
	}
	text, words := "", []map[string]any{}
	if s.value >= firstValue && s.value-firstValue < len(s.engine.phrases) {
		p := s.engine.phrases[s.value-firstValue]
		text, words = p.text, s.words(&p, now)
	}
	s.write(map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "start": s.settled, "duration": now - s.settled,
		"is_final": true, "speech_final": text != "", "from_finalize": asked,
		"channel": map[string]any{"alternatives": []any{map[string]any{"transcript": text, "confidence": 0.96875, "words": words}}},
	})
	s.settled = now
}

// words spreads the words of a phrase over its time.
func (s *stream) words(p *phrase, end float64) (out []map[string]any) {
	all := p.split()
	each := (end - s.began) / float64(len(all))
	round := func(t float64) float64 { return math.Round(t*1000) / 1000 }
	for i, w := range all {
		out = append(out, map[string]any{
			"word": strings.ToLower(strings.Trim(w, ".,!?")), "punctuated_word": w, "confidence": 0.9375, "speaker": p.side,
			"start": round(s.began + float64(i)*each), "end": round(s.began + float64(i+1)*each),
		})
	}
	return out
}

func (s *stream) write(m any) {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	_ = s.conn.Write(ctx, websocket.MessageText, data) // the next read fails if this does
}
