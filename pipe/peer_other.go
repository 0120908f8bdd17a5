//go:build !linux && !darwin

package pipe

import "net"

// samePeer has nothing to ask on this system: the socket's directory lets only
// its owner in.
func samePeer(net.Conn) error { return nil }
