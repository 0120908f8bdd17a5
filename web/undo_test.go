package web_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/web"
)

// openLink requests an undo link, as a browser without a cookie does.
func (h *testPage) openLink(t testing.TB, method, path string, change func(r *http.Request)) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", h.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(r)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw), res.Header
}

// The link of a notification shows what a grant allowed, and undoes it when the
// owner presses the button, without a cookie. Looking changes nothing.
func TestUndoLink(t *testing.T) {
	h := open(t, nil)
	a := granted(newReminder(t, "Call <b>Bob</b>\u202e \"now\"", time.Date(2031, 3, 14, 14, 0, 0, 0, time.UTC)), time.Now().Add(-time.Hour))
	h.queue.put(a)
	link := web.UndoPath(undoKey, a.ID)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
		status, page, header := h.openLink(t, method, link, nil)
		if status != 200 {
			t.Fatalf("%s: %d", method, status)
		}
		if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "script") || strings.Contains(policy, "unsafe") {
			t.Errorf("policy %s", policy)
		}
		if header.Get("X-Frame-Options") != "DENY" || header.Get("Cache-Control") != "private, no-store" || header.Get("Set-Cookie") != "" {
			t.Errorf("headers %v", header)
		}
		if method == http.MethodHead {
			continue
		}
		for _, want := range []string{"Done by your grant", "Call &lt;b&gt;Bob&lt;/b&gt;", "14 Mar 2031", "Claude Code, laptop", "<form method=\"post\">", ">Undo</button>"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %s:\n%s", want, page)
			}
		}
		if strings.Contains(page, "\u202e") || strings.Contains(page, "<b>") {
			t.Errorf("the page repeats what deceives:\n%s", page)
		}
	}
	if h.queue.state(a.ID) != hearken.ActionDone {
		t.Fatal("looking has undone it")
	}
	for range 2 { // the browser may send the form again
		status, page, _ := h.openLink(t, http.MethodPost, link, nil)
		if status != 200 || !strings.Contains(page, "<h1>Undone</h1>") || strings.Contains(page, "<form") {
			t.Errorf("undone: %d\n%s", status, page)
		}
		if h.queue.state(a.ID) != hearken.ActionUndone {
			t.Error("not undone")
		}
	}
	if got := h.audit.types(); len(got) != 0 {
		t.Errorf("a good link was refused: %v", got)
	}
}

// What cannot be undone any more, or was never done, has no button.
func TestUndoLink_NothingToUndo(t *testing.T) {
	h := open(t, nil)
	for state, want := range map[hearken.ActionState]string{
		hearken.ActionCancelled: "Undone", hearken.ActionUndone: "Undone", hearken.ActionUnknown: "The result is unknown",
		hearken.ActionFailed: "Nothing to undo", hearken.ActionExecuting: "Being carried out",
	} {
		a := granted(newReminder(t, "note", time.Now()), time.Now())
		a.State = state
		h.queue.put(a)
		if status, page, _ := h.openLink(t, http.MethodGet, web.UndoPath(undoKey, a.ID), nil); status != 200 || !strings.Contains(page, "<h1>"+want+"</h1>") || strings.Contains(page, "<form") {
			t.Errorf("%s: %d\n%s", state, status, page)
		}
	}
	sent := granted(newAction(t, "to myself"), time.Now())
	sent.Message.Own = true
	h.queue.put(sent)
	link := web.UndoPath(undoKey, sent.ID)
	if status, page, _ := h.openLink(t, http.MethodGet, link, nil); status != 200 || !strings.Contains(page, "cannot be undone") || strings.Contains(page, "<form") {
		t.Errorf("sent: %d\n%s", status, page)
	}
	if status, page, _ := h.openLink(t, http.MethodPost, link, nil); status != 409 || !strings.Contains(page, "What was sent cannot be taken back.") {
		t.Errorf("sent: %d\n%s", status, page)
	}
}

