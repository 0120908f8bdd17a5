package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every response has headers that prevent framing, caching and foreign scripts.
func TestHandler_Headers(t *testing.T) {
	h := open(t, nil)
	for path, kind := range map[string]string{
		"/approvals":           "text/html; charset=utf-8",
		"/approvals/app.js":    "text/javascript; charset=utf-8",
		"/approvals/style.css": "text/css; charset=utf-8",
		"/approvals/icon.svg":  "image/svg+xml",
		"/approvals/api/me":    "application/json",
		"/approvals/nothing":   "text/plain; charset=utf-8",
	} {
		res, err := h.Client().Get(h.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Content-Type"); got != kind {
			t.Errorf("%s is %s, want %s", path, got, kind)
		}
		policy := res.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy lacks %s: %s", path, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: unsafe policy %s", path, policy)
		}
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

// The page holds no script and no style of its own in its HTML.
func TestHandler_NothingInline(t *testing.T) {
	h := open(t, nil)
	res, err := h.Client().Get(h.URL + "/approvals")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	for _, no := range []string{"<style", "style=", "onclick", "http://", "https://", "<script>"} {
		if strings.Contains(string(raw), no) {
			t.Errorf("the page holds %q", no)
		}
	}
}

func TestSignIn(t *testing.T) {
	h := open(t, nil)
	v := h.newClient(t)
	var me struct{ PIN, SignedIn bool }
	v.want(200, "GET", "me", nil, &me)
	if !me.PIN || me.SignedIn {
		t.Errorf("a browser that is not signed in: %+v", me)
	}
	if got := v.want(401, "POST", "login", map[string]string{"pin": "wrong"}, nil); got != "unauthorized: Wrong PIN." {
		t.Errorf("a wrong PIN: %s", got)
	}
	res := v.send("POST", "login", map[string]string{"pin": pin})
	res.Body.Close()
	cookies := res.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies: %v", cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/approvals" || c.Secure || c.MaxAge != 0 || len(c.Value) < 52 {
		t.Errorf("cookie %+v", c)
	}
	raw, _ := json.Marshal(me)
	v.want(200, "GET", "me", nil, &me)
	if !me.SignedIn || strings.Contains(string(raw), "oken") {
		t.Errorf("the owner is %+v", me)
	}
	if diff := cmp.Diff([]string{hearken.AuditRefused}, h.audit.types()); diff != "" {
		t.Error(diff)
	}
}

// The page shows why guesses are limited, and they do not fill the audit.
func TestSignIn_Limited(t *testing.T) {
	h := open(t, nil)
	v := h.newClient(t)
	for range 5 {
		v.want(401, "POST", "login", map[string]string{"pin": "guess"}, nil)
	}
	for range 20 {
		if got := v.want(429, "POST", "login", map[string]string{"pin": pin}, nil); !strings.Contains(got, "Too many wrong PINs") {
			t.Errorf("limited: %s", got)
		}
	}
	if got := len(h.audit.types()); got != 6 {
		t.Errorf("%d records for 5 wrong PINs and 20 that came too fast", got)
	}
}

// A second tab of the same browser keeps the session of the first.
func TestSignIn_SecondTab(t *testing.T) {
	h := open(t, nil)
	a := newAction(t, "hello")
	h.queue.put(a)
	v := h.signedIn(t)
	first := v.token
	v.token = ""
	v.want(403, "POST", "pause", map[string]bool{"paused": true}, nil)
	v.login()
	if v.token != first {
		t.Error("the second tab has another token, so the first has lost its own")
	}
	v.want(200, "POST", "pause", map[string]bool{"paused": true}, nil)
}

func TestSignOut(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	events, end := v.follow(t.Context())
	defer end()
	next(t, events)
	v.want(200, "POST", "logout", struct{}{}, nil)
	if e := next(t, events); e.name != "signedout" {
		t.Errorf("the stream said %s", e.name)
	}
	if _, more := <-events; more {
		t.Error("the stream went on after the owner had left")
	}
	v.want(401, "POST", "pause", map[string]bool{"paused": true}, nil)
	v.want(401, "GET", "events", nil, nil)

	second := h.signedIn(t)
	h.page.SignOut()
	second.want(401, "POST", "pause", map[string]bool{"paused": true}, nil)
}

