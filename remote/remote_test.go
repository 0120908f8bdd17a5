package remote

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0": 0, "-3": 0, "-9223372036854775808": 0, "": 0, "soon": 0, "86400": MaxWait, "9223372036854775807": MaxWait,
		"Sun, 15 Nov 2026 09:30:30 GMT": 30 * time.Second, "Sun, 15 Nov 2026 09:29:30 GMT": 0, "Mon, 15 Nov 2027 09:30:00 GMT": MaxWait,
	} {
		if got := RetryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "127.8.8.8": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "localhost.example.org": false, "192.0.2.1": false, "2001:db8::1": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

func TestIsLoopbackURL(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:8000/v1": true, "ws://127.0.0.1": true, "https://[::1]:8443/x": true, " http://localhost ": true,
		"": false, "localhost:8000": false, "http://localhost.example.org": false, "https://api.example.org/?h=localhost": false, "http://localhost@example.org": false,
	} {
		if got := IsLoopbackURL(address); got != want {
			t.Errorf("%q: %t", address, got)
		}
	}
}

func TestCertPool(t *testing.T) {
	if pool, err := CertPool(""); pool != nil || err != nil {
		t.Errorf("no file: %v, %v", pool, err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, empty + ".missing"} {
		if _, err := CertPool(file); err == nil {
			t.Errorf("%s was accepted", file)
		}
	}
}
