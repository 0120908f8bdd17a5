package calendar

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
)

func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func TestCalDAV_Refusals(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	for _, tt := range []struct {
		name   string
		fault  func(http.ResponseWriter, *http.Request, string) bool
		result hearken.Result
		after  time.Duration
		says   string
	}{
		{"Unauthorized", refuse(http.MethodPut, 401), hearken.ResultPermanent, 0, "CALDAV_PASSWORD"},
		{"Digest", refuse(http.MethodPut, 401, "WWW-Authenticate", `Digest realm="x"`), hearken.ResultPermanent, 0, "does not support signing in"},
		{"Forbidden", refuse(http.MethodPut, 403), hearken.ResultPermanent, 0, "does not allow"},
		{"BadRequest", refuse(http.MethodPut, 400), hearken.ResultPermanent, 0, "refused with 400"},
		{"TooLarge", refuse(http.MethodPut, 413), hearken.ResultPermanent, 0, "413"},
		{"SeeOther", refuse(http.MethodPut, 303, "Location", "/u/cal/x"), hearken.ResultPermanent, 0, "303"},
		{"TooMany", refuse(http.MethodPut, 429, "Retry-After", "7"), hearken.ResultTemporary, 7 * time.Second, "too many"},
		{"Unavailable", refuse(http.MethodPut, 503, "Retry-After", "Tue, 20 Oct 2026 12:01:00 GMT", "Date", "Tue, 20 Oct 2026 12:00:00 GMT"), hearken.ResultTemporary, time.Minute, "failed (503)"},
		{"Forever", refuse(http.MethodPut, 503, "Retry-After", "99999999"), hearken.ResultTemporary, time.Hour, "failed (503)"},
		{"Broken", refuse(http.MethodPut, 500), hearken.ResultTemporary, 0, "500"},
		{"Full", refuse(http.MethodPut, 507), hearken.ResultTemporary, 0, "no space"},
		{"NoServer", refuse("PROPFIND", 405), hearken.ResultPermanent, 0, "not a calendar server"},
		{"WebPage", refuse("PROPFIND", 200), hearken.ResultPermanent, 0, "not a calendar server"},
		{"NotXML", refuse("PROPFIND", 207), hearken.ResultPermanent, 0, "cannot be read"},
		{"HangsUp", func(w http.ResponseWriter, _ *http.Request, _ string) bool { hangUp(w); return true }, hearken.ResultTemporary, 0, "closed the connection"},
		{"MultiStatus", refuse(http.MethodPut, 207), hearken.ResultPermanent, 0, "answered 207, but the entry is not there"},
		{"OK", refuse(http.MethodPut, 200), hearken.ResultPermanent, 0, "answered 200, but the entry is not there"},
		{"Accepted", refuse(http.MethodPut, 202), hearken.ResultPermanent, 0, "answered 202, but the entry is not there"},
		{"Precondition", refuse(http.MethodPut, 412), hearken.ResultPermanent, 0, "answered 412, but the entry is not there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.set(func() { s.fault = tt.fault })
			o := connect(t, s.URL, nil).Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00"))
			wants(t, o, tt.result, tt.says)
			if o.After != tt.after {
				t.Errorf("after %s, want %s", o.After, tt.after)
			}
			if s.objects() != 0 {
				t.Error("something was stored")
			}
		})
	}
	t.Run("NotThere", func(t *testing.T) {
		s.Close()
		wants(t, connect(t, s.URL, nil).Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultTemporary, "cannot be reached")
	})
}

// Another object at the same path is neither mistaken for ours nor replaced.
func TestCalDAV_OtherObject(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	a := appointment(t, "2026-11-20T15:00:00+02:00")
	path := "/u/cal/" + a.ID + ".ics"
	s.stored[path] = written(t, appointment(t, "2026-11-20T15:00:00+02:00"), event, "")
	before := s.stored[path]
	wants(t, connect(t, s.URL, nil).Do(t.Context(), a), hearken.ResultPermanent, "412")
	if s.stored[path] != before {
		t.Error("it was replaced")
	}
}

