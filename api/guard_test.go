package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
)

type request struct{ method, path, body string }

// everyRoute is one request to each route.
var everyRoute = []request{
	{"POST", "/mcp", callIt},
	{"GET", "/mcp", ""},
	{"DELETE", "/mcp", ""},
	{"GET", "/sse", ""},
	{"POST", "/sse?sessionid=x", callIt},
	{"GET", "/audio/s1", ""},
	{"GET", "/healthz", ""},
	{"GET", "/readyz", ""},
	{"GET", "/metrics", ""},
	{"GET", "/v1/extra", ""},
	{"GET", "/v1/act", ""},
	{"GET", "/v1/listen", ""},
	{"POST", "/v1/audio/transcriptions", "x"},
	{"GET", "/nowhere", ""},
}

func withExtras(c *Config) {
	c.Audio = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeText(w, http.StatusOK, "audio "+r.PathValue("sessionId")+" "+CallerFrom(r.Context()).Principal+" "+r.URL.RawQuery+" "+r.RequestURI)
	})
	c.CheckTicket = func(session, ticket string) (string, bool) {
		return "local", session == "s1" && ticket == "t1cket"
	}
}

// startAll starts a hub with every route, some of them another package's.
func startAll(t *testing.T, change ...func(*Config)) *hub {
	t.Helper()
	h := prepare(t, append([]func(*Config){withExtras}, change...)...)
	principal := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeText(w, http.StatusOK, CallerFrom(r.Context()).Principal)
	})
	h.Mount("GET /v1/extra", principal, RouteAccess{})
	h.Mount("GET /v1/act", principal, RouteAccess{Key: true})
	h.Mount("/v1/listen", principal, RouteAccess{Stream: true, AnyKey: true})
	h.Mount("POST /v1/audio/transcriptions", principal, RouteAccess{Stream: true, AnyKey: true})
	h.serve(t)
	return h
}

func TestMount(t *testing.T) {
	h := startAll(t)
	id, secret := h.keys.add()
	if res, body := h.do(t, "GET", "/v1/extra", ""); body != "loopback" || res.Header.Get("Cache-Control") != "private, no-store" {
		t.Errorf("%s: %s", res.Status, body)
	}
	if res, body := h.do(t, "GET", "/v1/act", ""); res.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "hearken keys create") {
		t.Errorf("%s: %s", res.Status, body)
	}
	if _, body := h.do(t, "GET", "/v1/act", "", "Authorization: Bearer "+secret); body != id {
		t.Errorf("good key: %s", body)
	}
	if res, body := h.do(t, "GET", "/nowhere", ""); res.StatusCode != http.StatusNotFound || !strings.Contains(body, `"not_found"`) {
		t.Errorf("%s: %s", res.Status, body)
	}
}

func TestGuard_Host(t *testing.T) {
	h := startAll(t)
	for _, rt := range everyRoute {
		t.Run(rt.method+rt.path, func(t *testing.T) {
			for _, host := range []string{localName() + ".local", "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "192.168.1.5:8080", "localhost.evil.example", "[2001:db8::1]:80"} {
				res, body := h.do(t, rt.method, rt.path, rt.body, "Host: "+host)
				if res.StatusCode != http.StatusForbidden || !strings.Contains(body, "does not answer to the name") {
					t.Errorf("%s: %s: %s", host, res.Status, body)
				}
			}
		})
	}
	for _, host := range []string{"localhost", "LOCALHOST:1", "127.0.0.1:9", "127.1.2.3", "[::1]:8080", "[::1]"} {
		if res, body := h.do(t, "POST", "/mcp", callIt, "Host: "+host); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", host, res.Status, body)
		}
	}
}

func TestGuard_PublicURL(t *testing.T) {
	h := start(t, func(c *Config) { c.PublicURL = "https://speech.example.org" })
	_, secret := h.keys.add()
	for host, want := range map[string]int{"Speech.example.org:8080": 200, "speech.example.org": 200, "other.example.org": 403} {
		if res, body := h.do(t, "POST", "/mcp", callIt, "Host: "+host, "Authorization: Bearer "+secret); res.StatusCode != want {
			t.Errorf("%s: %s: %s", host, res.Status, body)
		}
	}
	if got := h.URL(); got != "https://speech.example.org" {
		t.Errorf("URL = %s", got)
	}
	if got := h.AudioURL(t.Context(), "s1", "t&1"); got != "wss://speech.example.org/audio/s1?ticket=t%261" {
		t.Errorf("AudioURL = %s", got)
	}
}

