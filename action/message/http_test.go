package message

import (
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// Only a server with a trusted certificate gets a request.
func TestService_TLS(t *testing.T) {
	server := httptest.NewUnstartedServer(says(204, ""))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, result := range map[string]hearken.Result{ca: hearken.ResultOK, "": hearken.ResultPermanent} {
		w, err := NewWebhook(WebhookConfig{URL: server.URL, Secret: key, CAFile: file})
		if err != nil {
			t.Fatal(err)
		}
		out := w.Do(t.Context(), newAction("webhook", w.Target(), "Hello"))
		if out.Result != result {
			t.Errorf("%s (%s), want %s", out.Result, out.Message, result)
		}
	}
}

// Without TLS, a name that resolves to another computer is refused.
func TestDialer_Plain(t *testing.T) {
	for _, address := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "169.254.169.254:80"} {
		conn, err := dialer(true).DialContext(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "only this computer") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
