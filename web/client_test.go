package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/web"
)

const pin = "correct horse"

var undoKey = []byte("a key of thirty-two bytes, or so")

// A testPage is a served page with its fakes.
type testPage struct {
	*httptest.Server
	queue *fakeQueue
	owner *fakeOwner
	audit *fakeAudit
	page  *web.Handler
}

// open serves the page as the hub does.
func open(t testing.TB, change func(*web.Config, *testPage)) *testPage {
	t.Helper()
	h := &testPage{queue: newQueue(), owner: &fakeOwner{pin: pin}, audit: &fakeAudit{}}
	cfg := web.Config{Queue: h.queue, Owner: h.owner, Audit: h.audit, Keys: fakeKeys{}, Transcripts: fakeTranscripts{}, UndoKey: undoKey}
	if change != nil {
		change(&cfg, h)
	}
	h.page = web.New(cfg)
	mux := http.NewServeMux()
	for _, r := range h.page.Routes() {
		mux.Handle(r.Pattern, r.Handler)
	}
	h.Server = httptest.NewServer(mux)
	t.Cleanup(h.Close)
	return h
}

// openAt serves another page where an earlier one was.
func openAt(t testing.TB, address string) *testPage {
	t.Helper()
	h := open(t, nil)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	handler := h.Config.Handler
	h.Close()
	h.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	h.Start()
	t.Cleanup(h.Server.Close)
	return h
}

// An apiClient is a browser as far as HTTP goes.
type apiClient struct {
	t        testing.TB
	testPage *testPage
	client   *http.Client
	token    string
	header   http.Header // sent in place of what a browser would send
}

func (h *testPage) newClient(t testing.TB) *apiClient {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &apiClient{t: t, testPage: h, client: client, header: http.Header{}}
}

// signedIn returns a client that has sent the PIN.
func (h *testPage) signedIn(t testing.TB) *apiClient {
	t.Helper()
	v := h.newClient(t)
	v.login()
	return v
}

func (v *apiClient) login() {
	v.t.Helper()
	var out struct{ Token string }
	v.want(http.StatusOK, "POST", "login", map[string]string{"pin": pin}, &out)
	v.token = out.Token
}

// send makes a request as the page's own code does.
func (v *apiClient) send(method, path string, body any) *http.Response {
	v.t.Helper()
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			v.t.Fatal(err)
		}
		content = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.testPage.URL+"/approvals/api/"+path, content)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Origin", v.testPage.URL)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Hearken-Token", v.token)
	}
	for name, values := range v.header {
		if values == nil {
			r.Header.Del(name)
		} else {
			r.Header[name] = values
		}
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	return res
}

// want sends a request, checks its status, and returns what is wrong if it is
// an error.
func (v *apiClient) want(status int, method, path string, body, into any) string {
	v.t.Helper()
	res := v.send(method, path, body)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if res.StatusCode != status {
		v.t.Fatalf("%s %s: %d, want %d: %s", method, path, res.StatusCode, status, raw)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			v.t.Fatalf("%s %s: %v: %s", method, path, err, raw)
		}
	}
	var failed struct {
		Error struct{ Code, Message, Try string }
	}
	json.Unmarshal(raw, &failed)
	return strings.TrimSpace(failed.Error.Code + ": " + failed.Error.Message)
}

// An event is one server-sent event.
type event struct{ name, data string }

// follow opens the event stream.
func (v *apiClient) follow(ctx context.Context) (<-chan event, func()) {
	v.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.testPage.URL+"/approvals/api/events", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		v.t.Fatalf("events: %d %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	events := make(chan event, 100)
	go func() {
		defer close(events)
		defer res.Body.Close()
		var e event
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "":
				if e.name != "" {
					events <- e
				}
				e = event{}
			}
		}
	}()
	return events, cancel
}

// next returns the next event, or fails the test.
func next(t testing.TB, events <-chan event) event {
	t.Helper()
	select {
	case e, ok := <-events:
		if !ok {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(20 * time.Second):
		t.Fatal("no event")
	}
	return event{}
}

// inMemory is the page without a server, for tests under testing/synctest.
type inMemory struct {
	*web.Handler
	queue *fakeQueue
}

func openInMemory() inMemory {
	queue := newQueue()
	return inMemory{web.New(web.Config{Queue: queue, Owner: &fakeOwner{pin: pin}}), queue}
}

func (h inMemory) post(path, body, token string, cookie *http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080/approvals/api/"+path, strings.NewReader(body))
	r.Header.Set("Origin", "http://127.0.0.1:8080")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Hearken-Token", token)
	if cookie != nil {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func (h inMemory) login(t testing.TB) (string, *http.Cookie) {
	t.Helper()
	w := h.post("login", `{"pin":"`+pin+`"}`, "", nil)
	var out struct{ Token string }
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || out.Token == "" {
		t.Fatalf("login: %d %s", w.Code, w.Body)
	}
	return out.Token, w.Result().Cookies()[0]
}

// follow returns everything that the stream sent, when it has ended.
func (h inMemory) follow(ctx context.Context, cookie *http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:8080/approvals/api/events", nil)
	r.AddCookie(cookie)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
