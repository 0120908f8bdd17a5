//go:build !windows

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// request makes a request of the hub. A header is "Name: value".
func request(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(data)
}

// What does not exist is 404 for everybody, in the form of the API to which it
// would belong.
func TestServed_UnknownPaths(t *testing.T) {
	cfg := testConfig(t)
	cfg.Auth = "required"
	app := openApp(t, cfg, Options{})
	server, _ := app.Transports(t.Context())
	const openai, deepgram, own = `"type":"invalid_request_error"`, `"err_code":"Not Found"`, `"code":"not_found"`
	for _, tt := range []struct{ method, path, form, says string }{
		{"POST", "/v1/chat/completions", openai, "Unknown request URL: POST /v1/chat/completions."},
		{"POST", "/audio/transcriptions", openai, "ends in /v1"},
		{"GET", "/models", openai, "ends in /v1"},
		{"GET", "/v1/projects", deepgram, "/v1/projects"},
		{"GET", "/v1/projects/1/keys", deepgram, "/v1/projects/1/keys"},
		{"POST", "/v1/speak?model=aura", deepgram, "/v1/speak"},
		{"POST", "/v1/auth/grant", deepgram, "/v1/auth/grant"},
		{"GET", "/v2/listen?model=flux-general-en", deepgram, "/v1/listen"},
		{"GET", "/nowhere", own, "/nowhere"},
	} {
		for _, header := range []string{"X-None: 1", "Authorization: Token theirs"} {
			res, body := request(t, tt.method, server.URL()+tt.path, "", header)
			if res.StatusCode != http.StatusNotFound || !strings.Contains(body, tt.form) || !strings.Contains(body, tt.says) {
				t.Errorf("%s %s: %s: %s", tt.method, tt.path, res.Status, body)
			}
		}
	}
	for _, path := range []string{"/v1/listen", "/v1/audio/transcriptions", "/v1/models"} {
		if res, body := request(t, "POST", server.URL()+path, ""); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s: %s", path, res.Status, body)
		}
	}
	// A program for Flux learns why before the upgrade.
	_, res, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL(), "http")+"/v2/listen?model=flux-general-en", nil)
	if err == nil || res.StatusCode != http.StatusNotFound || !strings.Contains(res.Header.Get("dg-error"), "/v1/listen?model=nova-3") {
		t.Errorf("%v", err)
	}
}

// Both APIs take the same recordings: what the hub cannot decode, ffmpeg does.
func TestServed_Formats(t *testing.T) {
	cfg := testConfig(t)
	cfg.UploadMaxMB = 1
	dir := t.TempDir()
	wav := filepath.Join(dir, "a.wav")
	script := "#!/bin/sh\nfor a; do case $a in file:*) test -r \"${a#file:}\" || exit 1;; esac; done\ncat " + wav + "\n"
	for name, data := range map[string][]byte{wav: audio.EncodeWAV(16000, make([]int16, 3*16000)), filepath.Join(dir, "ffmpeg"): []byte(script)} {
		if err := os.WriteFile(name, data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	app := openApp(t, cfg, Options{})
	server, _ := app.Transports(t.Context())
	for name, head := range map[string]string{
		"a.m4a": "\x00\x00\x00\x20ftypM4A ", "a.aiff": "FORM\x00\x00\x00\x00AIFF", "a.aac": strings.Repeat("\xff\xf1\x50\x80\x02\x1f\xfc123456789", 100),
	} {
		body := head + strings.Repeat("x", 1000)
		res, answer := request(t, "POST", server.URL()+"/v1/listen", body, "Content-Type: application/octet-stream")
		if res.StatusCode != http.StatusOK || !strings.Contains(answer, `"duration":3,`) || !strings.Contains(answer, `"word":"word"`) {
			t.Errorf("%s as the body: %s: %s", name, res.Status, answer)
		}
		form := "--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n\r\n" + body + "\r\n--x--\r\n"
		res, answer = request(t, "POST", server.URL()+"/v1/audio/transcriptions", form, "Content-Type: multipart/form-data; boundary=x")
		if res.StatusCode != http.StatusOK || !strings.Contains(answer, `"seconds":3}`) {
			t.Errorf("%s in a form: %s: %s", name, res.Status, answer)
		}
	}
	if left, err := os.ReadDir(filepath.Join(cfg.DataDir, "uploads")); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if res, answer := request(t, "POST", server.URL()+"/v1/listen", "FORM\x00\x00\x00\x00AIFF"+strings.Repeat("x", 1<<20)); res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %s: %s", res.Status, answer)
	}
}

// The wsEndpoint names the address that the caller used.
func TestServed_Endpoint(t *testing.T) {
	app := openApp(t, testConfig(t), Options{})
	server, _ := app.Transports(t.Context())
	const start = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"start_transcription","arguments":{}}}`
	both := "Accept: application/json, text/event-stream"
	for _, host := range []string{"localhost:1234", "127.0.0.1:1234", "[::1]:1234"} {
		_, body := request(t, "POST", server.URL()+"/mcp", start, "Host: "+host, "Content-Type: application/json")
		if !strings.Contains(body, `"wsEndpoint":"ws://`+host+`/audio/`) {
			t.Errorf("%s: %s", host, body)
		}
		const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
		res, _ := request(t, "POST", server.URL()+"/mcp", initialize, "Host: "+host, "Content-Type: application/json", both)
		_, body = request(t, "POST", server.URL()+"/mcp", start, "Host: "+host, "Content-Type: application/json", both, "Mcp-Session-Id: "+res.Header.Get("Mcp-Session-Id"))
		if !strings.Contains(body, `"wsEndpoint":"ws://`+host+`/audio/`) {
			t.Errorf("%s, with a session: %s", host, body)
		}
	}
}

