package pipe

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// samePeer reports whether the process at the other end belongs to this user.
func samePeer(conn net.Conn) error {
	var cred *unix.Xucred
	err := control(conn, func(fd int) (err error) {
		cred, err = unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
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