// TestGuard_CrossSite sends what a browser sends for a page of another site. A
// page may send curl's Content-Type without a preflight request, so only these
// checks protect the hub from such pages.
func TestGuard_CrossSite(t *testing.T) {
	h := startAll(t, func(c *Config) { c.Origins = []string{"https://app.example.org"} })
	own := "http://" + strings.TrimPrefix(h.URL(), "http://")
	_, port, _ := strings.Cut(strings.TrimPrefix(h.URL(), "http://"), ":")
	refused := [][]string{
		{"Origin: https://evil.example"},
		{"Origin: null"},
		{"Origin: http://127.0.0.1"},
		{"Origin: http://127.0.0.1:1"},
		{"Origin: http://localhost:" + port}, // another name is another origin
		{"Origin: https://127.0.0.1:" + port},
		{"Origin: file://"},
		{"Origin: " + own, "Origin: https://evil.example"},
		{"Origin: https://app.example.org.evil.example"},
		{"Sec-Fetch-Site: cross-site"},
		{"Sec-Fetch-Site: same-site"},
		{"Sec-Fetch-Site: whatever"},
		{"Origin: " + own, "Sec-Fetch-Site: cross-site"},
		{"Origin: https://evil.example", "Sec-Fetch-Site: same-origin"},
	}
	for _, rt := range everyRoute {
		t.Run(rt.method+rt.path, func(t *testing.T) {
			for _, headers := range refused {
				res, body := h.do(t, rt.method, rt.path, rt.body, append(headers, asCurl)...)
				if res.StatusCode != http.StatusForbidden || !strings.Contains(body, "another site") {
					t.Errorf("%v: %s: %s", headers, res.Status, body)
				}
				if res.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%v: the page may read the answer", headers)
				}
			}
		})
	}
	for _, headers := range [][]string{
		{},
		{"Origin: " + own},
		{"Origin: " + own, "Sec-Fetch-Site: same-origin"},
		{"Sec-Fetch-Site: none"},
		{"Origin: https://app.example.org"},
		{"Origin: https://app.example.org", "Sec-Fetch-Site: cross-site"},
	} {
		if res, body := h.do(t, "POST", "/mcp", callIt, append(headers, asCurl)...); res.StatusCode != http.StatusOK {
			t.Errorf("%v: %s: %s", headers, res.Status, body)
		}
	}
}

func TestGuard_Preflight(t *testing.T) {
	h := start(t, func(c *Config) { c.Origins = []string{"https://app.example.org/"} })
	res, _ := h.do(t, "OPTIONS", "/mcp", "", "Origin: https://app.example.org", "Access-Control-Request-Method: POST")
	if res.StatusCode != http.StatusNoContent || res.Header.Get("Access-Control-Allow-Origin") != "https://app.example.org" {
		t.Errorf("%s: %v", res.Status, res.Header)
	}
	if res, _ := h.do(t, "OPTIONS", "/mcp", "", "Origin: https://evil.example", "Access-Control-Request-Method: POST"); res.StatusCode != http.StatusForbidden {
		t.Errorf("another site: %s", res.Status)
	}
}