// A telephone call of Twilio's becomes a session of two sides. Where a key is
// required, the ticket in its start message lets it in, and nothing else.
func TestServed_Twilio(t *testing.T) {
	cfg := testConfig(t)
	cfg.Auth = "required"
	app := openApp(t, cfg, Options{})
	server, _ := app.Transports(t.Context())
	for _, inPath := range []bool{false, true} {
		session, err := app.hub.Start(t.Context(), hearken.StartRequest{Principal: "local"})
		if err != nil {
			t.Fatal(err)
		}
		ticket, err := app.hub.Ticket(session.ID)
		if err != nil {
			t.Fatal(err)
		}
		address := "ws" + strings.TrimPrefix(server.URL(), "http") + "/audio/" + session.ID
		if _, _, err := websocket.Dial(t.Context(), address+"/wrong", nil); err == nil {
			t.Error("a wrong ticket in the address was accepted")
		}
		if code := callTwilio(t, address, `"ticket":"wrong"`, 1); code != 4401 {
			t.Errorf("a wrong ticket: closed with %d", code)
		}
		parameter := `"ticket":` + string(quote(ticket))
		if inPath {
			address, parameter = address+"/"+ticket, ""
		}
		if code := callTwilio(t, address, parameter, 3); code != websocket.StatusNormalClosure {
			t.Errorf("closed with %d", code)
		}
		stopped, err := app.hub.Session(t.Context(), session.ID)
		if err != nil || stopped.Status != hearken.Stopped || stopped.StopReason != hearken.StopFinished || stopped.Config.Channels != 2 || stopped.Duration != 3 {
			t.Errorf("%+v, %v", stopped, err)
		}
		heard := map[hearken.Origin]int{}
		all, err := app.allSegments(t.Context(), session.ID)
		for _, s := range all {
			if s.Spoken() {
				heard[s.Origin]++
			}
		}
		if err != nil || heard[hearken.Microphone] < 2 || heard[hearken.System] < 2 {
			t.Errorf("heard %v, %v", heard, err)
		}
	}
}

func quote(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

// callTwilio sends seconds of both tracks as Twilio does and returns how the hub
// closes the connection.
func callTwilio(t *testing.T, address, parameter string, seconds int) websocket.StatusCode {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: http.Header{"X-Twilio-Signature": {"x"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	send := func(format string, args ...any) {
		_ = conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)) // it may be closed already
	}
	send(`{"event":"connected","protocol":"Call","version":"1.0.0"}`)
	send(`{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC1","streamSid":"MZ1","callSid":"CA1","tracks":["inbound","outbound"],`+
		`"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},"customParameters":{%s}},"streamSid":"MZ1"}`, parameter)
	payload := base64.StdEncoding.EncodeToString(make([]byte, 160))
	for i := range seconds * 50 {
		for _, track := range []string{"inbound", "outbound"} {
			send(`{"event":"media","sequenceNumber":"%d","media":{"track":%q,"chunk":"%d","timestamp":"%d","payload":%q},"streamSid":"MZ1"}`, i+2, track, i+1, 20*i, payload)
		}
	}
	send(`{"event":"stop","sequenceNumber":"9","stop":{"accountSid":"AC1","callSid":"CA1"},"streamSid":"MZ1"}`)
	_, text, err := conn.Read(ctx)
	if err == nil {
		t.Fatalf("the hub sent %s", text)
	}
	return websocket.CloseStatus(err)
}
