package listen

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

func TestHandler_Subprotocol(t *testing.T) {
	h, _, url := serve(t)
	for _, word := range []string{"token", "bearer"} {
		c := dial(t, h, url+pcm16, &websocket.DialOptions{Subprotocols: []string{word, "secret"}})
		if got := c.head.Get("Sec-WebSocket-Protocol"); got != word {
			t.Errorf("agreed to %q, want %q", got, word)
		}
	}
}

// A refusal is one of HTTP's, before the upgrade.
func TestHandler_Refusals(t *testing.T) {
	h, _, url := serve(t)
	tests := []struct {
		name, query, principal string
		refusal                error
		status                 int
		code, says             string
	}{
		{"WrongKey", pcm16, "nobody", nil, 401, "INVALID_AUTH", "Invalid credentials."},
		{"WrongRight", pcm16, "other", nil, 403, "INSUFFICIENT_PERMISSIONS", "may not transcribe"},
		{"TooMany", pcm16, "a", hearken.Errorf(hearken.Busy, "2000 sessions are active."), 429, "TOO_MANY_REQUESTS", "2000"},
		{"Language", pcm16 + "&language=xx", "a", hearken.Errorf(hearken.ProviderNotConfigured, "The engine does not have the language xx."), 400, "Bad Request", "xx"},
		{"EngineGone", pcm16, "a", hearken.Errorf(hearken.ProviderConnectionFailed, "The engine is gone."), 503, "Service Unavailable", "gone"},
		{"Hub", pcm16, "a", io.ErrUnexpectedEOF, 500, "Internal Server Error", "its log says why"},
		{"NoRate", "?encoding=linear16", "a", nil, 400, "Bad Request", "sample_rate"},
		{"UtteranceEnd", pcm16 + "&utterance_end_ms=1000", "a", nil, 400, "Bad Request", "interim_results"},
		{"UtteranceEndShort", pcm16 + "&interim_results=true&utterance_end_ms=999", "a", nil, 400, "Bad Request", "Invalid 'utterance_end_ms' value of '999'."},
		{"Channels", pcm16 + "&channels=3&multichannel=true", "a", nil, 400, "Bad Request", "3 channels"},
		{"Encoding", "?encoding=morse&sample_rate=8000", "a", nil, 400, "Bad Request", "morse"},
		{"Codec", "?encoding=g729&sample_rate=8000", "a", nil, 400, "Bad Request", "g729"},
		{"Rate", "?encoding=linear16&sample_rate=96000", "a", nil, 400, "Bad Request", "96000"},
		{"Flag", pcm16 + "&interim_results=perhaps", "a", nil, 400, "Bad Request", "perhaps"},
		{"Endpointing", pcm16 + "&endpointing=soon", "a", nil, 400, "Bad Request", "soon"},
		{"Model", pcm16 + "&model=parrot", "a", nil, 400, "Bad Request", "parrot"},
		{"Redact", pcm16 + "&redact=pci", "a", nil, 400, "Bad Request", "redact"},
		{"Callback", pcm16 + "&callback=http://127.0.0.1/", "a", nil, 400, "Bad Request", "callback"},
		{"Detect", pcm16 + "&detect_language=true", "a", nil, 400, "Bad Request", "language"},
		{"Query", pcm16 + "&tag=%zz", "a", nil, 400, "Bad Request", "query"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h.mu.Lock()
			h.refusal = tt.refusal
			h.mu.Unlock()
			_, response, err := websocket.Dial(t.Context(), url+tt.query, &websocket.DialOptions{HTTPHeader: http.Header{"X-Principal": {tt.principal}}})
			if err == nil {
				t.Fatal("it was let in")
			}
			checkRefusal(t, response, tt.status, tt.code, tt.says)
		})
	}
	if len(h.started) != 0 {
		t.Error("a session was started all the same")
	}
}

func checkRefusal(t *testing.T, response *http.Response, status int, code, says string) {
	t.Helper()
	var body map[string]string
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != status || body["err_code"] != code || !strings.Contains(body["err_msg"], says) {
		t.Errorf("%d %v, want %d %s with %q", response.StatusCode, body, status, code, says)
	}
	if id := response.Header.Get("dg-request-id"); !hearken.ValidID(id) || body["request_id"] != id {
		t.Errorf("request id %q in the header, %q in the body", id, body["request_id"])
	}
	if !strings.Contains(response.Header.Get("dg-error"), says) {
		t.Errorf("dg-error %q", response.Header.Get("dg-error"))
	}
}

