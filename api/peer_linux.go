package api

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
)

var errNoOwner = errors.New("no process owns the other end any more")

// ownerOf asks the kernel which user owns the socket at remote that is connected
// to local.
func ownerOf(remote, local netip.AddrPort) (int, error) {
	if uid, err := diagOwner(remote, local); !errors.Is(err, errNoDiag) {
		return uid, err
	}
	return tableOwner(remote, local)
}

// tableOwner looks the owner up in the kernel's table of all connections.
func tableOwner(remote, local netip.AddrPort) (int, error) {
	unreadable := 0
	for _, t := range [...]struct {
		file string
		v6   bool
	}{{"/proc/net/tcp", false}, {"/proc/net/tcp6", true}} {
		if remote.Addr().Is6() && !t.v6 {
			continue
		}
		table, err := os.ReadFile(t.file)
		if err != nil {
			unreadable++
			continue
		}
		uid, found, err := ownerInTable(table, hexAddr(remote, t.v6), hexAddr(local, t.v6))
		if found || err != nil {
			return uid, err
		}
	}
	if unreadable > 0 {
		return 0, errOwnerUnknown
	}
	return 0, errNoOwner
}

// ownerInTable finds a connection in one table, whose lines are
//
//	sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ...
//
// A socket without a process (its process closed it and the kernel still sends
// the rest) has inode 0, and on older kernels user 0. It must not count as the
// superuser's: another user could send a request and close the socket.
func ownerInTable(table []byte, remote, local []byte) (uid int, found bool, err error) {
	i := bytes.Index(table, fmt.Appendf(nil, " %s %s ", remote, local))
	if i < 0 {
		return 0, false, nil
	}
	line, _, _ := bytes.Cut(table[i+1:], []byte("\n"))
	fields := bytes.Fields(line) // local, remote, state, queues, timer, retransmits, uid, timeout, inode
	if len(fields) < 9 {
		return 0, false, fmt.Errorf("connection table: %w", errOwnerUnknown)
	}
	if string(fields[8]) == "0" {
		return 0, true, errNoOwner
	}
	if uid, err = strconv.Atoi(string(fields[6])); err != nil {
		return 0, false, fmt.Errorf("connection table: %w", errOwnerUnknown)
	}
	return uid, true, nil
}

// hexAddr writes an address as the kernel's tables do: each 32-bit word of it
// in the machine's own byte order, then the port.
func hexAddr(ap netip.AddrPort, v6 bool) []byte {
	raw := ap.Addr().AsSlice()
	if v6 {
		b := ap.Addr().As16()
		raw = b[:]
	}
	var out []byte
	for word := range slices.Chunk(raw, 4) {
		out = fmt.Appendf(out, "%08X", binary.NativeEndian.Uint32(word))
	}
	return fmt.Appendf(out, ":%04X", ap.Port())
}
