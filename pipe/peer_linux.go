package pipe

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// samePeer reports whether the process at the other end belongs to this user.
func samePeer(conn net.Conn) error {
	var cred *syscall.Ucred
	err := control(conn, func(fd int) (err error) {
		cred, err = syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		return err
	})
	if err != nil {
		return fmt.Errorf("peer credentials: %w", err)
	}
	if int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("peer belongs to user %d", cred.Uid)
	}
	return nil
}