func TestHandler_NotAWebSocket(t *testing.T) {
	_, _, url := serve(t)
	response, err := http.Get("http" + strings.TrimPrefix(url, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	checkRefusal(t, response, http.StatusUpgradeRequired, "Upgrade Required", "WebSocket")
}

// What the query says reaches the session.
func TestHandler_Request(t *testing.T) {
	h, _, url := serve(t)
	tests := []struct {
		query string
		want  hearken.StartRequest
	}{
		{"", hearken.StartRequest{}},
		{"&model=nova-3&language=pt-BR", hearken.StartRequest{Language: "pt-BR"}},
		{"&model=nova-2-medical", hearken.StartRequest{}},
		{"&model=openai", hearken.StartRequest{Provider: "openai"}},
		{"&model=openai/whisper-1", hearken.StartRequest{Provider: "openai", Model: "whisper-1"}},
		{"&model=deepgram/nova-2", hearken.StartRequest{Provider: "deepgram", Model: "nova-2"}},
		{"&keyterm=Hearken&keyterm=speech+hub&keywords=Ada:2.5&keywords=ratio:x&keywords=never:-1", hearken.StartRequest{Vocabulary: []string{"Hearken", "speech hub", "Ada", "ratio:x"}}},
		{"&endpointing=300", hearken.StartRequest{Endpointing: 300 * time.Millisecond}},
		{"&endpointing=true", hearken.StartRequest{}},
		{"&endpointing=false", hearken.StartRequest{Endpointing: -1}},
		{"&tag=call&tag=monday", hearken.StartRequest{Title: "call, monday"}},
		{"&numerals=true&version=latest&filler_words=true&profanity_filter=true&redact=false&mip_opt_out=true&foo=bar", hearken.StartRequest{}},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			c := dial(t, h, url+pcm16+tt.query, &websocket.DialOptions{HTTPHeader: http.Header{"X-Principal": {"me"}}})
			tt.want.Principal = "me"
			if diff := cmp.Diff(tt.want, h.request()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.in.principal != "me" {
				t.Errorf("attached as %q", c.in.principal)
			}
		})
	}
}

func TestEngine_DeepgramIsDefault(t *testing.T) {
	provider, model, err := providerAndModel("nova-2-medical", []string{"deepgram", "local"})
	if provider != "" || model != "nova-2-medical" || err != nil {
		t.Errorf("%q %q %v", provider, model, err)
	}
}

func TestRefuse(t *testing.T) {
	for _, tt := range []struct {
		status int
		err    error
		code   string
		says   string
	}{
		{401, hearken.Errorf(hearken.Unauthorized, "Invalid API key"), "INVALID_AUTH", "Invalid API key"},
		{402, hearken.Errorf(hearken.Forbidden, "pay"), "ASR_PAYMENT_REQUIRED", "pay"},
		{403, hearken.Errorf(hearken.Forbidden, "no"), "INSUFFICIENT_PERMISSIONS", "no"},
		{429, hearken.Errorf(hearken.Busy, "later"), "TOO_MANY_REQUESTS", "later"},
	} {
		w := httptest.NewRecorder()
		Refuse(w, tt.status, tt.err)
		checkRefusal(t, w.Result(), tt.status, tt.code, tt.says)
	}
	w := httptest.NewRecorder()
	Refuse(w, 400, hearken.Errorf(hearken.Invalid, "two\r\nlines of é"))
	if got := w.Header().Get("dg-error"); got != "two??lines of ?" {
		t.Errorf("%q", got)
	}
}

// What is no handshake makes no session.
func TestRefuse_NoHandshake(t *testing.T) {
	h, _, url := serve(t)
	for name, header := range map[string]http.Header{
		"NoKey":   {"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Version": {"13"}},
		"Version": {"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Version": {"8"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http"+strings.TrimPrefix(url, "ws")+pcm16, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = header
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkRefusal(t, response, http.StatusUpgradeRequired, "Upgrade Required", "handshake")
		response.Body.Close()
	}
	if len(h.started) > 0 {
		t.Error("a session was made")
	}
}
