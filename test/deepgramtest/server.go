package deepgramtest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
)

// A Server speaks Deepgram's streaming protocol as its documentation describes
// it: interim results at intervals, finals at pauses and after three seconds,
// which may end before the last interim result did, empty ones in silence. A
// connection without a message for ten seconds is closed.
type Server struct {
	Script []Word
	Key    string        // that clients must have; empty for none
	Every  time.Duration // of audio between results; half a second if 0
	// Stamp has the first word of a final end in [StampMark] and the time at
	// which it is sent, in nanoseconds.
	Stamp bool
	// Heard, if not nil, is called after every result with the seconds that
	// the connection has received.
	Heard func(seconds float64)

	stop context.Context // nil means never
	work sync.WaitGroup
}

// New is a server whose connections end with the test.
func New(t *testing.T, script []Word) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{Script: script, Key: "secret", stop: ctx}
	t.Cleanup(func() {
		cancel()
		s.work.Wait()
	})
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.work.Add(1)
	defer s.work.Done()
	w.Header().Set("dg-request-id", "11111111-2222-3333-4444-555555555555")
	if r.URL.Path != "/v1/listen" || s.Key != "" && r.Header.Get("Authorization") != "Token "+s.Key {
		http.Error(w, `{"err_code":"INVALID_AUTH","err_msg":"Invalid credentials."}`, http.StatusUnauthorized)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	c := &connection{server: s, conn: conn, step: hearken.SampleRate / 2}
	if s.Every > 0 {
		c.step = int(s.Every.Seconds() * hearken.SampleRate)
	}
	ms, _ := strconv.ParseFloat(r.URL.Query().Get("endpointing"), 64)
	c.endpointing = ms / 1000
	c.serve()
}

func (s *Server) context() context.Context {
	if s.stop == nil {
		return context.Background()
	}
	return s.stop
}

// A connection's times are in seconds since it began.
type connection struct {
	server      *Server
	conn        *websocket.Conn
	step        int // samples between results
	endpointing float64

	samples int
	words   []word  // that have ended since the last final
	value   int16   // of the word that is being spoken
	began   float64 // that word
	quiet   float64 // since the end of the last word
	final   float64 // the end of the last final
}

type word struct {
	Text       string  `json:"word"`
	Start      float64 `json:"start"`
	End        float64 `json:"end"`
	Confidence float64 `json:"confidence"`
	Speaker    int     `json:"speaker"`
	Punctuated string  `json:"punctuated_word"`
}

func newWord(text string, start, end float64) word { return word{text, start, end, 0.9, 0, text} }

// onset is how long the server takes to notice that a word began: a final in a
// pause may reach so far into the next word.
const onset = 0.06

func (c *connection) now() float64 { return float64(c.samples) / hearken.SampleRate }

func (c *connection) serve() {
	const idle = 10 * time.Second
	timer := time.AfterFunc(idle, func() { c.conn.CloseNow() })
	defer timer.Stop()
	for {
		kind, b, err := c.conn.Read(c.server.context())
		if err != nil {
			return
		}
		timer.Reset(idle)
		switch {
		case kind == websocket.MessageText:
			if !c.control(b) {
				return
			}
		case len(b) == 0 || len(b)%2 != 0:
			c.conn.Close(websocket.StatusPolicyViolation, "DATA-0000")
			return
		default:
			c.audio(b)
		}
	}
}

// control obeys a control message and reports whether the connection continues.
func (c *connection) control(b []byte) bool {
	var m struct{ Type string }
	if json.Unmarshal(b, &m) != nil {
		return false
	}
	switch m.Type {
	case "Finalize":
		c.endWord()
		c.finalize(c.now(), false, true)
	case "CloseStream":
		c.endWord()
		c.finalize(c.now(), false, false)
		c.write(map[string]any{"type": "Metadata", "request_id": "r", "duration": c.now(), "channels": 1})
		c.conn.Close(websocket.StatusNormalClosure, "")
		return false
	}
	return true
}