// After twelve hours the session and its stream end. Until then the stream sends
// heartbeats.
func TestSession_Expires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openInMemory()
		token, cookie := h.login(t)
		if got := h.post("pause", `{"paused":true}`, token, cookie).Code; got != 200 {
			t.Fatalf("signed in: %d", got)
		}
		start := time.Now()
		said := h.follow(t.Context(), cookie).Body.String()
		if took := time.Since(start); took != 12*time.Hour {
			t.Errorf("the stream lasted %v", took)
		}
		if !strings.HasSuffix(said, "event: signedout\ndata: {}\n\n") || strings.Count(said, ":\n\n") < 2000 {
			t.Errorf("the stream said %d bytes, at last %q", len(said), said[max(0, len(said)-60):])
		}
		if got := h.post("pause", `{"paused":true}`, token, cookie).Code; got != 401 {
			t.Errorf("after twelve hours: %d", got)
		}
	})
}

// Every change needs the page's own origin, the session and the token. A key is
// useless.
func TestChanges_Refused(t *testing.T) {
	h := open(t, nil)
	a := newAction(t, "hello")
	h.queue.put(a)
	h.queue.grants = []hearken.Grant{{ID: "grn_1", ExpiresAt: time.Now().Add(time.Hour)}}
	changes := map[string]any{
		"actions/" + a.ID + "/decision": map[string]any{"digest": a.Digest, "allow": true},
		"actions/" + a.ID + "/cancel":   struct{}{},
		"decide-all":                    map[string]any{"allow": true, "actions": []map[string]string{{"id": a.ID, "digest": a.Digest}}},
		"grants/grn_1/revoke":           struct{}{},
		"pause":                         map[string]bool{"paused": true},
		"logout":                        struct{}{},
	}
	for _, tt := range []struct {
		name   string
		status int
		change func(v *apiClient)
	}{
		{"Stranger", 401, func(v *apiClient) { v.client.Jar = nil }},
		{"Key", 401, func(v *apiClient) { v.client.Jar = nil; v.header.Set("Authorization", "Bearer hk_something") }},
		{"NoToken", 403, func(v *apiClient) { v.token = "" }},
		{"WrongToken", 403, func(v *apiClient) { v.token = "guess" }},
		{"TokenOfAnother", 403, func(v *apiClient) { v.token = h.signedIn(t).token }},
		{"NoOrigin", 403, func(v *apiClient) { v.header["Origin"] = nil }},
		{"OtherOrigin", 403, func(v *apiClient) { v.header.Set("Origin", "http://127.0.0.1:1") }},
		{"NullOrigin", 403, func(v *apiClient) { v.header.Set("Origin", "null") }},
		{"OtherScheme", 403, func(v *apiClient) { v.header.Set("Origin", strings.Replace(h.URL, "http", "https", 1)) }},
		{"TwoOrigins", 403, func(v *apiClient) { v.header["Origin"] = []string{h.URL, h.URL} }},
		{"SameSite", 403, func(v *apiClient) { v.header.Set("Sec-Fetch-Site", "same-site") }},
		{"CrossSite", 403, func(v *apiClient) { v.header.Set("Sec-Fetch-Site", "cross-site") }},
		{"Typed", 403, func(v *apiClient) { v.header.Set("Sec-Fetch-Site", "none") }},
		{"Form", 400, func(v *apiClient) { v.header.Set("Content-Type", "text/plain") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for path, body := range changes {
				v := h.signedIn(t)
				tt.change(v)
				v.t = t
				v.want(tt.status, "POST", path, body, nil)
			}
		})
	}
	t.Run("Get", func(t *testing.T) {
		v := h.signedIn(t)
		for path := range changes {
			res := v.send("GET", path, nil)
			res.Body.Close()
			if res.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("GET %s: %d", path, res.StatusCode)
			}
		}
	})
	if h.queue.state(a.ID) != hearken.ActionPending || h.queue.Paused() || h.queue.grants[0].RevokedAt != nil {
		t.Error("something was changed anyway")
	}
}

// Reading needs the session.
func TestLooking_Refused(t *testing.T) {
	h := open(t, nil)
	v := h.newClient(t)
	v.header.Set("Authorization", "Bearer hk_something")
	for _, path := range []string{"events", "sessions/" + callID + "?line=1"} {
		v.want(401, "GET", path, nil, nil)
	}
}

