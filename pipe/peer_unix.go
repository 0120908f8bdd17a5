//go:build linux || darwin

package pipe

import (
	"fmt"
	"net"
	"syscall"
)

// control runs f on the file descriptor of a local connection.
func control(conn net.Conn, f func(fd int) error) error {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T has no file descriptor", conn)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	var ferr error
	if err := raw.Control(func(fd uintptr) { ferr = f(int(fd)) }); err != nil {
		return err
	}
	return ferr
}
