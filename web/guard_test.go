package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/web"
)

// The page behind the hub's real guard: open to a browser without a key, shut
// to other names and other sites, and its streams end with the hub.
func TestHandler_Mounted(t *testing.T) {
	h := &testPage{queue: newQueue(), owner: &fakeOwner{pin: pin}}
	server, err := api.New(api.Config{
		MCP: func(hearken.Caller) *mcp.Server {
			return mcp.NewServer(&mcp.Implementation{Name: "hub", Version: "1"}, nil)
		},
		Keys: fakeKeys{}, AuthRequired: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.page = web.New(web.Config{Queue: h.queue, Owner: h.owner, UndoKey: undoKey})
	for _, r := range h.page.Routes() {
		server.Mount(r.Pattern, r.Handler, api.RouteAccess{Open: true, Stream: r.Stream, Linked: r.Linked})
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	h.Server = &httptest.Server{URL: server.URL()}
	v := h.newClient(t)
	v.login()
	a := newAction(t, "hello")
	h.queue.put(a)
	events, end := v.follow(t.Context())
	defer end()
	if in := inboxOf(t, next(t, events)); len(in.Pending) != 1 {
		t.Errorf("%+v", in)
	}
	v.want(200, "POST", "actions/"+a.ID+"/decision", map[string]any{"digest": a.Digest, "allow": true}, nil)
	if got := h.queue.state(a.ID); got != hearken.ActionDone {
		t.Error(got)
	}

	for name, change := range map[string]func(r *http.Request){
		"OtherName": func(r *http.Request) { r.Host = "evil.example" },
		"OtherSite": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/approvals", nil)
		change(r)
		res, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
	res, err := v.client.Get(h.URL + "/approvals")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if policy := res.Header.Get("Content-Security-Policy"); res.StatusCode != http.StatusOK || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("the page itself: %d, %s", res.StatusCode, policy)
	}

	// A link in webmail leads to the undo page, but no page can embed it, send
	// its form or read it.
	done := granted(newReminder(t, "note", time.Now()), time.Now())
	h.queue.put(done)
	link := web.UndoPath(undoKey, done.ID)
	for _, tt := range []struct {
		method, path, headers string
		status                int
	}{
		{"GET", link, "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", 200},
		{"GET", link, "", 200},
		{"GET", "/approvals", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", 403},
		{"GET", link, "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: iframe", 403},
		{"GET", link, "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: image", 403},
		{"GET", link, "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: cors, Sec-Fetch-Dest: empty, Origin: https://evil.example", 403},
		{"POST", link, "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", 403},
		{"POST", link, "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document, Origin: https://evil.example", 403},
		{"POST", link, "Host: evil.example, Origin: http://evil.example", 403},
		{"POST", link, "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document, Origin: " + h.URL, 200},
	} {
		if tt.status == 200 && tt.method == "POST" && h.queue.state(done.ID) != hearken.ActionDone {
			t.Error("undone by another page")
		}
		status, page, _ := h.openLink(t, tt.method, tt.path, func(r *http.Request) {
			r.Header = http.Header{}
			for header := range strings.SplitSeq(tt.headers, ", ") {
				if name, value, _ := strings.Cut(header, ": "); name == "Host" {
					r.Host = value
				} else if name != "" {
					r.Header.Set(name, value)
				}
			}
		})
		if status != tt.status {
			t.Errorf("%s %s with %s: %d, want %d: %s", tt.method, tt.path, tt.headers, status, tt.status, page)
		}
	}
	if h.queue.state(done.ID) != hearken.ActionUndone {
		t.Error("not undone")
	}

	stop()
	for range events { // ends with the hub, or the test does not
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