// Whatever fails before or after the server stored the entry, in the end it is
// there exactly once.
func TestCalDAV_ExactlyOnce(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	const actions = 60
	rng := rand.New(rand.NewPCG(6, 7))
	attempts := 0
	s.fault = func(w http.ResponseWriter, r *http.Request, body string) bool {
		if r.Method != http.MethodPut {
			return rng.IntN(4) == 0 && refuse(r.Method, 500)(w, r, body)
		}
		switch rng.IntN(6) {
		case 0:
			hangUp(w)
		case 1:
			return refuse(http.MethodPut, 503)(w, r, body)
		case 2, 3: // stored, and the response is lost
			if s.stored[r.URL.Path] == "" {
				s.stored[r.URL.Path] = body
			}
			hangUp(w)
		case 4: // stored, and a proxy says that it was not
			if s.stored[r.URL.Path] == "" {
				s.stored[r.URL.Path] = body
			}
			return refuse(http.MethodPut, 502)(w, r, body)
		}
		return false
	}
	for range actions {
		a := appointment(t, "2026-11-20T15:00:00+02:00")
		for o := (hearken.Outcome{}); o.Result != hearken.ResultOK; {
			a.Attempts++
			attempts++
			if o = connect(t, s.URL, nil).Do(t.Context(), a); o.Result != hearken.ResultOK && o.Result != hearken.ResultTemporary {
				t.Fatalf("%+v", o)
			}
		}
	}
	if s.objects() != actions {
		t.Errorf("%d entries of %d actions", s.objects(), actions)
	}
	if attempts < 2*actions {
		t.Errorf("only %d attempts: the server did not fail enough", attempts)
	}
}

// A lost response does not matter: a look shows that the entry was stored.
func TestCalDAV_LostAnswer(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	s.fault = func(w http.ResponseWriter, r *http.Request, body string) bool {
		if r.Method == http.MethodPut {
			s.stored[r.URL.Path] = body
			hangUp(w)
		}
		return false
	}
	do(t, connect(t, s.URL, nil), appointment(t, "2026-11-20T15:00:00+02:00"))
}

// A 207 counts as success if the entry was stored.
func TestCalDAV_MultiStatusButKept(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	s.fault = func(w http.ResponseWriter, r *http.Request, body string) bool {
		if r.Method == http.MethodPut {
			s.stored[r.URL.Path] = body
			list(w, "")
		}
		return r.Method == http.MethodPut
	}
	do(t, connect(t, s.URL, nil), appointment(t, "2026-11-20T15:00:00+02:00"))
}

// A calendar that was renamed since it was found is searched again.
func TestCalDAV_CalendarRenamed(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	c := connect(t, s.URL, nil)
	do(t, c, appointment(t, "2026-11-20T15:00:00+02:00"))
	s.set(func() { s.calendars = []string{"/u/new/"} })
	a := appointment(t, "2026-11-20T15:00:00+02:00")
	if do(t, c, a); !strings.HasPrefix(a.Receipt, "/u/new/") {
		t.Errorf("made %s", a.Receipt)
	}
	s.set(func() { s.calendars = nil })
	wants(t, c.Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultPermanent, "no calendar for events")
}

// A calendar that was missing may have been created since.
func TestCalDAV_CalendarMade(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	c := connect(t, s.URL, func(c *Config) { c.Calendar = "new" })
	wants(t, c.Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultPermanent, `no calendar "new"`)
	s.set(func() { s.calendars = append(s.calendars, "/u/new/") })
	a := appointment(t, "2026-11-20T15:00:00+02:00")
	if do(t, c, a); !strings.HasPrefix(a.Receipt, "/u/new/") {
		t.Errorf("made %s", a.Receipt)
	}
}

