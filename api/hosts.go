package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// A hostPolicy knows the host names and origins that the hub accepts. A browser
// that was tricked into resolving another name to this computer (DNS rebinding)
// still sends that name as Host, and a page of another site sends its own
// Origin. Both are refused.
type hostPolicy struct {
	hosts   map[string]bool // in lower case, without a port
	lan     map[string]bool // this computer's names in its network
	origins map[string]bool // scheme://host[:port]
	public  *url.URL        // nil if there is none
}

func newHostPolicy(cfg Config, public *url.URL) (hostPolicy, error) {
	n := hostPolicy{hosts: map[string]bool{"localhost": true}, lan: map[string]bool{}, origins: map[string]bool{}, public: public}
	add := func(host string) {
		if host != "" {
			n.hosts[strings.ToLower(host)] = true
		}
	}
	add(cfg.Host)
	if host, _, err := splitListen(cfg.WSListen); err == nil {
		add(host)
	}
	if public != nil {
		add(public.Hostname())
		n.origins[originOf(public)] = true
	}
	if host, err := os.Hostname(); err == nil {
		host = strings.ToLower(host)
		n.lan[host], n.lan[host+".local"] = true, true
	}
	for _, o := range cfg.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || (u.Path != "" && u.Path != "/") {
			return hostPolicy{}, hearken.Errorf(hearken.Invalid, "%q is not an origin.", o).WithTry("https://app.example.org")
		}
		n.origins[originOf(u)] = true
	}
	return n, nil
}

// behindPublicProxy reports whether PUBLIC_URL names a proxy through which other
// computers reach the loopback listener.
func (n *hostPolicy) behindPublicProxy() bool {
	return n.public != nil && !loopbackName(n.public.Hostname())
}

// allowsHost reports whether the hub answers to the Host of a request. Ports are
// not compared: containers and tunnels change them. A listener that other
// computers can reach also accepts any IP address, which cannot be rebound, and
// this computer's name. A loopback listener does not accept that name, because
// another computer in the network can claim it.
func (n *hostPolicy) allowsHost(host string, l *listener) bool {
	if host == "" {
		return true // browsers always send a Host; some clients do not
	}
	name := hostname(host)
	lower := strings.ToLower(name)
	if n.hosts[lower] || (!l.loopback && n.lan[lower]) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && (!l.loopback || addr.Unmap().IsLoopback())
}

// allowsOrigin reports whether a page of this origin may use the hub. Only
// clients that are no browsers send none.
func (n *hostPolicy) allowsOrigin(o, host string, tls bool) bool {
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

func originOf(u *url.URL) string {
	host := u.Host
	if port := u.Port(); (u.Scheme == "http" && port == "80") || (u.Scheme == "https" && port == "443") {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return strings.ToLower(u.Scheme + "://" + host)
}

// isForwarded reports whether a proxy says that it forwards for somebody else.
func isForwarded(h http.Header) bool {
	headers := []string{"X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "X-Real-Ip", "Via"}
	return slices.ContainsFunc(headers, func(name string) bool { return len(h[name]) > 0 })
}
