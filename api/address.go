package api

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A usedAddress is where a caller reached the hub.
type usedAddress struct {
	host string // the Host of the request, which the guard has checked
	main bool   // it came by the HTTP listener, not that for MCP over WebSocket
}

type usedAddressKey struct{}

// withUsedAddress remembers where the caller of a request reached the hub.
func withUsedAddress(ctx context.Context, r *http.Request, p *peer, main *listener) context.Context {
	return context.WithValue(ctx, usedAddressKey{}, usedAddress{r.Host, p.listener == main})
}

// AudioURL is the wsEndpoint of a session, with the ticket that grants access.
// It names the host that the caller of ctx used: a hub that listens on all
// interfaces, or in a container, does not know which of its names others can
// resolve. The public URL comes first, if there is one.
func (a *API) AudioURL(ctx context.Context, session, ticket string) string {
	u := "ws" + strings.TrimPrefix(a.urlFor(ctx), "http") + "/audio/" + url.PathEscape(session)
	if ticket != "" {
		u += "?ticket=" + url.QueryEscape(ticket)
	}
	return u
}

// urlFor is the hub's HTTP address as the caller of ctx knows it.
func (a *API) urlFor(ctx context.Context) string {
	used, _ := ctx.Value(usedAddressKey{}).(usedAddress)
	name := hostname(used.host)
	if a.hosts.public != nil || name == "" {
		return a.URL()
	}
	scheme := "http"
	if a.main.tls != nil {
		scheme = "https"
	}
	port := strconv.Itoa(a.Port())
	if used.main { // a container or a tunnel may have changed the port
		_, port, _ = net.SplitHostPort(used.host)
	}
	if port == "" {
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		return scheme + "://" + name
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return a.URL()
	}
	return scheme + "://" + net.JoinHostPort(name, port)
}