// audio takes audio in runs of equal samples.
func (c *connection) audio(b []byte) {
	for len(b) > 0 {
		most := min(len(b)/2, c.step-c.samples%c.step)
		n := 1
		for n < most && b[2*n] == b[0] && b[2*n+1] == b[1] {
			n++
		}
		if x := int16(b[0]) | int16(b[1])<<8; x != c.value {
			c.endWord()
			c.value, c.began = x, c.now()
		}
		c.samples += n
		b = b[2*n:]
		if c.samples%c.step == 0 {
			c.report()
			if c.server.Heard != nil {
				c.server.Heard(c.now())
			}
		}
	}
}

func (c *connection) speaking() bool { return c.value >= FirstWord }

// endWord notes the word that was spoken. A part of a word is misheard.
func (c *connection) endWord() {
	if !c.speaking() {
		return
	}
	w := c.server.Script[c.value-FirstWord]
	c.value = 0
	const enough = 0.9
	length, whole := c.now()-c.began, float64(w.To-w.From)/hearken.SampleRate
	switch {
	case length >= enough*whole:
	case length >= 0.05:
		w.Text = "mumble"
	default:
		return
	}
	c.words = append(c.words, newWord(w.Text, c.began, c.now()))
	c.quiet = c.now()
}

// report sends a result about the audio so far.
func (c *connection) report() {
	const long = 3 // seconds after which a final is due
	now := c.now()
	speaking := c.speaking() && now-c.began >= onset
	switch {
	case len(c.words) > 0 && !speaking && now-c.quiet >= c.endpointing:
		c.finalize(now, true, false)
	case len(c.words) == 0 && !speaking && now-c.final >= long:
		c.finalize(now, false, false)
	default:
		words := c.words
		if speaking {
			words = append(slices.Clip(words), newWord("ha", c.began, now))
		}
		c.result(now, words, false, false, false)
		if len(c.words) > 0 && now-c.final >= long {
			c.finalize(c.words[len(c.words)-1].End, false, false)
		}
	}
}

// finalize sends a final result up to end.
func (c *connection) finalize(end float64, paused, asked bool) {
	if end <= c.final {
		return
	}
	c.result(end, c.words, true, paused, asked)
	c.words, c.final = nil, end
}

// A result is a message with the fields that Deepgram's have.
type result struct {
	Type         string  `json:"type"`
	ChannelIndex [2]int  `json:"channel_index"`
	Duration     float64 `json:"duration"`
	Start        float64 `json:"start"`
	IsFinal      bool    `json:"is_final"`
	SpeechFinal  bool    `json:"speech_final"`
	Channel      struct {
		Alternatives [1]struct {
			Transcript string  `json:"transcript"`
			Confidence float64 `json:"confidence"`
			Words      []word  `json:"words"`
		} `json:"alternatives"`
	} `json:"channel"`
	Metadata struct {
		RequestID string `json:"request_id"`
		ModelInfo struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Arch    string `json:"arch"`
		} `json:"model_info"`
		ModelUUID string `json:"model_uuid"`
	} `json:"metadata"`
	FromFinalize bool `json:"from_finalize"`
}

func (c *connection) result(end float64, words []word, final, paused, asked bool) {
	m := result{
		Type: "Results", ChannelIndex: [2]int{0, 1}, Start: c.final, Duration: end - c.final,
		IsFinal: final, SpeechFinal: paused, FromFinalize: asked,
	}
	m.Metadata.RequestID, m.Metadata.ModelUUID = "5a7d3f4e-0f4e-4a11-9f5e-0c4a3b1f7e62", "2f6b1c9a-6f57-4b8b-9c1d-1e1b9d8d4c11"
	m.Metadata.ModelInfo.Name, m.Metadata.ModelInfo.Version, m.Metadata.ModelInfo.Arch = "general-nova-3", "2025-04-17.21547", "nova-3"
	if final && c.server.Stamp && len(words) > 0 {
		words[0].Punctuated += StampMark + strconv.FormatInt(time.Now().UnixNano(), 10)
	}
	best := &m.Channel.Alternatives[0]
	best.Confidence, best.Words = 0.9, append([]word{}, words...)
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Punctuated
	}
	best.Transcript = strings.Join(texts, " ")
	c.write(m)
}

// StampMark precedes the time in a stamped final; see [Server].
const StampMark = "@"

func (c *connection) write(m any) {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // our own types always marshal
	}
	ctx, cancel := context.WithTimeout(c.server.context(), 10*time.Second)
	defer cancel()
	_ = c.conn.Write(ctx, websocket.MessageText, b) // the next read fails too
}
