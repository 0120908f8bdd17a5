package api

import "time"

// Limits bounds what visitors can take. Zero values mean the defaults.
type Limits struct {
	Body        int64         // bytes of one MCP message; 4 MiB
	Header      time.Duration // to send a request's header; 10 s
	BodyRead    time.Duration // to send its body; 30 s
	Write       time.Duration // for each single write to get through; 30 s
	Idle        time.Duration // a connection without a request; 2 min
	Ping        time.Duration // between two pings on a WebSocket; 30 s
	Connections int           // at a time, on all doors together; 4096
	Sessions    int           // MCP sessions at a time; 1024
	SessionIdle time.Duration // an MCP session without a request; 1 h
	InFlight    int           // calls at a time on one MCP WebSocket, and in one batch; 64
	Strangers   int           // WebSockets without a good key that are told so; 8
	Stranger    time.Duration // for the message of such a one; 10 s
	Drain       time.Duration // to finish when the hub stops; 10 s
}

func (l Limits) withDefaults() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	num := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	if l.Body <= 0 {
		l.Body = 4 << 20
	}
	def(&l.Header, 10*time.Second)
	def(&l.BodyRead, 30*time.Second)
	def(&l.Write, 30*time.Second)
	def(&l.Idle, 2*time.Minute)
	def(&l.Ping, 30*time.Second)
	num(&l.Connections, 4096)
	num(&l.Sessions, 1024)
	def(&l.SessionIdle, time.Hour)
	num(&l.InFlight, 64)
	num(&l.Strangers, 8)
	def(&l.Stranger, 10*time.Second)
	def(&l.Drain, 10*time.Second)
	return l
}
