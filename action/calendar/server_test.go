package calendar

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
)

// A davServer is a small CalDAV server that fails on demand.
type davServer struct {
	*httptest.Server
	calendars []string // paths, in the order in which they are listed
	props     string   // more properties of every calendar
	// fault may answer instead of the server; then it returns true.
	fault func(w http.ResponseWriter, r *http.Request, body string) bool

	mu     sync.Mutex
	stored map[string]string
	log    []string // methods and paths
}

func newDAVServer(t *testing.T, start func(http.Handler) *httptest.Server) *davServer {
	t.Helper()
	s := &davServer{calendars: []string{"/u/cal/"}, stored: map[string]string{}}
	s.Server = start(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *davServer) serve(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r.Method+" "+r.URL.Path)
	if s.fault != nil && s.fault(w, r, string(data)) {
		return
	}
	if name, secret, ok := r.BasicAuth(); !ok || name != user || secret != password {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	tag := fmt.Sprintf(`"%x"`, len(s.stored[r.URL.Path]))
	stored, there := s.stored[r.URL.Path]
	switch r.Method {
	case "PROPFIND":
		s.propfind(w, r)
	case "REPORT":
		list(w, "")
	case http.MethodPut:
		switch {
		case !s.isCalendar(path.Dir(r.URL.Path) + "/"):
			w.WriteHeader(http.StatusConflict)
		case there && r.Header.Get("If-None-Match") == "*":
			w.WriteHeader(http.StatusPreconditionFailed)
		default:
			s.stored[r.URL.Path] = string(data)
			w.WriteHeader(http.StatusCreated)
		}
	case http.MethodGet:
		if !there {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", tag)
		io.WriteString(w, stored)
	case http.MethodDelete:
		switch {
		case !there:
			http.NotFound(w, r)
		case r.Header.Get("If-Match") != tag:
			w.WriteHeader(http.StatusPreconditionFailed)
		default:
			delete(s.stored, r.URL.Path)
			w.WriteHeader(http.StatusNoContent)
		}
	}
}

func (s *davServer) isCalendar(path string) bool { return slices.Contains(s.calendars, path) }

func (s *davServer) propfind(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/":
		list(w, found("/", `<D:current-user-principal><D:href>/u/</D:href></D:current-user-principal>`))
	case r.URL.Path == "/u/" && r.Header.Get("Depth") == "0":
		list(w, found("/u/", `<C:calendar-home-set><D:href>/u/</D:href></C:calendar-home-set>`))
	case r.URL.Path == "/u/":
		var all strings.Builder
		for _, c := range s.calendars {
			all.WriteString(found(c, calendarProps+s.props))
		}
		list(w, all.String())
	case s.isCalendar(r.URL.Path):
		list(w, found(r.URL.Path, calendarProps+s.props))
	default:
		http.NotFound(w, r)
	}
}

const calendarProps = `<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>`

func found(href, props string) string {
	return `<D:response><D:href>` + href + `</D:href><D:propstat><D:prop>` + props + `</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`
}

func list(w http.ResponseWriter, entries string) {
	w.WriteHeader(http.StatusMultiStatus)
	io.WriteString(w, `<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`+entries+`</D:multistatus>`)
}

// refuse answers requests of a method with a status, and nothing is stored.
func refuse(method string, status int, header ...string) func(http.ResponseWriter, *http.Request, string) bool {
	return func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != method {
			return false
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		return true
	}
}

// set changes how the server behaves.
func (s *davServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *davServer) objects() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stored)
}

func wants(t *testing.T, o hearken.Outcome, result hearken.Result, part string) {
	t.Helper()
	if o.Result != result || !strings.Contains(o.Message, part) {
		t.Errorf("%+v, want %s with %q", o, result, part)
	}
	if strings.Contains(o.Message, password) {
		t.Errorf("the password is in %q", o.Message)
	}
}