func TestCalDAV_ReadOnly(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	s.props = `<D:current-user-privilege-set><D:privilege><D:read/></D:privilege></D:current-user-privilege-set>`
	wants(t, connect(t, s.URL, nil).Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultPermanent, "may change")
	s.set(func() {
		s.props = `<D:current-user-privilege-set><D:privilege><D:read/></D:privilege><D:privilege><D:write/></D:privilege></D:current-user-privilege-set>`
	})
	do(t, connect(t, s.URL, nil), appointment(t, "2026-11-20T15:00:00+02:00"))
}

func TestCalDAV_WellKnown(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	s.fault = func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch r.URL.Path {
		case "/":
			return refuse("PROPFIND", 405)(w, r, body)
		case "/.well-known/caldav":
			return refuse("PROPFIND", 301, "Location", "/u/")(w, r, body)
		}
		return false
	}
	do(t, connect(t, s.URL, nil), appointment(t, "2026-11-20T15:00:00+02:00"))
}

// Redirects are followed with method, body and password on the same server, and
// never to another.
func TestCalDAV_Redirects(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(other.Close)
	s := newDAVServer(t, httptest.NewServer)
	a := appointment(t, "2026-11-20T15:00:00+02:00")
	s.calendars = []string{"/u/cal/", "/u/moved/"}
	s.fault = func(w http.ResponseWriter, r *http.Request, body string) bool {
		return strings.HasPrefix(r.URL.Path, "/u/cal/") && refuse(http.MethodPut, 302, "Location", "/u/moved/"+a.ID+".ics")(w, r, body)
	}
	if do(t, connect(t, s.URL, nil), a); a.Receipt != "/u/moved/"+a.ID+".ics" || s.objects() != 1 {
		t.Errorf("made %s", a.Receipt)
	}

	s.set(func() { s.fault = refuse(http.MethodPut, 307, "Location", "") })
	wants(t, connect(t, s.URL, nil).Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultPermanent, "invalid URL")
	s.set(func() {
		s.fault = func(w http.ResponseWriter, r *http.Request, body string) bool {
			return refuse(http.MethodPut, 308, "Location", r.URL.Path)(w, r, body)
		}
	})
	wants(t, connect(t, s.URL, nil).Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultPermanent, "without end")

	for _, method := range []string{"PROPFIND", http.MethodPut} {
		s.set(func() { s.fault = refuse(method, 307, "Location", other.URL+"/u/cal/x.ics") })
		wants(t, connect(t, s.URL, nil).Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultPermanent, "another server")
	}
	s.set(func() { // the same with a reference in a response
		s.fault = func(w http.ResponseWriter, r *http.Request, _ string) bool {
			list(w, found("/", `<D:current-user-principal><D:href>`+other.URL+`/u/</D:href></D:current-user-principal>`))
			return true
		}
	})
	wants(t, connect(t, s.URL, nil).Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultPermanent, "CALDAV_URL="+other.URL+"/u/")
	if asked != 0 {
		t.Errorf("the other server was asked %d times", asked)
	}
}

func TestCalDAV_Undo(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	c := connect(t, s.URL, nil)
	a := appointment(t, "2026-11-20T15:00:00+02:00")
	do(t, c, a)
	for status, result := range map[int]hearken.Result{500: hearken.ResultTemporary, 403: hearken.ResultPermanent, 207: hearken.ResultPermanent} {
		s.set(func() { s.fault = refuse(http.MethodDelete, status) })
		wants(t, c.Undo(t.Context(), a), result, "calendar server")
	}
	// Somebody changes it between GET and DELETE.
	s.set(func() {
		s.fault = func(_ http.ResponseWriter, r *http.Request, _ string) bool {
			if r.Method == http.MethodDelete {
				s.stored[r.URL.Path] += "X"
			}
			return false
		}
	})
	wants(t, c.Undo(t.Context(), a), hearken.ResultPermanent, "was changed")
	if s.objects() != 1 {
		t.Error("it was deleted")
	}
}

