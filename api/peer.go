package api

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
)

// A peer is the other end of one connection. What is found out about it is
// found out once, at its first request.
type peer struct {
	door          *door
	remote, local netip.AddrPort
	addr          netip.Addr
	loopback      bool

	once    sync.Once
	unowned error
}

type peerKey struct{}

func peerOf(ctx context.Context) *peer {
	p, _ := ctx.Value(peerKey{}).(*peer)
	return p
}

// connContext remembers the peer with its connection.
func (d *door) connContext(ctx context.Context, c net.Conn) context.Context {
	p := &peer{door: d, remote: addrPort(c.RemoteAddr()), local: addrPort(c.LocalAddr())}
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
	errForeign = errors.New("the process belongs to another user")
	errNoTable = errors.New("this system does not tell whose a connection is")
)

// own says why a loopback peer is not the owner's own: its socket belongs to
// another user, or to nobody that this system knows. The superuser passes,
// being able to read the hub's memory anyway. Where the system tells nothing
// at all, everybody passes, and the log says so once.
func (p *peer) own(a *API) error {
	if !p.loopback {
		return nil
	}
	p.once.Do(func() {
		uid, err := ownerOf(p.remote, p.local)
		switch {
		case errors.Is(err, errNoTable):
			a.noTable.Do(func() {
				a.log.Warn("other users of this computer cannot be told apart on loopback", "error", err)
			})
		case err != nil:
			p.unowned = err
		case uid != os.Geteuid() && uid != 0:
			p.unowned = errForeign
		}
	})
	return p.unowned
}
