//go:build accept

package accept

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	messenger "github.com/hearken-dev/hearken/action/message"
)

const (
	twilioAccount = "AC0123456789abcdef0123456789abcdef"
	twilioService = "MG0123456789abcdef0123456789abcdef"
	twilioMessage = "SM0123456789abcdef0123456789abcdef"
	twilioToken   = "0notarealtoken0"
)

// A twilioRequest is what matters of a request.
type twilioRequest struct {
	Method, Path, User, Password, Type string
	Form                               url.Values
}

// TestTwilio has Twilio's own SDK and ours send the same messages: what
// arrives must be the same, and the SDK must read our double's answers as
// Twilio's.
func TestTwilio(t *testing.T) {
	sdk := fetched(t, "twilio-go", "twilio-go")
	requests := make(chan twilioRequest, 1)
	var status int
	var answer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, err := url.ParseQuery(string(body))
		if err != nil {
			t.Error(err)
		}
		user, password, _ := r.BasicAuth()
		requests <- twilioRequest{r.Method, r.URL.RequestURI(), user, password, r.Header.Get("Content-Type"), form}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()

	ours := func(service bool) *messenger.SMS {
		cfg := messenger.SMSConfig{AccountSID: twilioAccount, Secret: twilioToken, From: "+15005550006", BaseURL: server.URL}
		if service {
			cfg.From, cfg.ServiceSID = "", twilioService
		}
		s, err := messenger.NewSMS(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	arrived := func() twilioRequest {
		t.Helper()
		select {
		case r := <-requests:
			return r
		default: // who has an answer has sent a request
			t.Fatal("no request arrived")
			return twilioRequest{}
		}
	}
	type reply struct {
		Sid, Status string
		Code, HTTP  int
	}
	theirs := func(job map[string]string) reply {
		t.Helper()
		b, err := json.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		env := append(os.Environ(), "TWILIO_ACCOUNT_SID="+twilioAccount, "TWILIO_AUTH_TOKEN="+twilioToken)
		out := must(t, ".", env, sdk, server.URL, string(b))
		var r reply
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return r
	}
	const to, text = "+420601123456", "Přijdu v pátek & zaplatím 100 % = jasně\n一行 +1 😀"
	action := &hearken.Action{
		ID: hearken.NewActionID(hearken.MessageSend), Tool: hearken.MessageSend,
		Message: &hearken.Message{Address: to, Platform: "sms", Text: text},
	}

	status, answer = 201, fmt.Sprintf(`{"sid":%q,"status":"queued","error_code":null,"num_segments":"1","price":null}`, twilioMessage)
	for _, service := range []bool{false, true} {
		job := map[string]string{"To": to, "Body": text, "From": "+15005550006"}
		if service {
			job = map[string]string{"To": to, "Body": text, "MessagingServiceSid": twilioService}
		}
		if got := theirs(job); got.Sid != twilioMessage || got.Status != "queued" {
			t.Errorf("the SDK read %+v", got)
		}
		want := arrived()
		if out := ours(service).Do(t.Context(), action); out.Result != hearken.ResultOK || out.Receipt != twilioMessage {
			t.Errorf("%s: %s", out.Result, out.Message)
		}
		if d := cmp.Diff(want, arrived()); d != "" {
			t.Errorf("the SDK's request and ours:\n%s", d)
		}
	}

	for code, http := range map[int]int{21211: 400, 20003: 401, 20429: 429} {
		status, answer = http, fmt.Sprintf(`{"code":%d,"message":"x","more_info":"https://www.twilio.com/docs/errors/%d","status":%d}`, code, code, http)
		if got := theirs(map[string]string{"To": to, "Body": text, "From": "+15005550006"}); got.Code != code || got.HTTP != http {
			t.Errorf("the SDK read %+v", got)
		}
		arrived()
		result := hearken.ResultPermanent
		if code == 20429 {
			result = hearken.ResultTemporary
		}
		if out := ours(false).Do(t.Context(), action); out.Result != result {
			t.Errorf("%d: %s: %s", code, out.Result, out.Message)
		}
		arrived()
	}
}
