package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asNobody runs a shell script as another user of this computer.
func asNobody(t *testing.T, script string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("setpriv is not installed")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	cmd := exec.CommandContext(t.Context(), setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", bash, "-c", script)
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// talk is a script that sends one request and prints the answer.
func talk(h *hub, method, path, body string, headers ...string) string {
	addr := addrPort(h.main.Addr())
	request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %d\r\n", method, path, len(body))
	for _, line := range headers {
		request += line + "\r\n"
	}
	return fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d; printf '%%b' '%s' >&3; ", addr.Port(),
		strings.NewReplacer("\r\n", `\r\n`).Replace(request+"\r\n"+body))
}

func TestPeer_AnotherUserIsRefused(t *testing.T) {
	h := startAll(t)
	_, secret := h.keys.add()
	for _, rt := range everyRoute {
		if out := asNobody(t, talk(h, rt.method, rt.path, rt.body)+"cat <&3 || true"); !strings.Contains(out, "403 Forbidden") || !strings.Contains(out, "another user") {
			t.Errorf("%s %s: %s", rt.method, rt.path, out)
		}
	}
	if out := asNobody(t, talk(h, "POST", "/mcp", callIt, "Authorization: Bearer "+secret)+"cat <&3 || true"); !strings.Contains(out, "403 Forbidden") {
		t.Errorf("with a key: %s", out)
	}
	if len(h.callers) != 0 {
		t.Error("another user got as far as the server")
	}
}

// TestPeer_AnotherUserHangsUp: older kernels list a socket that its process has
// closed as the superuser's. A client that sends a call and disconnects must not
// count as the superuser.
func TestPeer_AnotherUserHangsUp(t *testing.T) {
	h := prepare(t)
	t.Cleanup(h.Close)
	// They have disconnected before the hub accepts the first connection.
	asNobody(t, "for i in {1..5}; do "+talk(h, "POST", "/mcp", callIt)+"exec 3>&-; done")
	h.serve(t)
	eventually(t, "all were answered", func() bool { return strings.Count(h.log.String(), "msg=request") >= 5 })
	if len(h.callers) != 0 {
		t.Error("another user got as far as the server")
	}
}

// TestPeer_ProxyOfAnotherUser: a web server in front runs as a user of its
// own, and forwards clients that bring a key.
func TestPeer_ProxyOfAnotherUser(t *testing.T) {
	h := start(t, func(c *Config) { c.PublicURL = "https://speech.example.org" })
	id, secret := h.keys.add()
	if out := asNobody(t, talk(h, "POST", "/mcp", callIt)+"cat <&3 || true"); !strings.Contains(out, "401 Unauthorized") {
		t.Errorf("no key: %s", out)
	}
	if out := asNobody(t, talk(h, "POST", "/mcp", callIt, "Authorization: Bearer "+secret)+"cat <&3 || true"); !strings.Contains(out, id+"/http:hi") {
		t.Errorf("good key: %s", out)
	}
}

// TestPeer_UnknownNeedsAKey: the other end may be outside a virtual machine,
// where this system does not know its owner.
func TestPeer_UnknownNeedsAKey(t *testing.T) {
	h := start(t)
	_, secret := h.keys.add()
	rt := h.route("test", RouteAccess{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeText(w, 200, "in") }))
	for auth, want := range map[string]int{"": 401, "Bearer " + secret: 200} {
		p := &peer{listener: h.main, addr: netip.MustParseAddr("127.0.0.1"), loopback: true,
			remote: netip.MustParseAddrPort("127.0.0.1:1"), local: addrPort(h.main.Addr())}
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		if auth != "" {
			r.Header.Set("Authorization", auth)
		}
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), peerKey{}, p)))
		if w.Code != want {
			t.Errorf("%q: %d: %s", auth, w.Code, w.Body)
		}
	}
}

func TestOwnerOf(t *testing.T) {
	for name, owner := range map[string]func(remote, local netip.AddrPort) (int, error){"Diag": diagOwner, "Table": tableOwner, "Both": ownerOf} {
		for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
			t.Run(name+address, func(t *testing.T) {
				ln, err := net.Listen("tcp", address)
				if err != nil {
					t.Skipf("no such address here: %v", err)
				}
				defer ln.Close()
				client, err := net.Dial("tcp", ln.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				conn, err := ln.Accept()
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				remote, local := addrPort(conn.RemoteAddr()), addrPort(conn.LocalAddr())
				uid, err := owner(remote, local)
				if name == "Diag" && errors.Is(err, errNoDiag) {
					t.Skip("the kernel does not answer about sockets here")
				}
				if err != nil || uid != os.Geteuid() {
					t.Errorf("owner = %d, %v", uid, err)
				}
				client.Close()
				if _, err := owner(remote, local); !errors.Is(err, errNoOwner) {
					t.Errorf("after it hung up: %v", err)
				}
				// The listener is not mistaken for a connection of its own.
				if _, err := owner(addrPort(ln.Addr()), netip.AddrPortFrom(local.Addr(), 1)); err == nil {
					t.Error("a listener passed for a connection")
				}
			})
		}
	}
}

func TestOwnerIn(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 101 1 0 100 0 0 10 0
   1: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 202 1 0 20 4 30 10 -1
   2: 0100007F:D432 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
   3: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 303 1 0 20 4 30 10 -1
`
	local := hexAddr(netip.MustParseAddrPort("127.0.0.1:8080"), false)
	for _, tt := range []struct {
		name  string
		port  uint16
		uid   int
		found bool
		err   error
	}{
		{"Owned", 0xD431, 1000, true, nil},
		{"Orphan", 0xD432, 0, true, errNoOwner},
		{"Absent", 0xD433, 0, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			remote := hexAddr(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), tt.port), false)
			uid, found, err := ownerInTable([]byte(table), remote, local)
			if uid != tt.uid || found != tt.found || !errors.Is(err, tt.err) {
				t.Errorf("got %d, %t, %v", uid, found, err)
			}
		})
	}
	if _, _, err := ownerInTable([]byte(" 0100007F:D431 0100007F:1F90 01\n"), hexAddr(netip.MustParseAddrPort("127.0.0.1:54321"), false), local); !errors.Is(err, errOwnerUnknown) {
		t.Errorf("a table of another form: %v", err)
	}
	if got := string(hexAddr(netip.MustParseAddrPort("[::1]:80"), true)); got != "00000000000000000000000001000000:0050" {
		t.Errorf("IPv6 address = %s", got)
	}
}

func BenchmarkOwnerOf(b *testing.B) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	remote, local := addrPort(client.LocalAddr()), addrPort(client.RemoteAddr())
	for name, owner := range map[string]func(remote, local netip.AddrPort) (int, error){"Diag": diagOwner, "Table": tableOwner} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := owner(remote, local); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
