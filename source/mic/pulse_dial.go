package mic

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// replyTimeout is how long the sound server may take to reply.
const replyTimeout = 5 * time.Second

// An address is where a sound server may listen.
type address struct{ network, addr string }

// addresses lists where to look for the sound server, in the order of
// PulseAudio's own library.
func addresses(env func(string) string, uid int, machine, host string) []address {
	if list := env("PULSE_SERVER"); list != "" {
		return parseServers(list, machine, host)
	}
	var paths []string
	if dir := env("PULSE_RUNTIME_PATH"); dir != "" {
		paths = append(paths, path.Join(dir, "native"))
	}
	if dir := env("XDG_RUNTIME_DIR"); dir != "" {
		paths = append(paths, path.Join(dir, "pulse", "native"))
	}
	if uid >= 0 {
		paths = append(paths, fmt.Sprintf("/run/user/%d/pulse/native", uid))
	}
	if home := env("HOME"); home != "" && machine != "" {
		paths = append(paths, path.Join(home, ".config", "pulse", machine+"-runtime", "native"))
	}
	paths = append(paths, "/run/pulse/native")
	var found []address
	for _, p := range paths {
		if a := (address{"unix", p}); !slices.Contains(found, a) {
			found = append(found, a)
		}
	}
	return found
}

// parseServers parses PULSE_SERVER: addresses separated by spaces, each with an
// optional computer name in braces to which it applies.
func parseServers(list, machine, host string) []address {
	var found []address
	for s := range strings.FieldsSeq(list) {
		if rest, braced := strings.CutPrefix(s, "{"); braced {
			only, after, closed := strings.Cut(rest, "}")
			if !closed || only != machine && only != host {
				continue
			}
			s = after
		}
		kind, rest, _ := strings.Cut(s, ":")
		switch {
		case s == "":
		case strings.HasPrefix(s, "/"):
			found = append(found, address{"unix", s})
		case kind == "unix":
			found = append(found, address{"unix", rest})
		case kind == "tcp", kind == "tcp4", kind == "tcp6":
			found = append(found, address{kind, withPort(rest)})
		default:
			found = append(found, address{"tcp", withPort(s)})
		}
	}
	return found
}

func withPort(s string) string {
	if _, _, err := net.SplitHostPort(s); err == nil {
		return s
	}
	return net.JoinHostPort(strings.Trim(s, "[]"), "4713")
}

// machineID is PulseAudio's name for this computer.
func machineID() string {
	for _, name := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if b, err := os.ReadFile(name); err == nil {
			return strings.TrimSpace(string(b))
		}
	}
	return ""
}

// cookie authenticates to a server across the network. A local server knows its
// user without it.
func cookie(env func(string) string) []byte {
	config := cmp.Or(env("XDG_CONFIG_HOME"), filepath.Join(env("HOME"), ".config"))
	for _, name := range []string{env("PULSE_COOKIE"), filepath.Join(config, "pulse", "cookie"), filepath.Join(env("HOME"), ".pulse-cookie")} {
		if b, err := os.ReadFile(name); err == nil && len(b) >= 256 {
			return b[:256]
		}
	}
	return make([]byte, 256)
}

// dial connects to the first sound server that responds. It passes unsolicited
// messages to callback, on a goroutine of the connection.
func dial(ctx context.Context, callback func(any)) (*connection, error) {
	host, _ := os.Hostname()
	all := addresses(os.Getenv, os.Getuid(), machineID(), host)
	err := errors.New("PULSE_SERVER names no server")
	var first error
	for _, a := range all {
		var c *connection
		if c, err = dialOne(ctx, a, callback); err == nil {
			return c, nil
		}
		// A refusal says more than that nothing was there.
		if first == nil || errors.Is(first, os.ErrNotExist) {
			first = err
		}
	}
	return nil, dialError(cmp.Or(first, err), all)
}

func dialOne(ctx context.Context, a address, callback func(any)) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, a.network, a.addr)
	if err != nil {
		return nil, err
	}
	c := &connection{conn: conn, gone: make(chan struct{})}
	c.client.SetTimeout(replyTimeout)
	c.client.Callback = callback
	c.client.Open(struct {
		io.Reader
		io.Writer
	}{&frames{r: bufio.NewReader(conn), gone: c.gone}, withCredentials(conn)})
	// No answer is waited for once ctx has ended.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var auth proto.AuthReply
	if err := c.client.Request(&proto.Auth{Version: c.client.Version(), Cookie: cookie(os.Getenv)}, &auth); err != nil {
		c.close()
		return nil, fmt.Errorf("authenticate: %w", err)
	}
	c.client.SetVersion(auth.Version)
	props := proto.PropList{
		"application.name":      proto.PropListString("Hearken"),
		"application.id":        proto.PropListString("dev.hearken.hearken"),
		"application.icon_name": proto.PropListString("audio-input-microphone"),
	}
	if err := c.client.Request(&proto.SetClientName{Props: props}, &proto.SetClientNameReply{}); err != nil {
		c.close()
		return nil, fmt.Errorf("introduce: %w", err)
	}
	return c, nil
}

// A connection to a sound server.
type connection struct {
	client proto.Client
	conn   net.Conn
	gone   chan struct{} // closed when nothing more can be read
}

// close closes the connection and waits until its callback has returned.
func (c *connection) close() {
	c.conn.Close()
	<-c.gone
}

// maxFrame is larger than any frame PulseAudio sends.
const maxFrame = 16 << 20

// frames passes on the server's frames, except for commands that the library does
// not know: it prints those to standard output, which is reserved for MCP.
type frames struct {
	r    *bufio.Reader
	gone chan struct{}
	buf  []byte
	left []byte
	err  error
}

func (f *frames) Read(b []byte) (int, error) {
	for len(f.left) == 0 && f.err == nil {
		if f.err = f.fill(); f.err != nil {
			close(f.gone)
		}
	}
	if f.err != nil {
		return 0, f.err
	}
	n := copy(b, f.left)
	f.left = f.left[n:]
	return n, nil
}

// header is the length of a frame's header: length, channel, offset and flags.
const header = 20

func (f *frames) fill() error {
	f.buf = append(f.buf[:0], make([]byte, header)...)
	if _, err := io.ReadFull(f.r, f.buf); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(f.buf)
	if size > maxFrame {
		return fmt.Errorf("a frame of %d bytes", size)
	}
	f.buf = append(f.buf, make([]byte, size)...)
	if _, err := io.ReadFull(f.r, f.buf[header:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(f.buf[4:]) == proto.Undefined && !knownCommand(f.buf[header:]) {
		return nil
	}
	f.left = f.buf
	return nil
}

// knownCommand reports whether the library knows a command, which begins with the letter
// L and its number.
func knownCommand(command []byte) bool {
	if len(command) < 10 || command[0] != 'L' {
		return false
	}
	switch op := binary.BigEndian.Uint32(command[1:]); op {
	case proto.OpError, proto.OpReply, proto.OpSubscribeEvent, proto.OpOverflow,
		proto.OpRecordStreamKilled, proto.OpRecordStreamSuspended, proto.OpRecordStreamMoved:
		return true
	}
	return false
}