// Behind a proxy the page's origin is the public one, and the cookie is for
// TLS only.
func TestSignIn_PublicURL(t *testing.T) {
	h := open(t, func(cfg *web.Config, _ *testPage) { cfg.PublicURL = "https://hearken.example.org/" })
	v := h.newClient(t)
	v.header.Set("Origin", "https://hearken.example.org")
	res := v.send("POST", "login", map[string]string{"pin": pin})
	res.Body.Close()
	if res.StatusCode != http.StatusOK || len(res.Cookies()) != 1 || !res.Cookies()[0].Secure {
		t.Errorf("%d %v", res.StatusCode, res.Cookies())
	}
	v.header.Set("Origin", "http://hearken.example.org")
	v.want(403, "POST", "login", map[string]string{"pin": pin}, nil)
}

// A PIN is not accepted over an unencrypted network connection.
func TestSignIn_Clear(t *testing.T) {
	h := openInMemory()
	for host, want := range map[string]int{
		"http://127.0.0.1:8080": 200, "http://localhost:8080": 200, "http://[::1]:8080": 200, "https://192.0.2.1:8080": 200,
		"http://192.0.2.1:8080": 403, "http://hub.local": 403,
	} {
		r := httptest.NewRequest(http.MethodPost, host+"/approvals/api/login", strings.NewReader(`{"pin":"`+pin+`"}`))
		r.Header.Set("Origin", host)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d: %s", host, w.Code, want, w.Body)
		}
	}
}

func TestSetup(t *testing.T) {
	code := "the-code"
	h := open(t, func(cfg *web.Config, h *testPage) {
		h.owner.pin = ""
		cfg.SetupCode = func() string { return code }
	})
	v := h.newClient(t)
	if got := v.want(401, "POST", "login", map[string]string{"pin": ""}, nil); !strings.Contains(got, "No PIN is set yet") {
		t.Errorf("without a PIN: %s", got)
	}
	v.want(401, "POST", "setup", map[string]string{"code": "guess", "pin": pin}, nil)
	v.want(401, "POST", "setup", map[string]string{"code": "", "pin": pin}, nil)
	if got := v.want(400, "POST", "setup", map[string]string{"code": code, "pin": "123"}, nil); !strings.Contains(got, "at least 6") {
		t.Errorf("a short PIN: %s", got)
	}
	var out struct{ Token string }
	v.want(200, "POST", "setup", map[string]string{"code": code, "pin": pin}, &out)
	v.token = out.Token
	v.want(200, "POST", "pause", map[string]bool{"paused": true}, nil)
	v.want(403, "POST", "setup", map[string]string{"code": code, "pin": "another one"}, nil)
	if h.owner.pin != pin {
		t.Error("a PIN was set twice")
	}
	if diff := cmp.Diff([]string{hearken.AuditRefused, hearken.AuditRefused, hearken.AuditOwner}, h.audit.types()); diff != "" {
		t.Error(diff)
	}
}

// Without a code there is nothing to guess; with one, guesses are limited.
func TestSetup_Guesses(t *testing.T) {
	code := ""
	h := open(t, func(cfg *web.Config, h *testPage) {
		h.owner.pin = ""
		cfg.SetupCode = func() string { return code }
	})
	v := h.newClient(t)
	v.want(403, "POST", "setup", map[string]string{"code": "", "pin": pin}, nil)
	code = "the-code"
	for range 10 {
		v.want(401, "POST", "setup", map[string]string{"code": "guess", "pin": pin}, nil)
	}
	v.want(403, "POST", "setup", map[string]string{"code": code, "pin": pin}, nil)
}

func TestTranscript(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	var out struct {
		Title string
		Lines []struct {
			Line         int
			Source, Text string
		}
	}
	v.want(200, "GET", "sessions/"+callID+"?line=4", nil, &out)
	if out.Title != "Call with Bob" || len(out.Lines) != 4 || out.Lines[2].Source != "S" || out.Lines[3].Line != 4 {
		t.Errorf("%+v", out)
	}
	v.want(400, "GET", "sessions/"+callID+"?line=x", nil, nil)
	v.want(404, "GET", "sessions/"+url.PathEscape("../../etc")+"?line=1", nil, nil)
	v.want(404, "GET", "sessions/1b7c1c5e-2f6d-4d0a-9a53-5a4f3c1d2e10?line=1", nil, nil)
}
