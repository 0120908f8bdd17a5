package api

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
)

// Numbers of the kernel's sock_diag interface.
const (
	netlinkSockDiag  = 4
	sockDiagByFamily = 20
	diagRequestBytes = 16 + 8 + 48 // header, request, socket id
	diagAnswerBytes  = 16 + 4 + 48 + 20
	stateListen      = 10
)

var errNoDiag = errors.New("the kernel does not answer sock_diag requests")

// diagOwner asks the kernel about one socket. That takes microseconds; reading
// the table of all connections takes milliseconds on a busy computer.
func diagOwner(remote, local netip.AddrPort) (int, error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return 0, errNoDiag
	}
	defer syscall.Close(fd)
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 1}); err != nil {
		return 0, errNoDiag // it might never answer
	}
	if err := syscall.Sendto(fd, diagRequest(remote, local), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return 0, errNoDiag
	}
	var buf [4096]byte
	n, _, err := syscall.Recvfrom(fd, buf[:], 0)
	if err != nil {
		return 0, errNoDiag
	}
	return diagAnswer(buf[:n], diagSocketID(remote, local))
}

func diagRequest(remote, local netip.AddrPort) []byte {
	order := binary.NativeEndian
	b := make([]byte, 0, diagRequestBytes)
	b = order.AppendUint32(b, diagRequestBytes)
	b = order.AppendUint16(b, sockDiagByFamily)
	b = order.AppendUint16(b, syscall.NLM_F_REQUEST)
	b = order.AppendUint32(b, 1) // sequence
	b = order.AppendUint32(b, 0) // from: the kernel fills it in
	family := byte(syscall.AF_INET)
	if remote.Addr().Is6() {
		family = syscall.AF_INET6
	}
	b = append(b, family, syscall.IPPROTO_TCP, 0, 0)
	b = order.AppendUint32(b, 0xffffffff) // in any state
	b = append(b, diagSocketID(remote, local)...)
	b = order.AppendUint32(b, 0)          // any interface
	b = order.AppendUint32(b, 0xffffffff) // no cookie
	return order.AppendUint32(b, 0xffffffff)
}

// diagSocketID is the peer's socket as the kernel names it: its own end first.
func diagSocketID(remote, local netip.AddrPort) []byte {
	b := make([]byte, 36)
	binary.BigEndian.PutUint16(b[0:], remote.Port())
	binary.BigEndian.PutUint16(b[2:], local.Port())
	copy(b[4:20], remote.Addr().AsSlice())
	copy(b[20:36], local.Addr().AsSlice())
	return b
}

// diagAnswer reads who owns the socket. If there is no such connection the
// kernel answers with a listening socket, which does not count.
func diagAnswer(b, id []byte) (int, error) {
	order := binary.NativeEndian
	if len(b) < diagAnswerBytes || order.Uint16(b[4:]) != sockDiagByFamily {
		return 0, errNoDiag
	}
	m := b[16:]
	if m[1] == stateListen || string(m[4:8]) != string(id[:4]) {
		return 0, errNoDiag
	}
	uid, inode := order.Uint32(m[64:]), order.Uint32(m[68:])
	if inode == 0 {
		return 0, errNoOwner
	}
	return int(uid), nil
}
