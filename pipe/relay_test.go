package pipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// relayTest is a relay between a client and hubs that the test plays.
type relayTest struct {
	*testing.T
	in   *io.PipeWriter // the client's input
	out  *bufio.Scanner // what the client reads
	hubs chan net.Conn  // further hubs
	done chan error
}

// hubEnd is one hub, played by the test.
type hubEnd struct {
	*testing.T
	net.Conn
	lines *bufio.Scanner
}

func startRelay(t *testing.T) (*relayTest, *hubEnd) {
	t.Helper()
	rt := &relayTest{T: t, hubs: make(chan net.Conn, 8), done: make(chan error, 1)}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	rt.in, rt.out = inW, bufio.NewScanner(outR)
	relay := &Relay{Log: slog.New(slog.DiscardHandler), Dial: func(ctx context.Context) (net.Conn, error) {
		select {
		case c, ok := <-rt.hubs:
			if !ok {
				return nil, errors.New("no more hubs")
			}
			return c, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	near, hub := rt.hub()
	go func() {
		err := relay.Run(t.Context(), near, inR, outW)
		outW.Close()
		inR.Close()
		rt.done <- err
	}()
	return rt, hub
}

func (rt *relayTest) hub() (net.Conn, *hubEnd) {
	near, far := net.Pipe()
	return near, &hubEnd{rt.T, far, bufio.NewScanner(far)}
}

// next makes a further hub known to the relay.
func (rt *relayTest) next() *hubEnd {
	near, hub := rt.hub()
	rt.hubs <- near
	return hub
}

func (rt *relayTest) say(line string) {
	rt.Helper()
	if _, err := fmt.Fprintln(rt.in, line); err != nil {
		rt.Fatal(err)
	}
}

func (rt *relayTest) hear(want string) {
	rt.Helper()
	if !rt.out.Scan() || rt.out.Text() != want {
		rt.Fatalf("client got %q, want %q", rt.out.Text(), want)
	}
}

func (h *hubEnd) hear(want string) {
	h.Helper()
	if !h.lines.Scan() || h.lines.Text() != want {
		h.Fatalf("hub got %q, want %q", h.lines.Text(), want)
	}
}

func (h *hubEnd) say(line string) {
	h.Helper()
	if _, err := fmt.Fprintln(h.Conn, line); err != nil {
		h.Fatal(err)
	}
}

func TestRelay_OutlivesTheHub(t *testing.T) {
	rt, hub := startRelay(t)
	rt.say(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
	hub.hear(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
	hub.say(`{"jsonrpc":"2.0","id":0,"result":{}}`)
	rt.hear(`{"jsonrpc":"2.0","id":0,"result":{}}`)
	rt.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	hub.hear(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, uri := range []string{"a", "b"} {
		rt.say(`{"jsonrpc":"2.0","id":"` + uri + `","method":"resources/subscribe","params":{"uri":"` + uri + `"}}`)
		hub.hear(`{"jsonrpc":"2.0","id":"` + uri + `","method":"resources/subscribe","params":{"uri":"` + uri + `"}}`)
		hub.say(`{"jsonrpc":"2.0","id":"` + uri + `","result":{}}`)
		rt.hear(`{"jsonrpc":"2.0","id":"` + uri + `","result":{}}`)
	}
	rt.say(`{"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"a"}}`)
	hub.hear(`{"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"a"}}`)
	hub.say(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	rt.hear(`{"jsonrpc":"2.0","id":3,"result":{}}`)

	rt.say(`{"jsonrpc":"2.0","id":4,"method":"tools/call"}`)
	hub.hear(`{"jsonrpc":"2.0","id":4,"method":"tools/call"}`)
	hub.Close()
	if !rt.out.Scan() {
		t.Fatal("no answer for the call under way")
	}
	var answer struct {
		ID    int
		Error struct {
			Code int
			Data hearken.Error
		}
	}
	if err := json.Unmarshal(rt.out.Bytes(), &answer); err != nil || answer.ID != 4 || answer.Error.Code != -32000 {
		t.Fatalf("got %s, %v", rt.out.Text(), err)
	}
	want := hearken.Error{Code: hearken.Busy, Message: "The hub ended during this call.", Try: "the same call again"}
	if diff := cmp.Diff(want, answer.Error.Data); diff != "" {
		t.Error(diff)
	}

	hub = rt.next()
	hub.hear(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
	hub.say(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	rt.hear(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	hub.say(`{"jsonrpc":"2.0","id":0,"result":{}}`) // the client has that answer already
	hub.hear(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	hub.hear(`{"jsonrpc":"2.0","id":"b","method":"resources/subscribe","params":{"uri":"b"}}`)
	hub.say(`{"jsonrpc":"2.0","id":"b","result":{}}`)

	rt.say(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`)
	hub.hear(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`)
	hub.say(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	rt.hear(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	rt.in.Close()
	if hub.lines.Scan() {
		t.Errorf("hub got %q after the end", hub.lines.Text())
	}
	hub.Close()
	if err := <-rt.done; err != nil {
		t.Error(err)
	}
}

func TestRelay_AllAtOnce(t *testing.T) {
	rt, hub := startRelay(t)
	go func() {
		io.WriteString(rt.in, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`) // no final newline
		rt.in.Close()
	}()
	hub.hear(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	hub.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	rt.hear(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	hub.hear(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	hub.hear(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	hub.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	rt.hear(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	if hub.lines.Scan() {
		t.Errorf("hub got %q after the end", hub.lines.Text())
	}
	hub.Close()
	if err := <-rt.done; err != nil {
		t.Error(err)
	}
}

func TestRelay_GivesUp(t *testing.T) {
	rt, hub := startRelay(t)
	for range maxRejoins {
		near, next := rt.hub()
		rt.hubs <- near
		hub.Close()
		hub = next
	}
	hub.Close()
	err := <-rt.done
	if err == nil || !strings.Contains(err.Error(), LogName) {
		t.Errorf("got %v", err)
	}
	rt.in.Close()
}

func TestRelay_NoOtherHub(t *testing.T) {
	rt, hub := startRelay(t)
	close(rt.hubs)
	hub.Close()
	if err := <-rt.done; err == nil || err.Error() != "no more hubs" {
		t.Errorf("got %v", err)
	}
	rt.in.Close()
}

func TestRelay_Cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	near, far := net.Pipe()
	defer far.Close()
	in, w := io.Pipe()
	defer w.Close()
	done := make(chan error)
	go func() {
		done <- (&Relay{Log: slog.New(slog.DiscardHandler)}).Run(ctx, near, in, io.Discard)
	}()
	cancel()
	if diff := cmp.Diff(context.Canceled.Error(), fmt.Sprint(<-done)); diff != "" {
		t.Error(diff)
	}
}
