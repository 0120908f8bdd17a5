//go:build linux || darwin

package pipe

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// checkPeer makes sure that the process at the other end belongs to this user.
func checkPeer(conn net.Conn) error {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T has no file descriptor", conn)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var uidErr error
	if err := raw.Control(func(fd uintptr) { uid, uidErr = peerUID(int(fd)) }); err != nil {
		return err
	}
	if uidErr != nil {
		return fmt.Errorf("peer credentials: %w", uidErr)
	}
	if uid != os.Getuid() {
		return fmt.Errorf("peer belongs to user %d", uid)
	}
	return nil
}
