package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// bareRelayCommand makes this program the relay that ours is held against.
const bareRelayCommand = "relay-bare"

// serveBareRelay passes WebSocket messages on to a server and back, and does
// nothing else: no session, no words, nothing kept.
func serveBareRelay(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("want the address of the server")
	}
	server := "ws" + strings.TrimPrefix(args[0], "http")
	return serveLoopback(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer client.CloseNow()
		behind, _, err := websocket.Dial(r.Context(), server+r.URL.RequestURI(), nil)
		if err != nil {
			return
		}
		defer behind.CloseNow()
		go passOn(behind, client)
		passOn(client, behind)
	}))
}

// passOn passes messages from one connection to the other until one ends.
func passOn(from, to *websocket.Conn) {
	defer to.CloseNow()
	from.SetReadLimit(1 << 20)
	var buf bytes.Buffer
	ctx := context.Background() // another would cost a watcher for each message
	for {
		kind, r, err := from.Reader(ctx)
		if err != nil {
			return
		}
		buf.Reset()
		if _, err := buf.ReadFrom(r); err != nil {
			return
		}
		if to.Write(ctx, kind, buf.Bytes()) != nil {
			return
		}
	}
}
