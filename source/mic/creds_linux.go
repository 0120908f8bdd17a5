package mic

import (
	"io"
	"net"
	"os"
	"syscall"
)

// withCredentials is a connection that sends our credentials with each message, which
// is how a local server knows its user. The kernel adds them only once the server
// has asked for them, which may be after our first message.
func withCredentials(conn net.Conn) io.Writer {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return conn
	}
	return &credentialWriter{unix, syscall.UnixCredentials(&syscall.Ucred{
		Pid: int32(os.Getpid()), Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())})}
}

type credentialWriter struct {
	*net.UnixConn
	credentials []byte
}

func (i *credentialWriter) Write(b []byte) (int, error) {
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
