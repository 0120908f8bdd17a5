package message

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
)

const (
	account = "AC0123456789abcdef0123456789abcdef"
	sid     = "SM0123456789abcdef0123456789abcdef"
)

// A receivedRequest is a request as a server got it.
type receivedRequest struct {
	method, path, user, password string
	header                       http.Header
	body                         []byte
}

// A double is an HTTP server that records its requests.
type double struct {
	*httptest.Server
	requests chan receivedRequest
}

// newDouble answers every request with the function, which closes the connection
// by a panic with http.ErrAbortHandler.
func newDouble(t *testing.T, answer http.HandlerFunc) *double {
	d := &double{requests: make(chan receivedRequest, 10)}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		d.requests <- receivedRequest{r.Method, r.URL.RequestURI(), user, password, r.Header, body}
		answer(w, r)
	}))
	t.Cleanup(d.Close)
	return d
}

// says answers with a status and a body.
func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// dies closes the connection after it has read the request.
func dies(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// halfAnswer closes the connection in the middle of its answer.
func halfAnswer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "500")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"sid":"`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func newSMS(t *testing.T, base string) *SMS {
	t.Helper()
	s, err := NewSMS(SMSConfig{AccountSID: account, Secret: secret, From: "+15005550006", BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSMS_Do(t *testing.T) {
	d := newDouble(t, says(201, `{"sid":"`+sid+`","status":"queued","error_code":null,"num_segments":"1"}`))
	out := newSMS(t, d.URL).Do(t.Context(), newAction("sms", "+420601123456", "Přijdu & zaplatím 100% = jasně"))
	checkOutcome(t, out, hearken.ResultOK, "")
	if out.Receipt != sid {
		t.Errorf("receipt %q", out.Receipt)
	}
	got := <-d.requests
	if got.method != "POST" || got.path != "/2010-04-01/Accounts/"+account+"/Messages.json" || got.user != account || got.password != secret {
		t.Errorf("%s %s as %s", got.method, got.path, got.user)
	}
	if ct := got.header.Get("Content-Type"); ct != "application/x-www-form-urlencoded" {
		t.Errorf("content type %q", ct)
	}
	form, err := url.ParseQuery(string(got.body))
	if err != nil {
		t.Fatal(err)
	}
	want := url.Values{"To": {"+420601123456"}, "From": {"+15005550006"}, "Body": {"Přijdu & zaplatím 100% = jasně"}}
	if diff := cmp.Diff(want, form); diff != "" {
		t.Error(diff)
	}
}

func TestSMS_Service(t *testing.T) {
	d := newDouble(t, says(201, `{"sid":"`+sid+`","status":"accepted"}`))
	service := "MG" + account[2:]
	s, err := NewSMS(SMSConfig{AccountSID: account, Secret: secret, ServiceSID: service, BaseURL: d.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	checkOutcome(t, s.Do(t.Context(), newAction("sms", "+420601123456", "Hello")), hearken.ResultOK, "")
	got := <-d.requests
	form, _ := url.ParseQuery(string(got.body))
	if got.user != account || form.Get("MessagingServiceSid") != service || form.Has("From") {
		t.Errorf("user %s, form %v", got.user, form)
	}
}

func TestSMS_Refused(t *testing.T) {
	old := func(status, code int) http.HandlerFunc {
		return says(status, fmt.Sprintf(`{"code":%d,"message":%q,"more_info":"https://x","status":%d}`, code, evil, status))
	}
	const temp, perm, unk = hearken.ResultTemporary, hearken.ResultPermanent, hearken.ResultUnknown
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		result hearken.Result
		says   string
	}{
		"Auth":          {old(401, 20003), perm, "refuses the account or its token (20003)"},
		"BadTo":         {old(400, 21211), perm, "not an existing phone number (21211)"},
		"Trial":         {old(400, 21608), perm, "verified there (21608)"},
		"OptedOut":      {old(400, 21610), perm, "opted out"},
		"NoWay":         {old(400, 21612), perm, "no route"},
		"Landline":      {old(400, 21614), perm, "not a mobile"},
		"SenderNoSMS":   {old(400, 21606), perm, "cannot send text messages"},
		"Other":         {old(400, 29999), perm, "Twilio refuses the message (29999)"},
		"NewShape":      {says(400, `{"code":"21211","message":"`+evil+`","httpStatusCode":400,"params":{},"userError":true}`), perm, "(21211)"},
		"TooMany":       {old(429, 20429), temp, "too many requests (20429)"},
		"TooManyBare":   {says(429, ""), temp, "(429)"},
		"QueueFull":     {old(429, 21611), temp, "queue"},
		"Unavailable":   {old(503, 20503), temp, "not available now (503)"},
		"Gateway503":    {says(503, "<html>"+evil), unk, "(503), and may have carried out the request"},
		"Internal":      {old(500, 20500), unk, "(500)"},
		"BadGateway":    {says(502, evil), unk, "(502)"},
		"Timeout504":    {says(504, ""), unk, "(504)"},
		"Timeout408":    {old(408, 20008), unk, "(408)"},
		"Plain401":      {says(401, evil), perm, "refuses the credentials (401)"},
		"Plain404":      {says(404, evil), perm, "refuses the message (404)"},
		"Redirect":      {says(307, "", "Location", "/elsewhere"), perm, "not followed"},
		"Portal":        {says(200, "<html>please log in"), unk, "unexpected answer"},
		"NoSID":         {says(201, `{"status":"queued"}`), unk, "unexpected answer"},
		"OddSID":        {says(201, `{"sid":"`+evil+`"}`), unk, "unexpected answer"},
		"HalfAnswer":    {halfAnswer, unk, "unexpected answer"},
		"Dies":          {dies, unk, "lost before it answered"},
		"FailedAtOnce":  {says(201, `{"sid":"`+sid+`","status":"failed","error_code":30005}`), perm, "not in use (30005)"},
		"EndlessAnswer": {says(500, strings.Repeat("x", 1<<20)), unk, "(500)"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDouble(t, tt.answer)
			checkOutcome(t, newSMS(t, d.URL).Do(t.Context(), newAction("sms", "+420601123456", "Hello")), tt.result, tt.says)
			if n := len(d.requests); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestSMS_Unreachable(t *testing.T) {
	l, port := listen(t)
	l.Close()
	s := newSMS(t, fmt.Sprintf("http://127.0.0.1:%d", port))
	checkOutcome(t, s.Do(t.Context(), newAction("sms", "+420601123456", "Hello")), hearken.ResultTemporary, "cannot be reached")
}

// TestSMS_Silence stops waiting for a server that got the request.
func TestSMS_Silence(t *testing.T) {
	for end, says := range map[error]string{context.Canceled: "lost before it answered", context.DeadlineExceeded: "did not answer in time"} {
		ctx := ending{t.Context(), make(chan struct{}), end}
		d := newDouble(t, func(_ http.ResponseWriter, r *http.Request) {
			close(ctx.done)
			<-r.Context().Done()
		})
		checkOutcome(t, newSMS(t, d.URL).Do(ctx, newAction("sms", "+420601123456", "Hello")), hearken.ResultUnknown, says)
	}
}

// ending is a context that ends when and how a test says.
type ending struct {
	context.Context
	done chan struct{}
	end  error
}

func (e ending) Done() <-chan struct{} { return e.done }

func (e ending) Err() error {
	select {
	case <-e.done:
		return e.end
	default:
		return nil
	}
}

func TestSMS_RetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0": 0, "-3": 0, "": 0, "soon": 0, "99999999999": remote.MaxWait, "86400": remote.MaxWait,
		"Sun, 15 Nov 2026 09:30:30 GMT": 30 * time.Second, "Sun, 15 Nov 2026 09:29:30 GMT": 0,
	} {
		d := newDouble(t, says(429, `{"code":20429}`, "Retry-After", value))
		s := newSMS(t, d.URL)
		s.service.now = func() time.Time { return time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC) }
		out := s.Do(t.Context(), newAction("sms", "+420601123456", "Hello"))
		checkOutcome(t, out, hearken.ResultTemporary, "")
		if out.After != want {
			t.Errorf("%q: %v, want %v", value, out.After, want)
		}
	}
}

func TestSMS_Accepts(t *testing.T) {
	s := newSMS(t, "")
	for _, address := range []string{"", "911", "420601123456", "+0420601123456", "+420 601 123 456", "+42060112345678901", "+420601123456\n", "+1911", "bob@x.test"} {
		if err := s.Accepts(&hearken.Message{Address: address, Text: "Hello"}); hearken.CodeOf(err) != hearken.InvalidRecipient {
			t.Errorf("%q: %v", address, err)
		}
	}
	for text, fine := range map[string]bool{
		strings.Repeat("x", 1600): true, strings.Repeat("x", 1601): false,
		strings.Repeat("ž", 1600): true, strings.Repeat("😀", 800): true, strings.Repeat("😀", 801): false, "": false,
	} {
		if err := s.Accepts(&hearken.Message{Address: "+420601123456", Text: text}); (err == nil) != fine {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

func TestNewSMS_Refuses(t *testing.T) {
	good := SMSConfig{AccountSID: account, Secret: secret, From: "+15005550006"}
	if _, err := NewSMS(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*SMSConfig){
		"NoAccount":   func(c *SMSConfig) { c.AccountSID = "" },
		"OddAccount":  func(c *SMSConfig) { c.AccountSID = "AC1/../x" },
		"NoSecret":    func(c *SMSConfig) { c.Secret = "" },
		"NoFrom":      func(c *SMSConfig) { c.From = "" },
		"Both":        func(c *SMSConfig) { c.ServiceSID = "MG" + account[2:] },
		"OddService":  func(c *SMSConfig) { c.From, c.ServiceSID = "", "MG1" },
		"OddFrom":     func(c *SMSConfig) { c.From = "Alice's telephone" },
		"LocalFrom":   func(c *SMSConfig) { c.From = "0601123456" },
		"PlainHTTP":   func(c *SMSConfig) { c.BaseURL = "http://twilio.test" },
		"NotAURL":     func(c *SMSConfig) { c.BaseURL = "https://user:" + secret + "@%zz" },
		"URLWithUser": func(c *SMSConfig) { c.BaseURL = "https://user:" + secret + "@twilio.test" },
		"NoScheme":    func(c *SMSConfig) { c.BaseURL = "twilio.test" },
		"File":        func(c *SMSConfig) { c.BaseURL = "file://localhost/etc" },
		"CAFile":      func(c *SMSConfig) { c.CAFile = "no such file" },
	} {
		cfg := good
		change(&cfg)
		_, err := NewSMS(cfg)
		if hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error holds the secret", name)
		}
	}
	for _, from := range []string{"Hearken", "12345", "+420601123456"} {
		cfg := good
		cfg.From = from
		if _, err := NewSMS(cfg); err != nil {
			t.Errorf("%s: %v", from, err)
		}
	}
}
