package faults_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken/test/faults"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A wire is a proxy in front of a server whose connections the test itself
// holds.
type wire struct {
	t        *testing.T
	proxy    *faults.Proxy
	dial     faults.Dialer
	accepted chan net.Conn
}

// newTCP makes a wire of real connections.
func newTCP(t *testing.T) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := faults.New(t, l.Addr().String())
	return newWire(t, l, p, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", p.Addr())
	})
}

// newMemory makes a wire that needs no system.
func newMemory(t *testing.T) *wire {
	near, far := faults.NewMemory(), faults.NewMemory()
	p := faults.Serve(near, far.Dial)
	t.Cleanup(p.Close)
	return newWire(t, far, p, near.Dial)
}

func newWire(t *testing.T, l net.Listener, p *faults.Proxy, dial faults.Dialer) *wire {
	w := &wire{t: t, proxy: p, dial: dial, accepted: make(chan net.Conn, 8)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.accepted <- c
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return w
}

// connect returns both ends of a new connection, which has passed a byte on,
// so that the proxy knows it.
func (w *wire) connect() (client, server net.Conn) {
	w.t.Helper()
	client, err := w.dial(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	server = <-w.accepted
	w.t.Cleanup(func() {
		client.Close()
		server.Close()
	})
	w.passes(client, server, "!")
	return client, server
}

// passes sends a text from one end to the other.
func (w *wire) passes(from, to net.Conn, text string) {
	w.t.Helper()
	if _, err := io.WriteString(from, text); err != nil {
		w.t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(to, got); err != nil || string(got) != text {
		w.t.Fatalf("%q arrived: %v", got, err)
	}
}

// ends is how a connection ends for its reader.
func ends(c net.Conn) error {
	_, err := c.Read(make([]byte, 1))
	return err
}

// everywhere runs a test on every network.
func everywhere(t *testing.T, test func(*wire)) {
	t.Run("TCP", func(t *testing.T) { test(newTCP(t)) })
	t.Run("Memory", func(t *testing.T) { test(newMemory(t)) })
}

func TestProxy(t *testing.T) {
	everywhere(t, func(w *wire) {
		client, server := w.connect()
		w.passes(client, server, "to the server")
		w.passes(server, client, "back")
		long := strings.Repeat("0123456789", 50_000)
		go io.WriteString(client, long)
		got := make([]byte, len(long))
		if _, err := io.ReadFull(server, got); err != nil || string(got) != long {
			w.t.Fatalf("half a megabyte did not arrive as it was: %v", err)
		}
		// The end of one direction leaves the other.
		if err := client.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			w.t.Fatal(err)
		}
		if err := ends(server); !errors.Is(err, io.EOF) {
			w.t.Errorf("the server reads %v", err)
		}
		w.passes(server, client, "and goodbye")
		want := faults.Stats{Connections: 1, Open: 1, ToServer: 1 + 13 + 500_000, ToClient: 4 + 11}
		if diff := cmp.Diff(want, w.proxy.Stats()); diff != "" {
			w.t.Error(diff)
		}
		server.Close()
		if err := ends(client); !errors.Is(err, io.EOF) {
			w.t.Errorf("the client reads %v", err)
		}
	})
}

func TestProxy_Cut(t *testing.T) {
	everywhere(t, func(w *wire) {
		client, server := w.connect()
		other, _ := w.connect()
		w.passes(client, server, "hello")
		w.proxy.Cut()
		for _, c := range []net.Conn{client, server, other} {
			if err := ends(c); !errors.Is(err, io.EOF) {
				w.t.Errorf("a connection that was cut ends with %v", err)
			}
		}
		client, server = w.connect()
		w.passes(client, server, "again")
	})
}

func TestProxy_Reset(t *testing.T) {
	everywhere(t, func(w *wire) {
		client, server := w.connect()
		w.passes(client, server, "hello")
		w.proxy.Reset()
		for _, c := range []net.Conn{client, server} {
			if err := ends(c); !errors.Is(err, syscall.ECONNRESET) {
				w.t.Errorf("a connection that was reset ends with %v", err)
			}
		}
		client, server = w.connect()
		w.passes(client, server, "again")
	})
}

func TestProxy_HalfClose(t *testing.T) {
	everywhere(t, func(w *wire) {
		client, server := w.connect()
		w.proxy.HalfClose(faults.ToClient)
		if err := ends(client); !errors.Is(err, io.EOF) {
			w.t.Errorf("the client reads %v", err)
		}
		w.passes(client, server, "still here")
		if _, err := io.WriteString(server, "who?"); err != nil {
			w.t.Errorf("the server is told: %v", err)
		}
		w.passes(client, server, "and here")

		client, server = w.connect()
		w.proxy.HalfClose(faults.ToServer)
		if err := ends(server); !errors.Is(err, io.EOF) {
			w.t.Errorf("the server reads %v", err)
		}
		w.passes(server, client, "still here")
		if _, err := io.WriteString(client, "who?"); err != nil {
			w.t.Errorf("the client is told: %v", err)
		}
	})
}

func TestProxy_Answer(t *testing.T) {
	everywhere(t, func(w *wire) {
		w.proxy.Answer(2, 429, http.Header{"Retry-After": {"7"}}, "too many")
		for range 2 {
			c, err := w.dial(w.t.Context())
			if err != nil {
				w.t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, "GET /v1/listen HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				w.t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "7" || string(body) != "too many" {
				w.t.Errorf("answer %d %v %q: %v", resp.StatusCode, resp.Header, body, err)
			}
		}
		client, server := w.connect()
		w.passes(client, server, "hello")
		if s := w.proxy.Stats(); s.Answered != 2 || s.Connections != 1 {
			w.t.Errorf("stats %+v", s)
		}
	})
}

// Close ends what is open, what is stalled and what is refused.
func TestProxy_Close(t *testing.T) {
	everywhere(t, func(w *wire) {
		client, server := w.connect()
		w.proxy.Stall(time.Hour)
		if _, err := io.WriteString(client, "held"); err != nil {
			w.t.Fatal(err)
		}
		w.proxy.Answer(1, 401, nil, "")
		if c, err := w.dial(w.t.Context()); err == nil {
			defer c.Close() // says nothing
		}
		w.proxy.Close()
		for _, c := range []net.Conn{client, server} {
			if ends(c) == nil {
				w.t.Error("a connection outlives the proxy")
			}
		}
		if c, err := w.dial(w.t.Context()); err == nil {
			c.Close()
			w.t.Error("the proxy still takes connections")
		}
	})
}

// timed runs a test on a clock of its own and returns how long things take.
func timed(t *testing.T, test func(w *wire, took func(func()) time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		test(newMemory(t), func(do func()) time.Duration {
			began := time.Now()
			do()
			return time.Since(began)
		})
	})
}

func TestProxy_Stall(t *testing.T) {
	timed(t, func(w *wire, took func(func()) time.Duration) {
		client, server := w.connect()
		w.proxy.Stall(5 * time.Second)
		w.proxy.Stall(3 * time.Second) // the longer one counts
		if d := took(func() { w.passes(client, server, "late") }); d != 5*time.Second {
			w.t.Errorf("stalled for %s", d)
		}
		if d := took(func() { w.passes(server, client, "soon") }); d != 0 {
			w.t.Errorf("stalled for %s", d)
		}
	})
}

func TestProxy_Delay(t *testing.T) {
	timed(t, func(w *wire, took func(func()) time.Duration) {
		client, server := w.connect()
		w.proxy.Delay(200 * time.Millisecond)
		for _, c := range [][2]net.Conn{{client, server}, {server, client}} {
			if d := took(func() { w.passes(c[0], c[1], "late") }); d != 200*time.Millisecond {
				w.t.Errorf("delayed by %s", d)
			}
		}
		w.proxy.Delay(0)
		if d := took(func() { w.passes(client, server, "soon") }); d != 0 {
			w.t.Errorf("delayed by %s", d)
		}
	})
}

func TestProxy_Refuse(t *testing.T) {
	timed(t, func(w *wire, took func(func()) time.Duration) {
		client, server := w.connect()
		w.proxy.Refuse(8 * time.Second)
		w.passes(client, server, "what is open stays")
		c, err := w.dial(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if err := ends(c); !errors.Is(err, syscall.ECONNRESET) {
			w.t.Errorf("a refused connection ends with %v", err)
		}
		c.Close()
		<-time.After(8 * time.Second)
		client, server = w.connect()
		w.passes(client, server, "back again")
		if s := w.proxy.Stats(); s.Refused != 1 || s.Connections != 2 {
			w.t.Errorf("stats %+v", s)
		}
	})
}

func TestProxy_SlowHandshake(t *testing.T) {
	timed(t, func(w *wire, took func(func()) time.Duration) {
		w.proxy.SlowHandshake(4 * time.Second)
		client, server := w.connect()
		if d := took(func() { w.passes(client, server, "GET / HTTP/1.1") }); d != 0 {
			w.t.Errorf("the request took %s", d)
		}
		if d := took(func() { w.passes(server, client, "HTTP/1.1 101 Switching") }); d != 4*time.Second {
			w.t.Errorf("the answer took %s", d)
		}
		if d := took(func() { w.passes(server, client, "words") }); d != 0 {
			w.t.Errorf("the rest took %s", d)
		}
	})
}

// Deadlines and full buffers are what a client's libraries rely on.
func TestMemory(t *testing.T) {
	timed(t, func(w *wire, took func(func()) time.Duration) {
		client, server := w.connect()
		client.SetDeadline(time.Now().Add(3 * time.Second))
		if d := took(func() {
			err := ends(client)
			if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() {
				w.t.Errorf("read: %v", err)
			}
		}); d != 3*time.Second {
			w.t.Errorf("waited %s", d)
		}
		client.SetDeadline(time.Time{})
		client.SetWriteDeadline(time.Now().Add(2 * time.Second))
		if d := took(func() {
			_, err := client.Write(make([]byte, 1<<20)) // nobody reads
			if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() {
				w.t.Errorf("write: %v", err)
			}
		}); d != 2*time.Second {
			w.t.Errorf("waited %s", d)
		}
		server.Close()
		client.SetDeadline(time.Time{})
		synctest.Wait()
		if _, err := client.Write(make([]byte, 1<<20)); err == nil {
			w.t.Error("a write to nobody succeeded")
		}
	})
}

func TestPlan(t *testing.T) {
	const every, most = 15 * time.Second, 8 * time.Second
	take := func(seed uint64) (plan []faults.Fault) {
		for f := range faults.Plan(seed, every, most) {
			if plan = append(plan, f); len(plan) == 40 {
				break
			}
		}
		return plan
	}
	plan := take(1)
	if diff := cmp.Diff(plan, take(1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(plan, take(2)) {
		t.Error("another seed gives the same plan")
	}
	for i, f := range plan {
		if middle := time.Duration(i+1) * every; f.At < middle-every/4 || f.At > middle+every/4 || f.For <= 0 || f.For > most {
			t.Errorf("fault %d: %s", i, f)
		}
	}
	for round := range slices.Chunk(plan, len(faults.Kinds)) {
		for _, kind := range faults.Kinds {
			if !slices.ContainsFunc(round, func(f faults.Fault) bool { return f.Kind == kind }) {
				t.Errorf("no %s in a round", kind)
			}
		}
	}
}
