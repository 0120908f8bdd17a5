package calendar

import (
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestNewCalDAV(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		says string // empty: it is fine
	}{
		{"HTTPS", Config{URL: "https://dav.example.org"}, ""},
		{"Loopback", Config{URL: "http://127.0.0.1:5232/alice/"}, ""},
		{"LoopbackIPv6", Config{URL: "http://[::1]:5232/"}, ""},
		{"LoopbackName", Config{URL: "http://localhost/"}, ""},
		{"Clear", Config{URL: "http://dav.example.org/"}, "in the clear"},
		{"ClearLookAlike", Config{URL: "http://localhost.example.org/"}, "in the clear"},
		{"ClearAny", Config{URL: "http://0.0.0.0/"}, "in the clear"},
		{"Empty", Config{}, "not the URL"},
		{"NoScheme", Config{URL: "dav.example.org"}, "not the URL"},
		{"OtherScheme", Config{URL: "file:///etc/passwd"}, "not the URL"},
		{"Password", Config{URL: "https://alice:secret@dav.example.org/"}, "CALDAV_PASSWORD"},
		{"Reminders", Config{URL: "https://dav.example.org", Reminders: "post-it"}, "vtodo, vevent, both or off"},
		{"NoCAFile", Config{URL: "https://dav.example.org", CAFile: "/nowhere/ca.pem"}, "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewCalDAV(tt.cfg)
			if tt.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if hearken.CodeOf(err) != hearken.Invalid || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret") {
				t.Errorf("says %v, want %q", err, tt.says)
			}
		})
	}
}

func TestCalDAV_SameServer(t *testing.T) {
	for _, tt := range []struct {
		base, ref string
		want      string // empty: it is another server
	}{
		{"https://dav.example.org/x/", "y.ics", "https://dav.example.org/x/y.ics"},
		{"https://dav.example.org/", "https://DAV.example.org:443/u/?a=b#c", "https://DAV.example.org:443/u/"},
		{"https://dav.example.org:443/", "https://dav.example.org/u/", "https://dav.example.org/u/"},
		{"https://dav.example.org/", "https://dav.example.org:8443/u/", ""},
		{"https://dav.example.org/", "http://dav.example.org/u/", ""},
		{"https://dav.example.org/", "//evil.example.org/u/", ""},
		{"https://dav.example.org/", "https://dav.example.org.evil.example.org/u/", ""},
		{"https://dav.example.org/", "https://eve@dav.example.org/u/", ""},
		{"https://dav.example.org/", "ftp://dav.example.org/u/", ""},
	} {
		c := connect(t, tt.base, nil)
		u, err := c.resolve(c.base, tt.ref)
		if tt.want == "" {
			if hearken.CodeOf(err) != hearken.ProviderRejected {
				t.Errorf("%s from %s: %v, %v", tt.ref, tt.base, u, err)
			}
			continue
		}
		if err != nil || u.String() != tt.want {
			t.Errorf("%s from %s: %v, %v", tt.ref, tt.base, u, err)
		}
	}
}

func TestCalDAV_Certificate(t *testing.T) {
	s := newDAVServer(t, httptest.NewTLSServer)
	says := func(url, caFile, part string) {
		t.Helper()
		err := connect(t, url, func(c *Config) { c.CAFile = caFile }).Check(t.Context())
		if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
			t.Errorf("%s: %v, want %q", url, err, part)
		}
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	says(s.URL, "", "ACTIONS_CA_FILE")
	says(s.URL, ca, "")
	says("https://localhost:"+port, ca, "for another name")

	plain := newDAVServer(t, httptest.NewServer)
	says(strings.Replace(plain.URL, "http:", "https:", 1), ca, "does not speak TLS")

	old := httptest.NewUnstartedServer(s.Config.Handler)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	t.Cleanup(old.Close)
	says(old.URL, ca, "cannot be reached")
}