func TestUndoLink_Refused(t *testing.T) {
	h := open(t, nil)
	now := time.Now()
	a, other := granted(newReminder(t, "secret note", now), now.Add(-time.Hour)), granted(newReminder(t, "other", now), now)
	old := granted(newReminder(t, "old", now), now.Add(-24*time.Hour-time.Minute))
	mine := granted(newReminder(t, "mine", now), now)
	mine.Decision.By = "owner"
	waiting := newReminder(t, "waiting", now)
	for _, a := range []hearken.Action{a, other, old, mine, waiting} {
		h.queue.put(a)
	}
	good := web.UndoPath(undoKey, a.ID)
	_, token, _ := strings.Cut(good, "?t=")
	asOther := func(name, value string) func(r *http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, tt := range map[string]struct {
		path     string
		status   int
		says     string
		change   func(r *http.Request)
		onlyPost bool
	}{
		"NoToken":        {path: "/undo/" + a.ID, status: 401, says: "not complete"},
		"EmptyToken":     {path: "/undo/" + a.ID + "?t=", status: 401, says: "not complete"},
		"CutToken":       {path: good[:len(good)-1], status: 401, says: "not complete"},
		"OtherAction":    {path: "/undo/" + other.ID + "?t=" + token, status: 401, says: "not complete"},
		"OtherKey":       {path: web.UndoPath([]byte("another key of thirty-two bytes."), a.ID), status: 401, says: "not complete"},
		"NoAction":       {path: web.UndoPath(undoKey, "rem_aaaaaaaaaaaaaaaa"), status: 404, says: "no such action"},
		"NotAnID":        {path: "/undo/" + url.PathEscape("../x") + "?t=" + token, status: 401, says: "not complete"},
		"Old":            {path: web.UndoPath(undoKey, old.ID), status: 403, says: "one day"},
		"ByOwner":        {path: web.UndoPath(undoKey, mine.ID), status: 403, says: "needs your PIN"},
		"Pending":        {path: web.UndoPath(undoKey, waiting.ID), status: 403, says: "needs your PIN"},
		"OtherOrigin":    {path: good, status: 403, says: "Only the page itself", change: asOther("Origin", "https://evil.example"), onlyPost: true},
		"NullOrigin":     {path: good, status: 403, says: "Only the page itself", change: asOther("Origin", "null"), onlyPost: true},
		"NoOrigin":       {path: good, status: 403, says: "Only the page itself", change: func(r *http.Request) { r.Header.Del("Origin") }, onlyPost: true},
		"CrossSite":      {path: good, status: 403, says: "Only the page itself", change: asOther("Sec-Fetch-Site", "cross-site"), onlyPost: true},
		"TokenInTheBody": {path: "/undo/" + a.ID, status: 401, says: "not complete", change: func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("t=" + token)); r.ContentLength = -1 }, onlyPost: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if tt.onlyPost && method == http.MethodGet {
					continue
				}
				status, page, _ := h.openLink(t, method, tt.path, tt.change)
				if status != tt.status || !strings.Contains(page, "Nothing was undone") || !strings.Contains(page, tt.says) || strings.Contains(page, "secret note") || strings.Contains(page, "<form") {
					t.Errorf("%s: %d\n%s", method, status, page)
				}
			}
		})
	}
	if status, _, _ := h.openLink(t, http.MethodPut, good, nil); status != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %d", status)
	}
	if got := h.queue.undoneWithoutPIN(); len(got) != 0 {
		t.Errorf("undone: %v", got)
	}
}

// Wrong and old links are in the audit, but cannot fill it.
func TestUndoLink_Audit(t *testing.T) {
	h := open(t, nil)
	old := granted(newReminder(t, "old", time.Now()), time.Now().Add(-25*time.Hour))
	h.queue.put(old)
	h.openLink(t, http.MethodGet, web.UndoPath(undoKey, old.ID), nil)
	h.openLink(t, http.MethodGet, "/undo/"+old.ID+"?t=guess", nil)
	if diff := cmp.Diff([]string{hearken.AuditRefused, hearken.AuditRefused}, h.audit.types()); diff != "" {
		t.Error(diff)
	}
	for range 100 {
		h.openLink(t, http.MethodGet, "/undo/"+old.ID+"?t=guess", nil)
	}
	if got := len(h.audit.types()); got != 30 {
		t.Errorf("%d records of 102 refused links", got)
	}
}

// Without a key nobody can make a link, so there are none.
func TestUndoLink_NoKey(t *testing.T) {
	h := open(t, func(cfg *web.Config, _ *testPage) { cfg.UndoKey = nil })
	a := granted(newReminder(t, "note", time.Now()), time.Now())
	h.queue.put(a)
	if status, _, _ := h.openLink(t, http.MethodGet, web.UndoPath(nil, a.ID), nil); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
}

// The page undoes what a grant allowed without the token, and so without the PIN
// in a new tab. All else needs it.
func TestUndoGranted(t *testing.T) {
	h := open(t, nil)
	a := granted(newReminder(t, "note", time.Now()), time.Now().Add(-time.Hour))
	old := granted(newReminder(t, "old", time.Now()), time.Now().Add(-25*time.Hour))
	mine := granted(newReminder(t, "mine", time.Now()), time.Now())
	mine.Decision.By = "owner"
	for _, a := range []hearken.Action{a, old, mine} {
		h.queue.put(a)
	}
	v := h.signedIn(t)
	v.token = ""
	for name, change := range map[string]func(v *apiClient){
		"Stranger":    func(v *apiClient) { v.client.Jar = nil },
		"OtherOrigin": func(v *apiClient) { v.header.Set("Origin", "http://127.0.0.1:1") },
		"CrossSite":   func(v *apiClient) { v.header.Set("Sec-Fetch-Site", "cross-site") },
		"Form":        func(v *apiClient) { v.header.Set("Content-Type", "text/plain") },
	} {
		other := h.signedIn(t)
		change(other)
		status := map[string]int{"Stranger": 401, "Form": 400}[name]
		if status == 0 {
			status = 403
		}
		other.want(status, "POST", "actions/"+a.ID+"/undo", struct{}{}, nil)
	}
	v.want(403, "POST", "actions/"+old.ID+"/undo", struct{}{}, nil)
	v.want(403, "POST", "actions/"+mine.ID+"/undo", struct{}{}, nil)
	v.want(404, "POST", "actions/rem_aaaaaaaaaaaaaaaa/undo", struct{}{}, nil)
	v.want(403, "POST", "actions/"+a.ID+"/cancel", struct{}{}, nil)
	if h.queue.state(a.ID) != hearken.ActionDone {
		t.Fatal("undone by somebody else")
	}
	var out struct{ Action card }
	v.want(200, "POST", "actions/"+a.ID+"/undo", struct{}{}, &out)
	if out.Action.State != "undone" || h.queue.state(a.ID) != hearken.ActionUndone {
		t.Errorf("%+v", out)
	}
}