func TestGuard_Key(t *testing.T) {
	h := startAll(t)
	id, secret := h.keys.add("read")
	_, gone := h.keys.add()
	h.keys.revoke(h.keys.keys[1].ID)

	if _, body := h.do(t, "POST", "/mcp", callIt); parse(t, body).text() != "loopback/http:hi" {
		t.Errorf("no key: %s", body)
	}
	if _, body := h.do(t, "POST", "/mcp", callIt, "Authorization: bearer "+secret); parse(t, body).text() != id+"/http:hi" {
		t.Errorf("good key: %s", body)
	}
	if last := h.callers[len(h.callers)-1]; !hearken.IsKeyID(last.Principal) || len(last.Toolsets) != 1 || last.Toolsets[0] != "read" {
		t.Errorf("caller = %+v", last)
	}
	for name, auth := range map[string]string{
		"wrong":   "Bearer hk_wrong",
		"empty":   "Bearer ",
		"revoked": "Bearer " + gone,
		"scheme":  "Basic " + secret,
		"nothing": secret,
		"prefix":  "Bearer " + secret[:len(secret)-1],
	} {
		res, body := h.do(t, "POST", "/mcp", callIt, "Authorization: "+auth)
		if got := parse(t, body); res.StatusCode != http.StatusUnauthorized || got.Error == nil || got.Error.Code != 401 || got.Error.Message != "Invalid API key" {
			t.Errorf("%s: %s: %s", name, res.Status, body)
		}
		if !strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: WWW-Authenticate = %q", name, res.Header.Get("WWW-Authenticate"))
		}
	}
}

func TestGuard_NewKeyIsGoodAtOnce(t *testing.T) {
	h := start(t)
	for range 5 {
		_, secret := h.keys.add()
		if res, body := h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer "+secret); res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", res.Status, body)
		}
	}
}

func TestGuard_AuthRequired(t *testing.T) {
	h := startAll(t, func(c *Config) { c.AuthRequired = true })
	_, secret := h.keys.add()
	for _, rt := range everyRoute {
		res, body := h.do(t, rt.method, rt.path, rt.body)
		want := 401
		switch rt.path {
		case "/healthz", "/readyz":
			want = 200
		case "/nowhere":
			want = 404 // there is nothing that a key would open
		}
		if res.StatusCode != want {
			t.Errorf("%s %s: %s: %s", rt.method, rt.path, res.Status, body)
		}
	}
	// A key in the URL ends up in logs and histories, so it opens nothing.
	for _, name := range []string{"key", "token", "api_key", "access_token", "ticket", "authorization"} {
		if res, _ := h.do(t, "POST", "/mcp?"+name+"="+secret, callIt); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("key as ?%s=: %s", name, res.Status)
		}
	}
	if res, body := h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer "+secret); res.StatusCode != http.StatusOK {
		t.Errorf("good key: %s: %s", res.Status, body)
	}
}

// TestGuard_Proxy: behind a proxy every client seems to be on this computer, so
// a loopback address proves nothing.
func TestGuard_Proxy(t *testing.T) {
	t.Run("PublicURL", func(t *testing.T) {
		h := start(t, func(c *Config) { c.PublicURL = "https://speech.example.org" })
		_, secret := h.keys.add()
		for _, host := range []string{"Host: speech.example.org", "Host: 127.0.0.1"} {
			if res, _ := h.do(t, "POST", "/mcp", callIt, host); res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: no key: %s", host, res.Status)
			}
			if res, body := h.do(t, "POST", "/mcp", callIt, host, "Authorization: Bearer "+secret); res.StatusCode != http.StatusOK {
				t.Errorf("%s: good key: %s: %s", host, res.Status, body)
			}
		}
		if res, _ := h.do(t, "POST", "/mcp", callIt, "Host: speech.example.org", "Origin: https://speech.example.org", "Authorization: Bearer "+secret); res.StatusCode != http.StatusOK {
			t.Errorf("its own page: %s", res.Status)
		}
	})
	t.Run("Unannounced", func(t *testing.T) {
		h := start(t)
		for _, header := range []string{"X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9", "X-Real-Ip: 203.0.113.9", "Via: 1.1 proxy"} {
			if res, _ := h.do(t, "POST", "/mcp", callIt, header); res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: %s", header, res.Status)
			}
		}
		// X-Forwarded-Host is not trusted.
		if res, _ := h.do(t, "POST", "/mcp", callIt, "Host: evil.example", "X-Forwarded-Host: localhost"); res.StatusCode != http.StatusForbidden {
			t.Errorf("forwarded host: %s", res.Status)
		}
	})
}

