package mcpserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken/toon"
	"github.com/hearken-dev/hearken/toon/toontest"
)

const current = "pscribe://current/transcript"

func (h *testHub) read(uri string) (toon.Object, *mcp.ResourceContents) {
	h.t.Helper()
	res, err := h.client.ReadResource(h.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		h.t.Fatalf("%s: %v", uri, err)
	}
	o, err := toontest.Decode([]byte(res.Contents[0].Text))
	if err != nil {
		h.t.Fatalf("%s: %v in\n%s", uri, err, res.Contents[0].Text)
	}
	return o, res.Contents[0]
}

func TestResources(t *testing.T) {
	h := newTestHub(t, local)
	if o, c := h.read(current); len(rows(t, o)) != 0 || c.MIMEType != "text/plain" || c.URI != current {
		t.Errorf("without a capture: %v, %+v", o, c)
	}
	var texts []string
	for range 150 {
		texts = append(texts, "a line of "+secret)
	}
	id := h.storeSession(1, texts...)
	o, _ := h.read("hearken://sessions/" + id + "/transcript")
	if len(rows(t, o)) != 150 || o.Get("session") != id {
		t.Errorf("a session: %d rows", len(rows(t, o)))
	}
	for _, uri := range []string{
		"hearken://sessions/0f8fad5b-d9cb-469f-a165-70867728950e/transcript",
		"hearken://sessions/..%2f..%2fetc/transcript", "hearken://sessions/x/transcript", "pscribe://other/transcript",
	} {
		if _, err := h.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s can be read", uri)
		}
	}
	h.callTOON("pscribe_start", nil)
	h.capture.advance(t, 221)
	h.callTOON("pscribe_stop", nil)
	if o, _ := h.read(current); len(rows(t, o)) != 100 {
		t.Errorf("a long capture: %d rows", len(rows(t, o)))
	}
	templates, err := h.client.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Fatalf("templates: %+v, %v", templates, err)
	}
	done, err := h.client.Complete(t.Context(), &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: templates.ResourceTemplates[0].URITemplate},
		Argument: mcp.CompleteParamsArgument{Name: "id", Value: "019a"},
	})
	if err != nil || len(done.Completion.Values) != 1 || done.Completion.Values[0] != id {
		t.Errorf("completion: %+v, %v", done, err)
	}
}

// Subscribers hear of news in both generations of the protocol, and whoever
// unsubscribes or hangs up leaves nothing behind.
func TestResources_Updates(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			h := newTestHub(t, local)
			updates := make(chan string, 100)
			client := connectAs(t, h.factory.Server(local), version, func(uri string) { updates <- uri })
			if got := client.InitializeResult().ProtocolVersion; got != version {
				t.Fatalf("the client speaks %s", got)
			}
			if !client.InitializeResult().Capabilities.Resources.Subscribe {
				t.Error("the server does not say that it can be subscribed to")
			}
			other := h.storeSession(1, "x")
			for _, uri := range []string{current, "hearken://sessions/" + other + "/transcript", "test://watched-resource"} {
				if err := client.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
					t.Fatalf("%s: %v", uri, err)
				}
				if version >= "2026-07-28" {
					await(t, updates, "acknowledged")
				}
			}
			h.callTOON("pscribe_start", nil)
			await(t, updates, current)
			h.capture.advance(t, 2)
			await(t, updates, current)
			h.callTOON("pscribe_new", nil)
			await(t, updates, current)
			if err := client.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: current}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A session that somebody else feeds can be followed as well.
func TestResources_SessionUpdates(t *testing.T) {
	h := newTestHub(t, local)
	id := call[started](h, "start_transcription", object{}).SessionID
	uri := "hearken://sessions/" + id + "/transcript"
	updates := make(chan string, 100)
	client := connectAs(t, h.factory.Server(local), "2025-11-25", func(uri string) { updates <- uri })
	if err := client.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	h.speak(id, 10)
	await(t, updates, uri)
	if o, _ := h.read(uri); len(rows(t, o)) == 0 {
		t.Error("told of nothing")
	}
}

func await(t *testing.T, updates <-chan string, uri string) {
	t.Helper()
	patience := time.NewTimer(30 * time.Second)
	defer patience.Stop()
	select {
	case got := <-updates:
		if got != uri {
			t.Errorf("told of %s", got)
		}
	case <-patience.C:
		t.Fatalf("not told of %s", uri)
	}
}

// connectAs joins a client that speaks one version of the protocol.
func connectAs(t *testing.T, s *mcp.Server, version string, updated func(uri string)) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	served, err := s.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { updated(req.Params.URI) },
	})
	c.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				updated("acknowledged")
			}
			return next(ctx, method, req)
		}
	})
	client, err := c.Connect(t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		served.Wait()
	})
	return client
}
