package message

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestNtfy_Do(t *testing.T) {
	d := newDouble(t, says(200, `{"id":"sPs71M8A2T","time":1763200000,"event":"message","topic":"mine","message":"x"}`))
	n, err := NewNtfy(NtfyConfig{Server: d.URL + "/", Topic: "mine", Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	if n.Target() != "mine" || n.Repeatable() {
		t.Error("place or repeatable")
	}
	out := n.Do(t.Context(), newAction("ntfy", "mine", "Přijdu později"))
	checkOutcome(t, out, hearken.ResultOK, "")
	if out.Receipt != "sPs71M8A2T" {
		t.Errorf("receipt %q", out.Receipt)
	}
	got := <-d.requests
	if got.method != "POST" || got.path != "/mine" || string(got.body) != "Přijdu později" || got.header.Get("Authorization") != "Bearer "+secret {
		t.Errorf("%s %s %q", got.method, got.path, got.body)
	}
	for _, address := range []string{"", "other", "mine/json", "../mine"} {
		checkOutcome(t, n.Do(t.Context(), newAction("ntfy", address, "Hello")), hearken.ResultPermanent, "not the configured ntfy topic")
	}
	if err := n.Accepts(&hearken.Message{Address: "mine", Text: strings.Repeat("x", maxNtfy+1)}); hearken.CodeOf(err) != hearken.Invalid {
		t.Error(err)
	}
	if len(d.requests) != 0 {
		t.Error("a request was sent")
	}
}

func TestNtfy_Refused(t *testing.T) {
	const temp, perm, unk = hearken.ResultTemporary, hearken.ResultPermanent, hearken.ResultUnknown
	body := func(status, code int) string {
		return fmt.Sprintf(`{"code":%d,"http":%d,"error":%q}`, code, status, evil)
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		result hearken.Result
		says   string
	}{
		"TooMany":   {says(429, body(429, 42901)), temp, "(429)"},
		"Forbidden": {says(403, body(403, 40301)), perm, "refuses the credentials (403)"},
		"TooLarge":  {says(413, body(413, 41301)), perm, "(413)"},
		"Down":      {says(503, body(503, 50301)), temp, "(503)"},
		"Gateway":   {says(503, evil), unk, "(503)"},
		"Failure":   {says(500, body(500, 50001)), unk, "(500)"},
		"NoID":      {says(200, `{}`), unk, "unexpected answer"},
		"OddID":     {says(200, `{"id":"`+evil+`"}`), unk, "unexpected answer"},
		"Page":      {says(200, "<html>"), unk, "unexpected answer"},
		"Redirect":  {says(301, "", "Location", "/x"), perm, "not followed"},
		"Dies":      {dies, unk, "lost before it answered"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDouble(t, tt.answer)
			n, err := NewNtfy(NtfyConfig{Server: d.URL, Topic: "mine", Token: secret})
			if err != nil {
				t.Fatal(err)
			}
			checkOutcome(t, n.Do(t.Context(), newAction("ntfy", "mine", "Hello")), tt.result, tt.says)
			if len(d.requests) != 1 {
				t.Errorf("%d requests", len(d.requests))
			}
		})
	}
}

func TestNewNtfy_Refuses(t *testing.T) {
	for name, cfg := range map[string]NtfyConfig{
		"NoServer":  {Topic: "mine"},
		"NoTopic":   {Server: "https://ntfy.test"},
		"OddTopic":  {Server: "https://ntfy.test", Topic: "a/b"},
		"OddToken":  {Server: "https://ntfy.test", Topic: "mine", Token: secret + "\r\nX: y"},
		"PlainHTTP": {Server: "http://ntfy.test", Topic: "mine"},
		"Query":     {Server: "https://ntfy.test?auth=" + secret, Topic: "mine"},
	} {
		_, err := NewNtfy(cfg)
		if hearken.CodeOf(err) != hearken.Invalid || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
