package deepgram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/deepgram"
)

const testKey = "dg-secret-0123456789"

// A fake is a server that speaks Deepgram's streaming protocol, as its
// documentation describes it, about sound that [sound] made.
type fake struct {
	script []scriptWord
	refuse func(w http.ResponseWriter) // answers the handshake if not nil
	at     float64                     // when the fault happens, in seconds of a connection
	fault  func(*fakeConn) bool        // tells whether the connection goes on
	shape  func(map[string]any)        // changes a message before it is sent

	stop chan struct{}
	work sync.WaitGroup

	mu     sync.Mutex
	visits []*fakeConn
}

func newFake(t *testing.T, script []scriptWord) *fake {
	f := &fake{script: script, stop: make(chan struct{})}
	t.Cleanup(func() {
		close(f.stop)
		f.work.Wait()
	})
	return f
}

// serve starts the server on the loopback and makes a provider for it.
func (f *fake) serve(t *testing.T, cfg deepgram.Config) *deepgram.Provider {
	cfg.BaseURL, cfg.APIKey = "ws://"+newServer(t, f), testKey
	if cfg.Pace == 0 {
		cfg.Pace = -1
	}
	return deepgram.New(cfg)
}

func newServer(t *testing.T, f *fake) string {
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// visit waits until the i-th connection has ended and returns it.
func (f *fake) conn(t *testing.T, i int) *fakeConn {
	t.Helper()
	f.mu.Lock()
	visits := f.visits
	f.mu.Unlock()
	if i >= len(visits) {
		t.Fatalf("there were only %d connections", len(visits))
	}
	v := visits[i]
	<-v.done
	return v
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.work.Add(1)
	defer f.work.Done()
	w.Header().Set("dg-request-id", "11111111-2222-3333-4444-555555555555")
	q := r.URL.Query()
	switch {
	case f.refuse != nil:
		f.refuse(w)
		return
	case r.URL.Path != "/v1/listen":
		http.NotFound(w, r)
		return
	case r.Header.Get("Authorization") != "Token "+testKey:
		refuse(401, "INVALID_AUTH", "Invalid credentials.")(w)
		return
	case q.Get("encoding") != "linear16" || q.Get("sample_rate") != "16000" || q.Get("channels") != "1":
		refuse(400, "Bad Request", "the fake hears only linear16 at 16000")(w)
		return
	case q.Get("utterance_end_ms") != "" && q.Get("interim_results") != "true":
		refuse(400, "Bad Request", "utterance_end_ms needs interim_results")(w)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	v := &fakeConn{f: f, conn: conn, query: q, done: make(chan struct{}), opened: time.Now()}
	v.idle = time.AfterFunc(10*time.Second, v.timeOut)
	f.mu.Lock()
	f.visits = append(f.visits, v)
	f.mu.Unlock()
	v.serve()
}

// refuse answers a handshake as Deepgram does.
func refuse(status int, code, reason string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("dg-error", reason)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]string{"err_code": code, "err_msg": reason, "request_id": "r-1"})
	}
}

// A visit is one connection, and what came in on it.
type fakeConn struct {
	f      *fake
	conn   *websocket.Conn
	query  url.Values
	idle   *time.Timer
	opened time.Time
	done   chan struct{}

	mute bool // says nothing more, and does not close

	texts             []string // messages besides audio
	shortest, longest int      // message with sound, in samples
	over              float64  // seconds of sound that came too early for a pace of 1.25
	firstSound        time.Duration
	ended             error // how the connection ended

	recognition
}

func (v *fakeConn) timeOut() { v.conn.Close(websocket.StatusInternalError, "NET-0001") }

func (v *fakeConn) serve() {
	defer close(v.done)
	defer v.conn.CloseNow()
	defer v.idle.Stop()
	v.conn.SetReadLimit(1 << 20)
	for {
		typ, b, err := v.conn.Read(context.Background())
		if err != nil {
			v.ended = err
			return
		}
		if typ == websocket.MessageText {
			if !v.handleText(b) {
				return
			}
			continue
		}
		if len(b) == 0 || len(b)%2 != 0 {
			v.ended = fmt.Errorf("a binary message of %d bytes", len(b))
			v.conn.Close(websocket.StatusPolicyViolation, "DATA-0000")
			return
		}
		v.count(len(b) / 2)
		v.idle.Reset(10 * time.Second)
		for i := 0; i < len(b); i += 2 {
			if !v.nextSample(int16(b[i]) | int16(b[i+1])<<8) {
				return
			}
		}
	}
}

func (v *fakeConn) count(n int) {
	since := time.Since(v.opened)
	if v.longest == 0 {
		v.shortest, v.firstSound = n, since
	}
	v.shortest, v.longest = min(v.shortest, n), max(v.longest, n)
	v.over = max(v.over, float64(v.samples+n)/hearken.SampleRate-1.25*since.Seconds())
}

// handleText handles a text message and reports whether the connection continues.
func (v *fakeConn) handleText(b []byte) bool {
	var m struct{ Type string }
	if err := json.Unmarshal(b, &m); err != nil {
		v.ended = err
		return false
	}
	v.texts = append(v.texts, m.Type)
	switch m.Type {
	case "KeepAlive":
		if v.samples > 0 { // before the first sound it does not count
			v.idle.Reset(10 * time.Second)
		}
	case "Finalize":
		v.endWord()
		v.finish(v.now(), false, true)
	case "CloseStream":
		v.endWord()
		v.finish(v.now(), false, false)
		v.say(map[string]any{
			"type": "Metadata", "transaction_key": "deprecated", "request_id": "r-1", "sha256": "e3b0", "created": "2026-08-29T22:37:55.202Z",
			"duration": v.now(), "channels": 1,
		})
		if v.mute {
			v.idle.Stop()
			return true
		}
		v.ended = v.conn.Close(websocket.StatusNormalClosure, "")
		return false
	default:
		v.ended = errors.New("unknown message " + m.Type)
		return false
	}
	return true
}

func (v *fakeConn) say(m map[string]any) {
	if v.f.shape != nil {
		v.f.shape(m)
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	v.sayRaw(string(b))
}

func (v *fakeConn) sayRaw(s string) {
	if !v.mute {
		v.conn.Write(context.Background(), websocket.MessageText, []byte(s))
	}
}

func (v *fakeConn) millis(name string) float64 {
	n, _ := strconv.Atoi(v.query.Get(name))
	return float64(n) / 1000
}
