package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The wsEndpoint names the host that the caller used.
func TestAudioURL(t *testing.T) {
	endpoint := func(h *hub) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			writeText(w, http.StatusOK, h.AudioURL(r.Context(), "s1", "t"))
		}
	}
	t.Run("AllInterfaces", func(t *testing.T) {
		h := prepare(t, everywhere)
		h.Mount("GET /v1/extra", endpoint(h), RouteAccess{})
		h.serve(t)
		h.trust(t)
		_, secret := h.keys.add()
		base := fmt.Sprintf("https://127.0.0.1:%d", h.Port())
		for host, want := range map[string]string{
			"127.0.0.1:8080":    "wss://127.0.0.1:8080",
			"192.168.1.5:9000":  "wss://192.168.1.5:9000", // a container's port is another one outside
			"192.168.1.5":       "wss://192.168.1.5",
			"[2001:db8::1]:80":  "wss://[2001:db8::1]:80",
			"[2001:db8::1]":     "wss://[2001:db8::1]",
			localName() + ":80": "wss://" + localName() + ":80",
			"192.168.1.5:x;y":   "wss" + strings.TrimPrefix(h.URL(), "https"),
		} {
			_, body := h.do(t, "GET", base+"/v1/extra", "", "Authorization: Bearer "+secret, "Host: "+host)
			if want += "/audio/s1?ticket=t"; body != want {
				t.Errorf("%s: %s, want %s", host, body, want)
			}
		}
		if got, want := h.AudioURL(t.Context(), "s1", ""), "wss"+strings.TrimPrefix(h.URL(), "https")+"/audio/s1"; got != want {
			t.Errorf("without a request: %s, want %s", got, want)
		}
	})
	t.Run("Public", func(t *testing.T) {
		h := prepare(t, func(c *Config) { c.PublicURL = "https://speech.example.org" })
		h.Mount("GET /v1/extra", endpoint(h), RouteAccess{})
		h.serve(t)
		_, secret := h.keys.add()
		if _, body := h.do(t, "GET", "/v1/extra", "", "Authorization: Bearer "+secret); body != "wss://speech.example.org/audio/s1?ticket=t" {
			t.Error(body)
		}
	})
}
