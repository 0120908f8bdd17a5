package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
)

// standInCommand makes this program a server that speaks Deepgram's protocol.
const standInCommand = "relay-stand-in"

// A standIn speaks Deepgram's streaming protocol about sound of [newScript]: a
// result each second, finals at pauses and when there is much, empty ones in
// silence. Its words are exact, so what is wrong with them after a relay is
// the relay's fault.
type standIn struct {
	stamp bool // finals begin with the moment at which they are sent
}

// serveStandIn serves until the program is told to end.
func serveStandIn(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(standInCommand, flag.ContinueOnError)
	stamp := flags.Bool("stamp", false, "put the moment of sending into finals")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return serveLoopback(ctx, &standIn{stamp: *stamp})
}

// serveLoopback serves on a free port, which it prints.
func serveLoopback(ctx context.Context, handler http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "http://%s\n", l.Addr())
	srv := &http.Server{Handler: handler}
	context.AfterFunc(ctx, func() { srv.Close() })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	e := &standInEar{conn: conn, stamp: s.stamp}
	pause, _ := strconv.ParseFloat(r.URL.Query().Get("endpointing"), 64)
	e.pause = pause / 1000
	// Deepgram ends a stream that is not heard of for ten seconds.
	const patience = 10 * time.Second
	gone := time.AfterFunc(patience, func() { conn.CloseNow() })
	defer gone.Stop()
	for {
		kind, b, err := conn.Read(context.Background())
		if err != nil {
			return
		}
		gone.Reset(patience)
		if kind == websocket.MessageBinary {
			e.hear(b)
		} else if !e.told(b) {
			return
		}
	}
}

// A standInEar is one connection. Its times are seconds of the connection.
type standInEar struct {
	conn  *websocket.Conn
	stamp bool
	pause float64 // that ends a segment

	samples int
	words   []standInWord // that have ended since the last final
	value   int16         // of the word that is being said
	began   float64
	quiet   float64 // end of the last word
	final   float64 // end of the last final
}

type standInWord struct {
	Word       string  `json:"word"`
	Start      float64 `json:"start"`
	End        float64 `json:"end"`
	Confidence float64 `json:"confidence"`
	Speaker    int     `json:"speaker"`
	Punctuated string  `json:"punctuated_word"`
}

func newStandInWord(text string, start, end float64) standInWord {
	return standInWord{text, start, end, 0.9, 0, text}
}

func (e *standInEar) now() float64 { return float64(e.samples) / hearken.SampleRate }

// told does what a text asks for and tells whether the connection goes on.
func (e *standInEar) told(b []byte) bool {
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

// hear takes sound, in runs of the same sample, and speaks once a second.
func (e *standInEar) hear(b []byte) {
	const step = hearken.SampleRate
	for len(b) > 1 {
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
		}
	}
}

func (e *standInEar) saying() bool { return e.value >= firstWord }

// endWord notes the word that is being said. Who heard only a tail or a head of
// it has heard something else: the name of the word says how much.
func (e *standInEar) endWord() {
	if !e.saying() {
		return
	}
	const least = 0.05
	if length := e.now() - e.began; length >= least {
		text := fmt.Sprintf("w%d:%d", e.value-firstWord, int(length*1000+0.5))
		e.words = append(e.words, newStandInWord(text, e.began, e.now()))
	}
	e.value, e.quiet = 0, e.now()
}

// speak says what the sound so far is worth.
func (e *standInEar) speak() {
	const onset, much = 0.06, 3 // in seconds: a word is noticed, a final is due
	now := e.now()
	saying := e.saying() && now-e.began >= onset
	switch {
	case len(e.words) > 0 && !saying && now-e.quiet >= e.pause:
		e.settle(now, true, false)
	case len(e.words) == 0 && !saying && now-e.final >= much:
		e.settle(now, false, false)
	default:
		words := e.words
		if saying {
			words = append(slices.Clip(words), newStandInWord("ha", e.began, now))
		}
		e.result(now, words, false, false, false)
		if len(e.words) > 0 && now-e.final >= much {
			e.settle(e.words[len(e.words)-1].End, false, false)
		}
	}
}

// settle says a final that goes to end.
func (e *standInEar) settle(end float64, paused, asked bool) {
	if end <= e.final {
		return
	}
	e.result(end, e.words, true, paused, asked)
	e.words, e.final = nil, end
}

// A standInResult is a message of the kind that matters, with the fields that
// Deepgram's have.
type standInResult struct {
	Type         string  `json:"type"`
	ChannelIndex [2]int  `json:"channel_index"`
	Duration     float64 `json:"duration"`
	Start        float64 `json:"start"`
	IsFinal      bool    `json:"is_final"`
	SpeechFinal  bool    `json:"speech_final"`
	Channel      struct {
		Alternatives [1]struct {
			Transcript string        `json:"transcript"`
			Confidence float64       `json:"confidence"`
			Words      []standInWord `json:"words"`
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

func (e *standInEar) result(end float64, words []standInWord, final, paused, asked bool) {
	m := standInResult{
		Type: "Results", ChannelIndex: [2]int{0, 1}, Start: e.final, Duration: end - e.final,
		IsFinal: final, SpeechFinal: paused, FromFinalize: asked,
	}
	m.Metadata.RequestID, m.Metadata.ModelUUID = "5a7d3f4e-0f4e-4a11-9f5e-0c4a3b1f7e62", "2f6b1c9a-6f57-4b8b-9c1d-1e1b9d8d4c11"
	m.Metadata.ModelInfo.Name, m.Metadata.ModelInfo.Version, m.Metadata.ModelInfo.Arch = "general-nova-3", "2025-04-17.21547", "nova-3"
	best := &m.Channel.Alternatives[0]
	best.Confidence, best.Words = 0.9, words
	if final && e.stamp && len(words) > 0 {
		words[0].Punctuated += stampMark + strconv.FormatInt(time.Now().UnixNano(), 10)
	}
	for i, w := range words {
		if i > 0 {
			best.Transcript += " "
		}
		best.Transcript += w.Punctuated
	}
	if best.Words == nil {
		best.Words = []standInWord{}
	}
	e.say(m)
}

// stampMark stands before the moment in the first word of a final.
const stampMark = "@"

func (e *standInEar) say(m any) {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // our own types always marshal
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = e.conn.Write(ctx, websocket.MessageText, b) // who reads next is told
}
