package pipe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// drainTimeout is how long answers may take after the client's last word.
	drainTimeout = 5 * time.Second
	// Hubs that die faster than this are not started again for ever.
	maxReturns   = 5
	returnWindow = time.Minute
)

// A Relay carries MCP messages between a client's standard input and output
// and the hub. When the hub dies it joins the next one: it says again what the
// client said at its start, answers what was under way with an error, and the
// client goes on as if nothing had happened.
//
// It is also kinder than the protocol asks: messages that come together with
// initialize wait for its answer, and an input that ends at once, as that of a
// shell script does, still gets its answers.
type Relay struct {
	// Dial joins the hub again, starting one if need be.
	Dial func(ctx context.Context) (net.Conn, error)
	Log  *slog.Logger

	mu       sync.Mutex
	change   sync.Cond           // pending or conn
	conn     net.Conn            // nil while there is no hub
	eof      bool                // whether the client's input has ended
	pending  map[string]struct{} // ids of requests without an answer
	opening  [][]byte            // initialize and what followed from it
	greeting string              // the id of initialize
	subs     map[string][]byte   // resources/subscribe by URI
}

// Run carries messages until the client's input ends, ctx ends, or no hub can
// be had any more. It closes conn.
func (r *Relay) Run(ctx context.Context, conn net.Conn, stdin io.Reader, stdout io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.pending, r.subs = map[string]struct{}{}, map[string][]byte{}
	r.change.L = &r.mu
	r.set(conn)
	defer func() { r.take().Close() }()
	defer context.AfterFunc(ctx, func() {
		r.take().Close()
		r.change.Broadcast()
	})()

	stdout = &lines{w: stdout}
	go r.upstream(ctx, stdin, stdout)

	var returns []time.Time
	for {
		err := r.downstream(bufio.NewReader(r.take()), stdout)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.hungUp() { // the client left first: the hub hung up as it should
			return nil
		}
		if we, ok := errors.AsType[*writeError](err); ok {
			return we.err
		}
		now := time.Now()
		returns = append(returns, now)
		if n := len(returns) - maxReturns; n > 0 && now.Sub(returns[n-1]) < returnWindow {
			return hearken.Errorf(hearken.Busy, "The hub ended %d times within a minute.", maxReturns).
				WithTry("its log, %s in the data directory", LogName)
		}
		r.Log.Warn("hub gone, joining again")
		if err := r.rejoin(ctx, stdout); err != nil {
			return err
		}
	}
}

// upstream carries the client's messages to whichever hub there is.
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
	r.wait(ctx, func() bool { return len(r.pending) == 0 })
	r.eof = true
	if r.conn != nil {
		hangUp(r.conn)
	}
}

// forward carries one line to the hub, or answers what the hub would not, and
// tells whether to go on.
func (r *Relay) forward(ctx context.Context, line []byte, stdout io.Writer) bool {
	if no := refusal(line); no != nil {
		_, err := stdout.Write(no)
		return err == nil
	}
	conn, ok := r.note(ctx, line)
	if !ok {
		return false
	}
	if _, err := conn.Write(line); err != nil {
		conn.Close() // downstream notices, and answers for the request
	}
	return true
}

// wait returns when cond holds, or ctx has ended. The caller holds the mutex.
func (r *Relay) wait(ctx context.Context, cond func() bool) {
	for !cond() && ctx.Err() == nil {
		r.change.Wait()
	}
}

// hangUp says that the client has no more to say and leaves the hub time for
// the answers that are still due.
func hangUp(conn net.Conn) {
	c, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		conn.Close()
		return
	}
	_ = c.CloseWrite() // who reads meets the same end
	conn.SetReadDeadline(time.Now().Add(drainTimeout))
}

// downstream carries one hub's messages to the client until that hub is gone.
func (r *Relay) downstream(in *bufio.Reader, stdout io.Writer) error {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		r.answered(line)
		if _, err := stdout.Write(line); err != nil {
			return &writeError{err}
		}
	}
}

// writeError tells the client's end of the relay from the hub's.
type writeError struct{ err error }

func (e *writeError) Error() string { return fmt.Sprintf("write to client: %v", e.err) }

// message is as much of a JSON-RPC message as the relay reads.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`
}

// note remembers what must be said again or answered for, and returns the hub
// to send the line to.
func (r *Relay) note(ctx context.Context, line []byte) (net.Conn, bool) {
	var m message
	_ = json.Unmarshal(line, &m) // what cannot be read is for the hub to refuse
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait(ctx, func() bool { return r.conn != nil && !r.waiting(r.greeting) })
	if ctx.Err() != nil {
		return nil, false
	}
	switch m.Method {
	case "initialize":
		r.opening = [][]byte{line}
		r.greeting = string(m.ID)
	case "notifications/initialized", "logging/setLevel":
		r.opening = append(r.opening, line)
	case "resources/subscribe":
		r.subs[m.Params.URI] = line
	case "resources/unsubscribe":
		delete(r.subs, m.Params.URI)
	}
	if m.Method != "" && len(m.ID) > 0 {
		r.pending[string(m.ID)] = struct{}{}
	}
	return r.conn, true
}

func (r *Relay) answered(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil || m.Method != "" || len(m.ID) == 0 {
		return
	}
	r.mu.Lock()
	delete(r.pending, string(m.ID))
	r.mu.Unlock()
	r.change.Broadcast()
}

func (r *Relay) waiting(id string) bool {
	_, ok := r.pending[id]
	return ok
}

// rejoin answers for what the old hub left, and introduces the client to the
// next one.
func (r *Relay) rejoin(ctx context.Context, stdout io.Writer) error {
	r.mu.Lock()
	r.conn.Close()
	r.conn = nil
	left := r.pending
	r.pending = map[string]struct{}{}
	again := append([][]byte{}, r.opening...)
	for _, line := range r.subs {
		again = append(again, line)
	}
	r.mu.Unlock()

	for id := range left {
		_, err := fmt.Fprintf(stdout, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"The hub ended while this was under way. Try: the same call again"}}`+"\n", id)
		if err != nil {
			return err
		}
	}
	conn, err := r.Dial(ctx)
	if err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for _, line := range again {
		if err := introduce(conn, in, stdout, line); err != nil {
			r.Log.Warn("hub gone while joining", "error", err)
			break // downstream meets the same end and tries again
		}
	}
	r.set(&buffered{Conn: conn, r: in})
	return nil
}

// introduce sends a line that the client sent to an earlier hub and keeps the
// answer, which the client already has, from it.
func introduce(conn net.Conn, in *bufio.Reader, stdout io.Writer, line []byte) error {
	var sent message
	_ = json.Unmarshal(line, &sent) // what cannot be read is for the hub to refuse
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

func (r *Relay) set(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn = conn
	r.change.Broadcast()
	if r.eof {
		hangUp(conn)
	}
}

func (r *Relay) hungUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.eof
}

// take is the hub's connection, or one that is closed where there is none.
func (r *Relay) take() net.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		c, _ := net.Pipe()
		c.Close()
		return c
	}
	return r.conn
}
