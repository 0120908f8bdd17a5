package pipe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// drainTimeout is how long answers may take after the client's input ended.
	drainTimeout = 5 * time.Second
	// The relay gives up on hubs that die more often than this.
	maxRejoins   = 5
	rejoinWindow = time.Minute
)

// A Relay carries MCP messages between a client's standard input and output
// and the hub. When the hub dies it joins the next one: it repeats the client's
// handshake and subscriptions there, and answers open requests with an error.
// The client does not notice anything else.
//
// It is more lenient than the protocol requires: messages that follow
// initialize at once wait for its answer, and an input that ends at once, as a
// shell script's does, still gets its answers.
type Relay struct {
	// Dial connects to the next hub, starting one if needed.
	Dial func(ctx context.Context) (net.Conn, error)
	Log  *slog.Logger

	mu            sync.Mutex
	change        sync.Cond       // pending or conn changed
	conn          net.Conn        // nil while there is no hub
	eof           bool            // the client's input has ended
	pending       map[string]bool // ids of requests without an answer
	handshake     [][]byte        // initialize and the messages that belong to it
	initializeID  string
	subscriptions map[string][]byte // resources/subscribe by URI
}

// Run carries messages until the client's input ends, ctx ends, or no hub can
// be reached any more. It closes conn.
func (r *Relay) Run(ctx context.Context, conn net.Conn, stdin io.Reader, stdout io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.pending, r.subscriptions = map[string]bool{}, map[string][]byte{}
	r.change.L = &r.mu
	r.setHub(conn)
	defer func() { r.currentHub().Close() }()
	defer context.AfterFunc(ctx, func() {
		r.currentHub().Close()
		r.change.Broadcast()
	})()

	stdout = &lineWriter{w: stdout}
	go r.upstream(ctx, stdin, stdout)

	var rejoins []time.Time
	for {
		clientErr := r.downstream(bufio.NewReader(r.currentHub()), stdout)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.inputEnded() { // so the hub closed the connection as it should
			return nil
		}
		if clientErr != nil {
			return clientErr
		}
		now := time.Now()
		rejoins = append(rejoins, now)
		if n := len(rejoins) - maxRejoins; n > 0 && now.Sub(rejoins[n-1]) < rejoinWindow {
			return hearken.Errorf(hearken.Busy, "The hub ended %d times within a minute.", maxRejoins).
				WithTry("its log, %s in the data directory", LogName)
		}
		r.Log.Warn("the hub ended, joining the next one")
		if err := r.rejoin(ctx, stdout); err != nil {
			return err
		}
	}
}

// upstream carries the client's messages to the current hub.
func (r *Relay) upstream(ctx context.Context, stdin io.Reader, stdout io.Writer) {
	in := bufio.NewReaderSize(stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if line[len(line)-1] != '\n' {
				line = append(line, '\n')
			}
			if !r.forward(ctx, line, stdout) {
				return
			}
		}
		if err != nil {
			break
		}
	}
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, r.change.Broadcast)()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waitUntil(ctx, func() bool { return len(r.pending) == 0 })
	r.eof = true
	if r.conn != nil {
		hangUp(r.conn)
	}
}

// forward sends one line to the hub, or answers a line that is not a valid
// message. It reports whether the relay can continue.
func (r *Relay) forward(ctx context.Context, line []byte, stdout io.Writer) bool {
	if rejection := rejectionOf(line); rejection != nil {
		_, err := stdout.Write(rejection)
		return err == nil
	}
	conn, ok := r.track(ctx, line)
	if !ok {
		return false
	}
	if _, err := conn.Write(line); err != nil {
		conn.Close() // downstream notices and answers the request
	}
	return true
}

// waitUntil returns when cond holds, or ctx has ended. The caller holds the mutex.
func (r *Relay) waitUntil(ctx context.Context, cond func() bool) {
	for !cond() && ctx.Err() == nil {
		r.change.Wait()
	}
}

