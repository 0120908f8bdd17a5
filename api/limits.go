package api

import "time"

// Limits bounds what clients can use. Zero values mean the defaults.
type Limits struct {
	Body          int64         // bytes of one MCP message; 4 MiB
	Header        time.Duration // to send a request's header; 10 s
	BodyRead      time.Duration // to send its body; 30 s
	Write         time.Duration // for each single write to get through; 30 s
	Idle          time.Duration // a connection without a request; 2 min
	Ping          time.Duration // between two pings on a WebSocket; 30 s
	Connections   int           // at a time, on all listeners together; 4096
	Sessions      int           // MCP sessions at a time; 1024
	SessionIdle   time.Duration // an MCP session without a request; 1 h
	InFlight      int           // calls at a time on one MCP WebSocket, and in one batch; 64
	Rejections    int           // WebSockets without a valid key that are answered at a time; 8
	RejectionRead time.Duration // to read the message of such a WebSocket; 10 s
	Drain         time.Duration // to finish when the hub stops; 10 s
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Body, 4<<20)
	setDefault(&l.Header, 10*time.Second)
	setDefault(&l.BodyRead, 30*time.Second)
	setDefault(&l.Write, 30*time.Second)
	setDefault(&l.Idle, 2*time.Minute)
	setDefault(&l.Ping, 30*time.Second)
	setDefault(&l.Connections, 4096)
	setDefault(&l.Sessions, 1024)
	setDefault(&l.SessionIdle, time.Hour)
	setDefault(&l.InFlight, 64)
	setDefault(&l.Rejections, 8)
	setDefault(&l.RejectionRead, 10*time.Second)
	setDefault(&l.Drain, 10*time.Second)
	return l
}

func setDefault[T ~int | ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}
