package api

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
)

// A peer is the other end of one connection. Who owns its process is looked up
// once, at the first request.
type peer struct {
	listener      *listener
	remote, local netip.AddrPort
	addr          netip.Addr
	loopback      bool

	once     sync.Once
	ownerErr error
}

type peerKey struct{}

func peerOf(ctx context.Context) *peer {
	p, _ := ctx.Value(peerKey{}).(*peer)
	return p
}

// connContext stores the peer in its connection's context.
func (l *listener) connContext(ctx context.Context, c net.Conn) context.Context {
	p := &peer{listener: l, remote: addrPort(c.RemoteAddr()), local: addrPort(c.LocalAddr())}
	p.addr = p.remote.Addr()
	p.loopback = p.addr.IsLoopback()
	return context.WithValue(ctx, peerKey{}, p)
}

func addrPort(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

var (
	errOtherUser    = errors.New("the process belongs to another user")
	errOwnerUnknown = errors.New("this system does not say who owns a connection")
)

// checkOwner returns why a loopback peer is not a process of this user: its
// socket belongs to another user, or to nobody any more. The superuser passes,
// who can read the hub's memory anyway. Where the system does not say who owns
// a connection, everybody passes, and a warning is logged once.
func (p *peer) checkOwner(a *API) error {
	if !p.loopback {
		return nil
	}
	p.once.Do(func() {
		uid, err := ownerOf(p.remote, p.local)
		switch {
		case errors.Is(err, errOwnerUnknown):
			a.warnOwnerUnknown.Do(func() {
				a.log.Warn("cannot tell other users of this computer apart on loopback", "error", err)
			})
		case err != nil:
			p.ownerErr = err
		case uid != os.Geteuid() && uid != 0:
			p.ownerErr = errOtherUser
		}
	})
	return p.ownerErr
}