// A reminder of two objects has both or none. If that is not certain, the outcome
// says so.
func TestCalDAV_Halves(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	both := func(c *Config) { c.Reminders = "both" }
	second := func(w http.ResponseWriter, r *http.Request, body string) bool {
		return strings.HasSuffix(r.URL.Path, "-event.ics") && refuse(http.MethodPut, 403)(w, r, body)
	}
	s.fault = second
	wants(t, connect(t, s.URL, both).Do(t.Context(), reminder(t, "2026-10-22T09:00:00+02:00", "")), hearken.ResultPermanent, "does not allow")
	if s.objects() != 0 {
		t.Error("a half is left")
	}
	s.set(func() {
		s.fault = func(w http.ResponseWriter, r *http.Request, body string) bool {
			return second(w, r, body) || refuse(http.MethodDelete, 500)(w, r, body)
		}
	})
	o := connect(t, s.URL, both).Do(t.Context(), reminder(t, "2026-10-22T09:00:00+02:00", ""))
	wants(t, o, hearken.ResultUnknown, "other half")
	if o.Receipt == "" {
		t.Error("nobody says where it is")
	}
	// After a temporary failure the next attempt continues.
	s.set(func() {
		clear(s.stored)
		s.fault = func(w http.ResponseWriter, r *http.Request, body string) bool {
			return strings.HasSuffix(r.URL.Path, "-event.ics") && refuse(http.MethodPut, 503)(w, r, body)
		}
	})
	a := reminder(t, "2026-10-22T09:00:00+02:00", "")
	wants(t, connect(t, s.URL, both).Do(t.Context(), a), hearken.ResultTemporary, "failed (503)")
	s.set(func() { s.fault = nil })
	if do(t, connect(t, s.URL, both), a); s.objects() != 2 {
		t.Errorf("%d objects", s.objects())
	}
}

// A reminder that was copied here has the receipt of another connector. Undo
// still finds it, even in a shared calendar.
func TestCalDAV_UndoCopy(t *testing.T) {
	s := newDAVServer(t, httptest.NewServer)
	s.calendars = []string{"/u/cal/", "/shared/home/"}
	s.fault = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != "PROPFIND" || r.URL.Path != "/u/" || r.Header.Get("Depth") == "0" {
			return false
		}
		list(w, found("/u/cal/", calendarProps))
		return true
	}
	c := connect(t, s.URL, func(c *Config) { c.Reminders, c.Calendar = "vevent", "/shared/home/" })
	a := reminder(t, "2026-10-22T09:00:00+02:00", "FREQ=DAILY")
	if do(t, c, a); s.objects() != 1 || !strings.HasPrefix(a.Receipt, "/shared/home/") {
		t.Fatalf("%d objects, %s", s.objects(), a.Receipt)
	}
	a.Receipt = a.ID
	wants(t, c.Undo(t.Context(), a), hearken.ResultOK, "")
	if s.objects() != 0 {
		t.Errorf("%d objects left", s.objects())
	}
}

// silentTransport never answers.
type silentTransport struct{}

func (silentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A server that never answers ends in a timeout, a short one for conflicts.
func TestCalDAV_Silence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, "https://dav.example.org/", nil)
		c.client.Transport = silentTransport{}
		began := time.Now()
		wants(t, c.Do(t.Context(), appointment(t, "2026-11-20T15:00:00+02:00")), hearken.ResultTemporary, "did not answer in time")
		if waited := time.Since(began); waited != requestTimeout {
			t.Errorf("waited %s", waited)
		}
		began = time.Now()
		if _, err := c.Conflicts(t.Context(), created, created.Add(time.Hour)); hearken.CodeOf(err) != hearken.ProviderTemporary {
			t.Errorf("conflicts: %v", err)
		}
		if waited := time.Since(began); waited != conflictTimeout {
			t.Errorf("waited %s for a hint", waited)
		}
	})
}