// hangUp tells the hub that the client sends no more, and leaves it time for
// the answers that are still open.
func hangUp(conn net.Conn) {
	c, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		conn.Close()
		return
	}
	_ = c.CloseWrite() // the reader meets the same error
	conn.SetReadDeadline(time.Now().Add(drainTimeout))
}

// downstream carries one hub's messages to the client until the hub is gone. It
// fails only if the client cannot be reached.
func (r *Relay) downstream(in *bufio.Reader, stdout io.Writer) error {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil
		}
		r.markAnswered(line)
		if _, err := stdout.Write(line); err != nil {
			return err
		}
	}
}

// track remembers what to repeat to the next hub and what to answer if this one
// dies, and finds the hub to send the line to.
func (r *Relay) track(ctx context.Context, line []byte) (net.Conn, bool) {
	var m message
	_ = json.Unmarshal(line, &m) // the hub refuses what cannot be read
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waitUntil(ctx, func() bool { return r.conn != nil && !r.pending[r.initializeID] })
	if ctx.Err() != nil {
		return nil, false
	}
	switch m.Method {
	case "initialize":
		r.handshake = [][]byte{line}
		r.initializeID = string(m.ID)
	case "notifications/initialized", "logging/setLevel":
		r.handshake = append(r.handshake, line)
	case "resources/subscribe":
		r.subscriptions[m.Params.URI] = line
	case "resources/unsubscribe":
		delete(r.subscriptions, m.Params.URI)
	}
	if m.Method != "" && len(m.ID) > 0 {
		r.pending[string(m.ID)] = true
	}
	return r.conn, true
}

func (r *Relay) markAnswered(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil || m.Method != "" || len(m.ID) == 0 {
		return
	}
	r.mu.Lock()
	delete(r.pending, string(m.ID))
	r.mu.Unlock()
	r.change.Broadcast()
}

// errHubEnded answers the requests that a hub left open.
var errHubEnded = hearken.Errorf(hearken.Busy, "The hub ended during this call.").WithTry("the same call again")

// rejoin answers the requests that the old hub left open, connects to the next
// hub and repeats the client's handshake there.
func (r *Relay) rejoin(ctx context.Context, stdout io.Writer) error {
	r.mu.Lock()
	r.conn.Close()
	r.conn = nil
	open := r.pending
	r.pending = map[string]bool{}
	repeat := slices.AppendSeq(slices.Clone(r.handshake), maps.Values(r.subscriptions))
	r.mu.Unlock()

	data, err := json.Marshal(errHubEnded)
	if err != nil {
		return err
	}
	for id := range open {
		_, err := fmt.Fprintf(stdout, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q,"data":%s}}`+"\n",
			id, errHubEnded.Code.RPC(), errHubEnded.Error(), data)
		if err != nil {
			return err
		}
	}
	conn, err := r.Dial(ctx)
	if err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for _, line := range repeat {
		if err := replay(conn, in, stdout, line); err != nil {
			r.Log.Warn("the hub ended during the handshake", "error", err)
			break // downstream meets the same error and tries again
		}
	}
	r.setHub(&bufferedConn{Conn: conn, r: in})
	return nil
}

// replay sends a line that the client sent to an earlier hub. It drops the
// answer, which the client already has.
func replay(conn net.Conn, in *bufio.Reader, stdout io.Writer, line []byte) error {
	var sent message
	_ = json.Unmarshal(line, &sent) // the hub refuses what cannot be read
	if _, err := conn.Write(line); err != nil {
		return err
	}
	for len(sent.ID) > 0 {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		var got message
		if json.Unmarshal(line, &got) == nil && got.Method == "" && bytes.Equal(got.ID, sent.ID) {
			return nil
		}
		if _, err := stdout.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (r *Relay) setHub(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn = conn
	r.change.Broadcast()
	if r.eof {
		hangUp(conn)
	}
}

func (r *Relay) inputEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.eof
}

// currentHub returns the hub's connection, or a closed one if there is no hub.
func (r *Relay) currentHub() net.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		c, _ := net.Pipe()
		c.Close()
		return c
	}
	return r.conn
}
