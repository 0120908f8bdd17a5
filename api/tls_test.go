package api

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func everywhere(c *Config) { c.Host = "0.0.0.0"; c.WSListen = "0.0.0.0:0" }

// TestExposed_KeyOnEveryListener listens as the specification's example
// does: it starts and requires a key, even from this computer.
func TestExposed_KeyOnEveryListener(t *testing.T) {
	h := prepare(t, everywhere, withExtras)
	h.serve(t)
	h.trust(t)
	id, secret := h.keys.add()
	if exposed, plain := h.Exposed(); !exposed || plain {
		t.Errorf("exposed %t, plain %t", exposed, plain)
	}
	base := h.main.url("http", "127.0.0.1")
	base = "https://127.0.0.1" + base[strings.LastIndex(base, ":"):]
	for _, rt := range everyRoute {
		res, body := h.do(t, rt.method, base+rt.path, rt.body)
		want := 401
		switch rt.path {
		case "/healthz", "/readyz":
			want = 200
		case "/nowhere", "/v1/extra", "/v1/act", "/v1/listen", "/v1/audio/transcriptions":
			want = 404 // nothing is mounted there
		}
		if res.StatusCode != want {
			t.Errorf("%s %s: %s: %s", rt.method, rt.path, res.Status, body)
		}
	}
	if _, body := h.do(t, "POST", base+"/mcp", callIt, "Authorization: Bearer "+secret); parse(t, body).text() != id+"/http:hi" {
		t.Errorf("good key: %s", body)
	}
	// Other computers use an address of ours, which cannot be rebound.
	if res, _ := h.do(t, "POST", base+"/mcp", callIt, "Authorization: Bearer "+secret, "Host: 192.168.1.5:8080"); res.StatusCode != http.StatusOK {
		t.Errorf("by address: %s", res.Status)
	}
	if res, _ := h.do(t, "POST", base+"/mcp", callIt, "Authorization: Bearer "+secret, "Host: "+localName()); res.StatusCode != http.StatusOK || res.ProtoMajor != 1 {
		t.Errorf("by its own name: %s %s", res.Status, res.Proto)
	}
	if res, _ := h.do(t, "POST", base+"/mcp", callIt, "Authorization: Bearer "+secret, "Host: evil.example"); res.StatusCode != http.StatusForbidden {
		t.Errorf("by a foreign name: %s", res.Status)
	}
	ws := "wss" + strings.TrimPrefix(base, "https") + "/mcp"
	if got := roundTrip(t, mustDial(t, h, ws, secret), callIt); got.text() != id+"/ws:hi" {
		t.Errorf("WebSocket: %+v", got)
	}
}

// trust makes the client check the hub's pin.
func (h *hub) trust(t *testing.T) {
	t.Helper()
	pin := h.Pin()
	if !strings.HasPrefix(pin, "sha256//") {
		t.Fatalf("pin = %q", pin)
	}
	h.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			return s.PeerCertificates[0].VerifyHostname("127.0.0.1")
		},
	}
}

func TestExposed_CurlHoldsThePin(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	h := prepare(t, everywhere)
	h.serve(t)
	u := h.main.url("http", "127.0.0.1")
	u = "https://127.0.0.1" + u[strings.LastIndex(u, ":"):] + "/healthz"
	if out, err := exec.CommandContext(t.Context(), curl, "-sSk", "--pinnedpubkey", h.Pin(), u).CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v: %s", err, out)
	}
	other := "sha256//" + strings.Repeat("A", 43) + "="
	if out, err := exec.CommandContext(t.Context(), curl, "-sSk", "--pinnedpubkey", other, u).CombinedOutput(); err == nil {
		t.Errorf("another pin: %s", out)
	}
}

func TestExposed_TLSOff(t *testing.T) {
	h := start(t, everywhere, func(c *Config) { c.TLS.Off = true })
	if exposed, plain := h.Exposed(); !exposed || !plain || h.Pin() != "" {
		t.Errorf("exposed %t, plain %t, pin %q", exposed, plain, h.Pin())
	}
	if res, _ := h.do(t, "POST", "/mcp", callIt, "Host: 127.0.0.1"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("no key: %s", res.Status)
	}
}

func TestSelfSigned_KeepsItsPin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first, err := selfSigned(dir, []string{"hearken.lan"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	second, err := selfSigned(dir, nil, time.Now().AddDate(9, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if first.pin != second.pin {
		t.Error("the pin changed")
	}
	fi, err := os.Stat(filepath.Join(dir, "tls.key"))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", fi.Mode(), err)
	}
	cert, err := x509.ParseCertificate(first.cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "hearken.lan"} {
		if err := cert.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tls.key"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := selfSigned(dir, nil, time.Now()); err == nil {
		t.Error("a broken key was replaced without an error")
	}
}

func TestConfiguredCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "tls.key")
	write := func(name string) []byte {
		c, err := selfSigned(dir, []string{name}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.cert.Certificate[0]})
		if err := os.WriteFile(certFile, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return c.cert.Certificate[0]
	}
	write("first.example")
	h := start(t, func(c *Config) { c.TLS = TLS{CertFile: certFile, KeyFile: keyFile} })
	if !strings.HasPrefix(h.URL(), "https://127.0.0.1:") || !strings.HasPrefix(h.WSURL(), "wss://") || h.Pin() != "" {
		t.Errorf("%s, %s, %q", h.URL(), h.WSURL(), h.Pin())
	}
	var shown []byte
	h.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error {
		shown = s.PeerCertificates[0].Raw
		return nil
	}}
	// Loopback stays loopback, encrypted or not.
	if res, body := h.do(t, "POST", h.URL()+"/mcp", callIt, "Origin: "+h.URL()); res.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", res.Status, body)
	}
	renewed := write("second.example")
	os.Chtimes(certFile, time.Now(), time.Now().Add(time.Hour))
	h.cert.mu.Lock()
	h.cert.checked = time.Time{}
	h.cert.mu.Unlock()
	h.client.CloseIdleConnections()
	h.do(t, "GET", h.URL()+"/healthz", "")
	if string(shown) != string(renewed) {
		t.Error("the renewed certificate is not shown")
	}
}
