//go:build linux

package privacy

import (
	"bufio"
	"context"
	"encoding/hex"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A monitor counts the attempts of a computer without a network. The kernel
// counts every packet and every connection that has no way out; a name server
// on this computer, which programs would ask, is ours and counts too.
type monitor struct {
	t     *testing.T
	names atomic.Int64
	count int64 // before the test
}

// newMonitor switches the loopback on and makes sure that it counts.
func newMonitor(t *testing.T) *monitor {
	t.Helper()
	if links, err := net.Interfaces(); err != nil || len(links) != 1 {
		t.Fatalf("there is more than the loopback: %v, %v", links, err)
	}
	up(t, "lo")
	m := &monitor{t: t}
	for _, addr := range []string{"127.0.0.1:53", "127.0.0.53:53"} {
		c, err := net.ListenPacket("udp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		go func() {
			for b := make([]byte, 512); ; m.names.Add(1) {
				if _, _, err := c.ReadFrom(b); err != nil {
					return
				}
			}
		}()
	}
	m.checkCounts()
	m.count = m.attempts()
	return m
}

// up switches an interface on.
func up(t *testing.T, name string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	req.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		t.Skipf("this user may not switch %s on: %v", name, err)
	}
}

// checkCounts tries every way out and checks that each is counted.
func (m *monitor) checkCounts() {
	m.t.Helper()
	for _, try := range []struct{ network, address string }{
		{"tcp4", "192.0.2.1:443"}, {"udp4", "192.0.2.1:53"}, {"tcp6", "[2001:db8::1]:443"}, {"udp6", "[2001:db8::1]:53"},
	} {
		before := m.attempts()
		if c, err := net.Dial(try.network, try.address); err == nil {
			c.Close()
			m.t.Fatalf("%s %s can be reached", try.network, try.address)
		}
		if m.attempts() != before+1 {
			m.t.Skipf("this kernel does not count an attempt by %s", try.network)
		}
	}
	before := m.attempts()
	ctx, cancel := context.WithTimeout(m.t.Context(), lookupTimeout)
	defer cancel()
	resolver := net.Resolver{PreferGo: true} // as the program does, which has no libc
	if _, err := resolver.LookupHost(ctx, "hearken.example."); err == nil {
		m.t.Fatal("a name was found without a network")
	}
	if m.attempts() == before {
		m.t.Skip("a name lookup is not counted here")
	}
}

// attempts is how often a program has tried to reach the network or to look up a name.
func (m *monitor) attempts() int64 {
	m.t.Helper()
	v4, err := os.ReadFile("/proc/thread-self/net/snmp")
	if err != nil {
		m.t.Fatal(err)
	}
	v6, err := os.ReadFile("/proc/thread-self/net/snmp6")
	if err != nil {
		m.t.Fatal(err)
	}
	return noRoutes(string(v4), string(v6)) + m.names.Load()
}

// noRoutes reads how many packets and connections had no way out.
func noRoutes(v4, v6 string) (n int64) {
	var names []string
	for line := range strings.Lines(v4) {
		rest, ok := strings.CutPrefix(line, "Ip: ")
		if !ok {
			continue
		}
		if names == nil {
			names = strings.Fields(rest)
			continue
		}
		for i, value := range strings.Fields(rest) {
			if names[i] == "OutNoRoutes" {
				n += number(value)
			}
		}
	}
	for line := range strings.Lines(v6) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "Ip6OutNoRoutes" {
			n += number(f[1])
		}
	}
	return n
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func TestNoRoutes(t *testing.T) {
	const v4 = "Ip: Forwarding OutDiscards OutNoRoutes ReasmTimeout\nIp: 1 7 3 9\nTcp: OutNoRoutes\nTcp: 50\n"
	if n := noRoutes(v4, "Ip6InReceives 8\nIp6OutNoRoutes   \t2\n"); n != 5 {
		t.Errorf("%d, want 5", n)
	}
}

// listening are the addresses at which programs accept connections.
func listening(t *testing.T) (all []net.IP) {
	t.Helper()
	for _, table := range []string{"tcp", "tcp6"} {
		f, err := os.Open("/proc/thread-self/net/" + table)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) < 4 || fields[3] != "0A" {
				continue
			}
			address, _, _ := strings.Cut(fields[1], ":")
			b, err := hex.DecodeString(address)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(b); i += 4 { // words are the wrong way round
				b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
			}
			all = append(all, net.IP(b))
		}
		f.Close()
	}
	return all
}
