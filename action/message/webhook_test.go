package message

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

// key is a webhook's secret as settings have it.
var key = "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

func TestWebhook_Do(t *testing.T) {
	d := newDouble(t, says(204, ""))
	w, err := NewWebhook(WebhookConfig{URL: d.URL + "/hook/" + secret + "?a=b", Secret: key})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(d.URL, "http://")
	if w.Target() != host || !w.Repeatable() {
		t.Errorf("place %q", w.Target())
	}
	w.service.now = func() time.Time { return time.Unix(1763200000, 0) }
	out := w.Do(t.Context(), newAction("webhook", host, "Přijdu\npozději"))
	checkOutcome(t, out, hearken.ResultOK, "")
	got := <-d.requests
	if got.path != "/hook/"+secret+"?a=b" || got.header.Get("webhook-id") != actionID || got.header.Get("webhook-timestamp") != "1763200000" {
		t.Errorf("%s %v", got.path, got.header)
	}
	// By hand, as a receiver would.
	mac := hmac.New(sha256.New, []byte("0123456789abcdef0123456789abcdef"))
	fmt.Fprintf(mac, "%s.%s.%s", actionID, "1763200000", got.body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); got.header.Get("webhook-signature") != want {
		t.Errorf("signature %q, want %q", got.header.Get("webhook-signature"), want)
	}
	var body, want map[string]any
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(`{"type":"message.send","timestamp":"2025-11-15T09:46:40Z",
		"data":{"id":"`+actionID+`","to":"Bob","name":"Bob Novák","text":"Přijdu\npozději"}}`), &want)
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	checkOutcome(t, w.Do(t.Context(), newAction("webhook", "elsewhere.test", "Hello")), hearken.ResultPermanent, "not the configured webhook")
}

// TestWebhook_Vector is the example of the Standard Webhooks specification.
func TestWebhook_Vector(t *testing.T) {
	w, err := NewWebhook(WebhookConfig{URL: "https://x.test", Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if err != nil {
		t.Fatal(err)
	}
	got := w.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signature %q, want %q", got, want)
	}
}

func TestWebhook_Refused(t *testing.T) {
	const temp, perm, unk = hearken.ResultTemporary, hearken.ResultPermanent, hearken.ResultUnknown
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		result hearken.Result
		says   string
	}{
		"TooMany":   {says(429, evil, "Retry-After", "3"), temp, "(429)"},
		"Failed":    {says(500, evil), temp, "(500)"},
		"Down":      {says(503, evil), temp, "(503)"},
		"Gateway":   {says(502, evil), unk, "(502)"},
		"Gone":      {says(410, evil), perm, "(410)"},
		"BadSecret": {says(401, evil), perm, "refuses the credentials (401)"},
		"Redirect":  {says(302, "", "Location", "http://169.254.169.254/"), perm, "not followed"},
		"Dies":      {dies, unk, "lost before it answered"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDouble(t, tt.answer)
			w, err := NewWebhook(WebhookConfig{URL: d.URL + "/" + secret, Secret: key})
			if err != nil {
				t.Fatal(err)
			}
			out := w.Do(t.Context(), newAction("webhook", w.Target(), "Hello"))
			checkOutcome(t, out, tt.result, tt.says)
			if strings.Contains(out.Message, key) || len(d.requests) != 1 {
				t.Errorf("%d requests, %q", len(d.requests), out.Message)
			}
		})
	}
}

func TestNewWebhook_Refuses(t *testing.T) {
	for name, cfg := range map[string]WebhookConfig{
		"NoURL":        {Secret: key},
		"NoSecret":     {URL: "https://x.test"},
		"PlainHTTP":    {URL: "http://x.test/" + secret, Secret: key},
		"Private":      {URL: "http://192.168.1.1/", Secret: key},
		"NoPrefix":     {URL: "https://x.test", Secret: key[6:]},
		"ShortSecret":  {URL: "https://x.test", Secret: "whsec_c2hvcnQ="},
		"OddSecret":    {URL: "https://x.test", Secret: "whsec_" + secret + "!!"},
		"Fragment":     {URL: "https://x.test/#" + secret, Secret: key},
		"OtherScheme":  {URL: "ftp://x.test", Secret: key},
		"LoopbackName": {URL: "http://localhost.evil.test", Secret: key},
	} {
		_, err := NewWebhook(cfg)
		if hearken.CodeOf(err) != hearken.Invalid || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
