package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/hearken-dev/hearken"
)

// names is what the hub answers to. A browser that was tricked into resolving
// a foreign name to this computer (DNS rebinding) still sends that name as
// Host, and a page of another site sends its own Origin: both are turned away.
type names struct {
	hosts   map[string]bool // in lower case, without a port
	lan     map[string]bool // names of this computer that its network tells
	origins map[string]bool // scheme://host[:port]
	public  *url.URL        // nil if there is none
}

func newNames(cfg Config, public *url.URL) (names, error) {
	n := names{hosts: map[string]bool{"localhost": true}, lan: map[string]bool{}, origins: map[string]bool{}, public: public}
	add := func(host string) {
		if host != "" {
			n.hosts[strings.ToLower(host)] = true
		}
	}
	add(cfg.Host)
	if host, _, err := splitListen(cfg.WSListen); err == nil {
		add(host)
	}
	for _, host := range cfg.Hosts {
		add(host)
	}
	if public != nil {
		add(public.Hostname())
		n.origins[origin(public)] = true
	}
	if host, err := os.Hostname(); err == nil {
		host = strings.ToLower(host)
		n.lan[host], n.lan[host+".local"] = true, true
	}
	for _, o := range cfg.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || (u.Path != "" && u.Path != "/") {
			return names{}, hearken.Errorf(hearken.Invalid, "%q is not an origin.", o).WithTry("https://app.example.org")
		}
		n.origins[origin(u)] = true
	}
	return n, nil
}

// relayed reports whether a proxy was announced through which strangers reach
// the loopback door.
func (n *names) relayed() bool {
	return n.public != nil && !loopbackName(n.public.Hostname())
}

// serves reports whether host, as a request names it, is one of ours. Ports
// are not compared: containers and tunnels change them. Where the door is open
// to other computers, any address will do, as one cannot be rebound, and the
// computer's own name; on loopback it would not, as a neighbour on the network
// can answer for it.
func (n *names) serves(host string, d *door) bool {
	if host == "" {
		return true // a browser always says whom it means; some clients do not
	}
	name := hostname(host)
	lower := strings.ToLower(name)
	if n.hosts[lower] || (!d.loopback && n.lan[lower]) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && (!d.loopback || addr.Unmap().IsLoopback())
}

// trusts reports whether a page of this origin may use the hub. The empty
// origin belongs to no browser.
func (n *names) trusts(o, host string, tls bool) bool {
	if o == "" {
		return true
	}
	if n.origins[o] || n.origins[strings.ToLower(o)] {
		return true
	}
	scheme, rest, ok := strings.Cut(o, "://")
	if !ok || !strings.EqualFold(rest, host) {
		return false
	}
	return strings.EqualFold(scheme, "https") == tls
}

// hostname is the host of a Host header, without port and brackets.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func loopbackName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func origin(u *url.URL) string {
	host := u.Host
	if port := u.Port(); (u.Scheme == "http" && port == "80") || (u.Scheme == "https" && port == "443") {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return strings.ToLower(u.Scheme + "://" + host)
}

// forwarded reports whether a proxy says that it relays somebody else.
func forwarded(h http.Header) bool {
	for _, name := range [...]string{"X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}