func TestGuard_Ticket(t *testing.T) {
	h := startAll(t, func(c *Config) { c.AuthRequired = true })
	res, body := h.do(t, "GET", "/audio/s1?encoding=linear16&ticket=t1cket", "")
	if want := "audio s1 local encoding=linear16 /audio/s1?encoding=linear16"; res.StatusCode != http.StatusOK || body != want {
		t.Errorf("%s: %q, want %q", res.Status, body, want)
	}
	for _, path := range []string{"/audio/s1?ticket=wrong", "/audio/s2?ticket=t1cket", "/audio/s1?ticket=", "/audio/s1", "/mcp?ticket=t1cket", "/metrics?ticket=t1cket"} {
		if res, body := h.do(t, "GET", path, ""); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s: %s", path, res.Status, body)
		}
	}
	res, body = h.do(t, "GET", "/audio/s1/t1cket?encoding=linear16", "")
	if want := "audio s1 local encoding=linear16 /audio/s1?encoding=linear16"; res.StatusCode != http.StatusOK || body != want {
		t.Errorf("in the path: %s: %q, want %q", res.Status, body, want)
	}
	for _, path := range []string{"/audio/s1/wrong", "/audio/s2/t1cket", "/audio/s1/wrong?ticket=t1cket"} {
		if res, body := h.do(t, "GET", path, ""); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s: %s", path, res.Status, body)
		}
	}
	if res, _ := h.do(t, "GET", "/audio/s1/t1cket", "", "Origin: https://evil.example"); res.StatusCode != http.StatusForbidden {
		t.Errorf("in the path, from another site: %s", res.Status)
	}
	if log := h.log.String(); strings.Contains(log, "t1cket") || !strings.Contains(log, "path=/audio/s1") {
		t.Error("the log contains the ticket, or nothing at all")
	}
	// A wrong ticket is refused on loopback too, where none is needed.
	open := startAll(t)
	if res, _ := open.do(t, "GET", "/audio/s1?ticket=wrong", ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("wrong ticket: %s", res.Status)
	}
	if _, body := open.do(t, "GET", "/audio/s1", ""); !strings.HasPrefix(body, "audio s1 loopback") {
		t.Errorf("no ticket: %s", body)
	}
}

// TestGuard_RevokedKeyCutsSockets has a handler that hijacked its connection, as
// the one for audio does, and ignores its context.
func TestGuard_RevokedKeyCutsSockets(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Audio = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer ws.CloseNow()
			ws.Read(context.Background())
		})
	})
	id, secret := h.keys.add()
	ws, res, err := h.dial(t, "ws"+strings.TrimPrefix(h.URL(), "http")+"/audio/s1", []string{"bearer", secret}, "Origin: "+h.URL())
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get("Sec-WebSocket-Protocol"); got != "bearer" {
		t.Errorf("subprotocol = %q", got)
	}
	h.keys.revoke(id)
	if _, _, err := ws.Read(t.Context()); err == nil {
		t.Error("something came")
	}
	eventually(t, "the socket was cut", func() bool { return h.API.keys.running.Load() == 0 })
}

func TestGuard_WrongKeysAreLimited(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	var last *http.Response
	for range guessBurst + 2 {
		last, _ = h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer hk_guess")
	}
	if last.StatusCode != http.StatusTooManyRequests || last.Header.Get("Retry-After") == "" {
		t.Errorf("after many wrong keys: %s", last.Status)
	}
	// Others on the same address are not locked out.
	if res, body := h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer "+secret); res.StatusCode != http.StatusOK {
		t.Errorf("a good key: %s: %s", res.Status, body)
	}
	if res, _ := h.do(t, "POST", "/mcp", callIt); res.StatusCode != http.StatusOK {
		t.Errorf("no key: %s", res.Status)
	}
}

func TestGuard_KeyStoreFails(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	h.keys.fail(errors.New("disk on fire"))
	if res, body := h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer "+secret); res.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "fire") {
		t.Errorf("keys were never readable: %s: %s", res.Status, body)
	}
	h.keys.fail(nil)
	if res, _ := h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer "+secret); res.StatusCode != http.StatusOK {
		t.Fatalf("keys are readable: %s", res.Status)
	}
	h.keys.fail(errors.New("disk on fire"))
	old := h.API.keys.keys.Load()
	h.API.keys.keys.Store(&keySet{keys: old.keys})
	if res, _ := h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer "+secret); res.StatusCode != http.StatusOK {
		t.Errorf("keys were readable a while ago: %s", res.Status)
	}
}

