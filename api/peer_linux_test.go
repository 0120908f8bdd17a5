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
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
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
	return sendTo(h.main, rawRequest(method, path, body, append(headers, "Connection: close")...))
}

// rawRequest is a request as it goes over the wire.
func rawRequest(method, path, body string, headers ...string) string {
	request := fmt.Sprintf("%s %s HTTP/1.1\r\n", method, path)
	if !slices.ContainsFunc(headers, func(line string) bool { return strings.HasPrefix(line, "Host: ") }) {
		request += "Host: 127.0.0.1\r\n"
	}
	for _, line := range headers {
		request += line + "\r\n"
	}
	return request + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
}

// sendTo is a script that connects to a listener and sends something.
func sendTo(l *listener, raw string) string {
	return fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d; printf '%%b' '%s' >&3; ", addrPort(l.Addr()).Port(),
		strings.NewReplacer("\r\n", `\r\n`, `\`, `\\`).Replace(raw))
}

const (
	readAll    = "cat <&3 || true"
	readStatus = "IFS= read -r line <&3; printf '%s' \"$line\"" // of an answer that may not end
)

// An mcpDoor is an address of MCP over WebSocket.
type mcpDoor struct {
	listener *listener
	path     string
}

func (h *hub) mcpDoors() []mcpDoor {
	return []mcpDoor{{h.main, "/mcp"}, {h.ws, "/"}, {h.ws, "/mcp"}}
}

// callOver is a script that opens a WebSocket, makes one call and prints what
// it gets until the call is answered or the connection ends.
func (d mcpDoor) callOver(query string, headers ...string) string {
	upgrade := append(headers, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==")
	frame := fmt.Sprintf(`\x81\xfe\x%02x\x%02x\0\0\0\0`, len(callIt)>>8, len(callIt)&0xff) // a text, masked with zeros
	return "LC_ALL=C; " + sendTo(d.listener, rawRequest("GET", d.path+query, "", upgrade...)) +
		fmt.Sprintf("printf '%%b%%s' '%s' '%s' >&3; ", frame, callIt) +
		`while IFS= read -r -d '' -n 1 -t 10 c <&3; do out+=$c; [[ $out == *']}}' || $out == *'"}}' ]] && break; done; printf '%s' "$out"`
}

// noKeyHere is what another user is told who has no key.
const noKeyHere = "This hub belongs to another user of this computer, and this request has no key."

func TestPeer_AnotherUserIsRefused(t *testing.T) {
	h := startAll(t)
	_, secret := h.keys.add()
	for _, rt := range slices.Concat(everyRoute, []request{{"POST", "/v1/ws-ticket", ""}, {"OPTIONS", "/mcp", ""}, {"GET", "/v1/extra?ticket=t1cket", ""}}) {
		if out := asNobody(t, talk(h, rt.method, rt.path, rt.body)+readAll); !strings.Contains(out, "403 Forbidden") || !strings.Contains(out, noKeyHere) {
			t.Errorf("%s %s: %s", rt.method, rt.path, out)
		}
	}
	for _, d := range h.mcpDoors() {
		if out := asNobody(t, d.callOver("")); !strings.Contains(out, "403 Forbidden") {
			t.Errorf("WebSocket %s: %s", d.path, out)
		}
	}
	// A good key opens nothing to a page of another site, nor under another name.
	for _, header := range []string{"Host: evil.example", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"} {
		for _, rt := range everyRoute {
			out := asNobody(t, talk(h, rt.method, rt.path, rt.body, header, "Authorization: Bearer "+secret)+readAll)
			if !strings.Contains(out, "403 Forbidden") || strings.Contains(out, noKeyHere) {
				t.Errorf("%s: %s %s: %s", header, rt.method, rt.path, out)
			}
		}
	}
	if len(h.callers) != 0 {
		t.Error("another user got as far as the server")
	}
}

// TestPeer_AnotherUserWithAKey: agents that run as a user of their own reach the
// hub with a key, on every route.
func TestPeer_AnotherUserWithAKey(t *testing.T) {
	h := startAll(t)
	id, secret := h.keys.add()
	auth := "Authorization: Bearer " + secret
	for _, rt := range slices.Concat(everyRoute, []request{{"POST", "/v1/ws-ticket", ""}}) {
		out := asNobody(t, talk(h, rt.method, rt.path, rt.body, auth)+readStatus)
		if !strings.HasPrefix(out, "HTTP/1.1 ") || strings.Contains(out, " 401 ") || strings.Contains(out, " 403 ") {
			t.Errorf("%s %s: %s", rt.method, rt.path, out)
		}
	}
	for _, tt := range []struct {
		request
		header, want string
	}{
		{request{"POST", "/mcp", callIt}, auth, id + "/http:hi"},
		{request{"GET", "/audio/s1", ""}, auth, "audio s1 " + id},
		{request{"GET", "/audio/s1?ticket=t1cket", ""}, "X-None: 1", "audio s1 local"}, // its wsEndpoint
		{request{"GET", "/v1/extra", ""}, auth, id},
		{request{"GET", "/v1/act", ""}, auth, id},
		{request{"GET", "/v1/listen", ""}, "Authorization: Token " + secret, id},
		{request{"POST", "/v1/audio/transcriptions", "x"}, auth, id},
	} {
		if out := asNobody(t, talk(h, tt.method, tt.path, tt.body, tt.header)+readAll); !strings.Contains(out, "200 OK") || !strings.Contains(out, tt.want) {
			t.Errorf("%s %s: %s", tt.method, tt.path, out)
		}
	}
	for _, d := range h.mcpDoors() {
		if out := asNobody(t, d.callOver("", auth)); !strings.Contains(out, id+"/ws:hi") {
			t.Errorf("WebSocket %s: %s", d.path, out)
		}
		_, ticket := h.issue(t, h.URL(), secret)
		if out := asNobody(t, d.callOver("?ticket="+ticket.Ticket)); !strings.Contains(out, id+"/ws:hi") {
			t.Errorf("WebSocket %s with a ticket: %s", d.path, out)
		}
	}
}

// TestPeer_KeyIsForOneRequest: a key lets one request in, not what follows on
// the same connection.
func TestPeer_KeyIsForOneRequest(t *testing.T) {
	h := startAll(t)
	id, secret := h.keys.add()
	out := asNobody(t, sendTo(h.main, rawRequest("GET", "/v1/extra", "", "Authorization: Bearer "+secret)+
		rawRequest("GET", "/v1/extra", "", "Connection: close"))+readAll)
	first, second, _ := strings.Cut(out, id)
	if !strings.Contains(first, "200 OK") || !strings.Contains(second, "403 Forbidden") {
		t.Errorf("%s", out)
	}
}

// TestPeer_AnotherUserWithABadKey: whatever is not a good key is refused and
// counted, as from anybody else.
func TestPeer_AnotherUserWithABadKey(t *testing.T) {
	var mu sync.Mutex
	reported := 0
	h := startAll(t, func(c *Config) {
		c.OnRefused = func(context.Context, string, string, hearken.Code) {
			mu.Lock()
			defer mu.Unlock()
			reported++
		}
	})
	gone, secret := h.keys.add()
	h.keys.revoke(gone)
	sent := 0
	try := func(script string, want ...string) {
		t.Helper()
		sent++
		out := asNobody(t, script)
		if !slices.ContainsFunc(want, func(w string) bool { return strings.Contains(out, w) }) {
			t.Errorf("not %q: %s", want, out)
		}
	}
	for _, d := range h.mcpDoors() {
		try(d.callOver("", "Authorization: Bearer "+secret), `"code":401`)
		try(d.callOver("?ticket=wst_made_up"), `"code":401`)
	}
	for i, rt := range everyRoute {
		bad := []string{"Bearer hk_wrong", "Bearer " + secret, "Bearer sk-of-another-service", "Basic eDp5"}[i%4]
		try(talk(h, rt.method, rt.path, rt.body, "Authorization: "+bad)+readAll, "401 Unauthorized", "429 Too Many")
	}
	try(talk(h, "GET", "/audio/s1?ticket=wrong", "")+readAll, "429 Too Many")
	mu.Lock()
	defer mu.Unlock()
	if reported != sent || len(h.callers) != 0 {
		t.Errorf("%d of %d were reported, %d got as far as the server", reported, sent, len(h.callers))
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
