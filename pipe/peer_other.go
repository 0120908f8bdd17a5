//go:build !linux && !darwin

package pipe

import "net"

// checkPeer cannot ask this system. The socket's directory lets only its owner
// in.
func checkPeer(net.Conn) error { return nil }
