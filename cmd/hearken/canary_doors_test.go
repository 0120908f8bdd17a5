//go:build !windows

package main

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/pipe"
)

// whoever is the principal under which a reading counts for every key.
const whoever = "everyone"

// Over every transport a reading counts for whoever reads. Without a key that
// may be anybody on this computer.
func TestCanary_Transports(t *testing.T) {
	h := newCanaryHub(t)
	server, err := h.app.Transports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := object{"name": "get_transcription", "arguments": object{"sessionId": h.session}}
	h.check("HTTP", h.key.ID, true, func() string { return h.rpc(h.key.Secret, "tools/call", read) })
	h.check("HTTP without a key", whoever, true, func() string { return h.rpc("", "tools/call", read) })

	keyed := &http.Client{Transport: withKey{h.key.Secret}}
	local, err := h.app.connect(t.Context(), pipe.Hello{Hearken: pipe.Version, Want: pipe.WantMCP})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		principal string
		transport mcp.Transport
	}{
		"HTTP with a session": {h.key.ID, &mcp.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: keyed, DisableStandaloneSSE: true}},
		"SSE":                 {h.key.ID, &mcp.SSEClientTransport{Endpoint: h.url + "/sse", HTTPClient: keyed}},
		"the local socket":    {act.Local, &mcp.IOTransport{Reader: local, Writer: nopWriteCloser{local}, MaxLineLength: -1}},
	} {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "canary", Version: "1"}, nil).Connect(t.Context(), tt.transport, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		h.check(name, tt.principal, true, func() string {
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_transcription", Arguments: read["arguments"]})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return res.Content[0].(*mcp.TextContent).Text
		})
		session.Close()
	}
	h.check("WebSocket", h.key.ID, true, func() string {
		return h.talk(server.WSURL(), h.key.Secret, [][]byte{[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_transcription","arguments":{"sessionId":"` + h.session + `"}}}`)}, websocket.MessageText)
	})
	h.resumes(read)
}

// resumes checks that a client which returns for an answer that it missed reads
// it then.
func (h *canaryHub) resumes(read object) {
	h.Helper()
	send := func(method, session, last, body string) (*http.Response, string) {
		req, err := http.NewRequestWithContext(h.Context(), method, h.url+"/mcp", strings.NewReader(body))
		if err != nil {
			h.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + h.key.Secret}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		for name, value := range map[string]string{"Mcp-Session-Id": session, "Last-Event-Id": last, "Mcp-Protocol-Version": "2025-11-25"} {
			if value != "" && (session != "" || name != "Mcp-Protocol-Version") {
				req.Header.Set(name, value)
			}
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			h.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			h.Fatal(err)
		}
		return res, string(text)
	}
	res, _ := send(http.MethodPost, "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"canary","version":"1"}}}`)
	session := res.Header.Get("Mcp-Session-Id")
	send(http.MethodPost, session, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	_, text := send(http.MethodPost, session, "", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_transcription","arguments":{"sessionId":"`+h.session+`"}}}`)
	first := ""
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(line, "id: "); ok && first == "" {
			first = strings.TrimSpace(id)
		}
	}
	stream, _, _ := strings.Cut(first, "_")
	h.check("an answer that is sent again", h.key.ID, true, func() string {
		_, again := send(http.MethodGet, session, stream+"_0", "")
		return again
	})
}

// talk sends messages over a WebSocket and returns what comes, until that holds
// the canary or the connection ends.
func (h *canaryHub) talk(url, secret string, messages [][]byte, kind websocket.MessageType) string {
	h.Helper()
	opts := &websocket.DialOptions{HTTPHeader: http.Header{}}
	if secret != "" {
		opts.HTTPHeader.Set("Authorization", "Bearer "+secret)
	}
	conn, res, err := websocket.Dial(h.Context(), url, opts)
	if err != nil {
		if res == nil {
			h.Fatalf("%s: %v", url, err)
		}
		return err.Error()
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	go func() {
		for _, m := range messages {
			if conn.Write(context.Background(), kind, m) != nil {
				return
			}
		}
	}()
	var all strings.Builder
	for !strings.Contains(all.String(), canary) {
		_, data, err := conn.Read(h.Context())
		if err != nil {
			break
		}
		all.Write(data)
	}
	return all.String()
}

// The doors for audio answer with its words. They count as read by the sender,
// and a key that may only act is not let in.
func TestCanary_Audio(t *testing.T) {
	h := newCanaryHub(t)
	ws := "ws" + strings.TrimPrefix(h.url, "http")
	var second [][]byte
	for range 30 {
		second = append(second, make([]byte, 2*hearken.SampleRate/10))
	}
	wav := audio.EncodeWAV(hearken.SampleRate, make([]int16, 3*hearken.SampleRate))
	for _, tt := range []struct {
		name, principal, secret string
		reads                   bool
	}{
		{"with a key", h.key.ID, h.key.Secret, true},
		{"without a key", whoever, "", true},
		{"with a key that may only act", h.acting.ID, h.acting.Secret, false},
	} {
		h.check("WS /v1/listen "+tt.name, tt.principal, tt.reads, func() string {
			return h.talk(ws+"/v1/listen?encoding=linear16&sample_rate=16000&interim_results=true", tt.secret, second, websocket.MessageBinary)
		})
		h.check("POST /v1/listen "+tt.name, tt.principal, tt.reads, func() string {
			return h.request(http.MethodPost, "/v1/listen", tt.secret, "audio/wav", wav)
		})
		for _, format := range []string{"json", "text", "verbose_json", "srt", "vtt"} {
			h.check("POST /v1/audio/transcriptions as "+format+" "+tt.name, tt.principal, tt.reads, func() string {
				kind, body := recordingForm(t, wav, format)
				return h.request(http.MethodPost, "/v1/audio/transcriptions", tt.secret, kind, body)
			})
		}
		starter := act.Local
		if tt.secret != "" {
			starter = tt.principal
		}
		session, err := h.app.hub.Start(t.Context(), hearken.StartRequest{Principal: starter})
		if err != nil {
			t.Fatal(err)
		}
		at := ws + "/audio/" + session.ID + "?encoding=linear16&sample_rate=16000&channels=1"
		if tt.secret == "" {
			ticket, err := h.app.hub.Ticket(session.ID)
			if err != nil {
				t.Fatal(err)
			}
			h.check("WS /audio with a ticket", act.Local, true, func() string { return h.talk(at+"&ticket="+ticket, "", second, websocket.MessageBinary) })
			continue
		}
		h.check("WS /audio "+tt.name, tt.principal, tt.reads, func() string { return h.talk(at, tt.secret, second, websocket.MessageBinary) })
	}
}

// recordingForm is a form with a recording.
func recordingForm(t *testing.T, wav []byte, format string) (kind string, body []byte) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, err := w.CreateFormFile("file", "a.wav")
	if err == nil {
		_, err = file.Write(wav)
	}
	for name, value := range map[string]string{"model": "whisper-1", "response_format": format} {
		if err == nil {
			err = w.WriteField(name, value)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), form.Bytes()
}

// No other route gives anybody the canary without the PIN.
func TestCanary_OtherRoutes(t *testing.T) {
	h := newCanaryHub(t)
	action := h.propose(act.Local)
	for _, route := range []string{
		"GET /healthz", "GET /readyz", "GET /metrics", "GET /v1/models", "GET /v1/models/local", "POST /v1/ws-ticket", "GET /", "GET /mcp",
		"GET /approvals", "GET /approvals/api/me", "GET /approvals/api/events", "GET /approvals/api/sessions/" + h.session,
		"POST /approvals/api/actions/" + action.ID + "/decision", "POST /approvals/api/actions/" + action.ID + "/cancel", "POST /approvals/api/pause",
		"GET " + h.app.feed.Path(),
	} {
		method, path, _ := strings.Cut(route, " ")
		for _, key := range []*newKey{{}, h.key, h.acting} {
			h.check(route, key.ID, false, func() string { return h.request(method, path, key.Secret, "application/json", []byte("{}")) })
		}
	}
}
