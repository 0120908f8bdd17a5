package mic

import (
	"io"
	"net"
	"os"
	"syscall"
)

// introduced is a connection for writing that says with each message who we
// are, which is how a server on this computer knows its user. The kernel does
// that by itself, but not for what is sent before the server has asked it to.
func introduced(conn net.Conn) io.Writer {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return conn
	}
	return &introducer{unix, syscall.UnixCredentials(&syscall.Ucred{
		Pid: int32(os.Getpid()), Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())})}
}

type introducer struct {
	*net.UnixConn
	credentials []byte
}

func (i *introducer) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil // credentials alone would need a byte to go with
	}
	n, _, err := i.WriteMsgUnix(b, i.credentials, nil)
	if err != nil || n == len(b) {
		return n, err
	}
	more, err := i.UnixConn.Write(b[n:])
	return n + more, err
}