func TestGuard_LogHasNoSecrets(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	h.do(t, "POST", "/mcp?q=whatwassaid", callIt, "Authorization: Bearer "+secret)
	h.do(t, "POST", "/mcp", callIt, "Authorization: Bearer hk_wrongsecret")
	log := h.log.String()
	for _, s := range []string{secret, "hk_wrongsecret", "whatwassaid"} {
		if strings.Contains(log, s) {
			t.Errorf("the log holds a secret of %d bytes", len(s))
		}
	}
	if !strings.Contains(log, "route=mcp") {
		t.Error("there is no access log")
	}
}

// TestGuard_TicketOfAKey checks that a ticket is valid only as long as the key
// that started its session.
func TestGuard_TicketOfAKey(t *testing.T) {
	var starter string
	h := startAll(t, func(c *Config) {
		c.AuthRequired = true
		c.CheckTicket = func(string, string) (string, bool) { return starter, true }
	})
	starter, _ = h.keys.add("read")
	if res, body := h.do(t, "GET", "/audio/s1?ticket=x", ""); res.StatusCode != http.StatusOK || !strings.HasPrefix(body, "audio s1 "+starter) {
		t.Errorf("%s: %s", res.Status, body)
	}
	h.keys.revoke(starter)
	eventually(t, "the ticket ends with its key", func() bool {
		res, _ := h.do(t, "GET", "/audio/s1?ticket=x", "")
		return res.StatusCode == http.StatusUnauthorized
	})
}

// TestGuard_AnyKey: programs made for another service send that service's key.
func TestGuard_AnyKey(t *testing.T) {
	mount := func(h *hub) {
		h.Mount("GET /v1/other", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writeText(w, http.StatusOK, CallerFrom(r.Context()).Principal)
		}), RouteAccess{AnyKey: true, Refuse: func(w http.ResponseWriter, status int, err error) {
			writeText(w, status, "other words: "+err.Error())
		}})
	}
	h := prepare(t)
	mount(h)
	h.serve(t)
	id, secret := h.keys.add()
	for auth, want := range map[string]string{
		"Bearer sk-theirs":  "loopback",
		"Token theirs":      "loopback",
		"Basic dXNlcjo=":    "loopback",
		"Bearer " + secret:  id,
		"token " + secret:   id,
		"Bearer hk_expired": "other words: Invalid API key. Try: hearken keys list",
	} {
		if _, body := h.do(t, "GET", "/v1/other", "", "Authorization: "+auth); body != want {
			t.Errorf("%s: %s", auth, body)
		}
	}
	if res, body := h.do(t, "GET", "/v1/other", "", "Origin: https://evil.example"); res.StatusCode != http.StatusForbidden || !strings.HasPrefix(body, "other words: ") {
		t.Errorf("another site: %s: %s", res.Status, body)
	}
	strict := prepare(t, func(c *Config) { c.AuthRequired = true })
	mount(strict)
	strict.serve(t)
	if res, body := strict.do(t, "GET", "/v1/other", "", "Authorization: Bearer sk-theirs"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("where a key is needed: %s: %s", res.Status, body)
	}
}

// TestGuard_NoHost: some clients send an empty Host line, which no browser
// does.
func TestGuard_NoHost(t *testing.T) {
	h := startAll(t)
	for extra, want := range map[string]string{
		"":                                 "HTTP/1.1 200",
		"Origin: https://evil.example\r\n": "HTTP/1.1 403",
		"Sec-Fetch-Site: cross-site\r\n":   "HTTP/1.1 403",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /v1/extra HTTP/1.1\r\nHost:\r\n%sConnection: close\r\n\r\n", extra)
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(answer), want) {
			t.Errorf("%q: %.100q, %v", extra, answer, err)
		}
	}
}
