package faults

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// A Kind is a way in which a network or a server fails for a while. Clients
// are expected to recover from each of them.
type Kind string

// The kinds that a [Plan] chooses from.
const (
	Cut            Kind = "cut"              // both sides at once
	Reset          Kind = "reset"            // both sides, by an error
	HalfToClient   Kind = "half to client"   // the client reads an end
	HalfToServer   Kind = "half to server"   // the server reads an end
	Stall          Kind = "stall"            // nothing comes through
	Outage         Kind = "outage"           // cut, and nobody there for a while
	TooMany        Kind = "too many"         // cut, and 429 to who comes next
	Unavailable    Kind = "unavailable"      // reset, and 503 to who comes next
	SlowHandshake  Kind = "slow handshake"   // cut, and a server that is slow to take the next
	DelayThenReset Kind = "delay then reset" // late chunks, and then an error
)

// Kinds are all of them.
var Kinds = []Kind{Cut, Reset, HalfToClient, HalfToServer, Stall, Outage, TooMany, Unavailable, SlowHandshake, DelayThenReset}

// A Fault is one thing that goes wrong.
type Fault struct {
	At   time.Duration // since the beginning
	Kind Kind
	For  time.Duration // how long it lasts, where it lasts
}

func (f Fault) String() string { return fmt.Sprintf("%s at %s for %s", f.Kind, f.At, f.For) }

// Plan is an endless row of faults, one about every so often, in which each
// kind has its turn before any comes again. The same seed gives the same plan.
func Plan(seed uint64, every, maxOutage time.Duration) iter.Seq[Fault] {
	return func(yield func(Fault) bool) {
		r := rand.New(rand.NewPCG(seed, seed))
		between := func(from, to time.Duration) time.Duration {
			return (from + time.Duration(r.Float64()*float64(to-from))).Round(time.Millisecond)
		}
		for at := every; ; {
			for _, i := range r.Perm(len(Kinds)) {
				f := Fault{At: at + between(-every/4, every/4), Kind: Kinds[i], For: between(maxOutage/20, maxOutage)}
				if !yield(f) {
					return
				}
				at += every
			}
		}
	}
}

// Do makes a proxy fail, and returns at once. A fault that lasts ends without another call.
func (p *Proxy) Do(f Fault) {
	switch f.Kind {
	case Cut:
		p.Cut()
	case Reset:
		p.Reset()
	case HalfToClient:
		p.HalfClose(ToClient)
	case HalfToServer:
		p.HalfClose(ToServer)
	case Stall:
		p.Stall(f.For)
	case Outage:
		p.Refuse(f.For)
		p.Cut()
	case TooMany:
		p.Answer(1, http.StatusTooManyRequests, http.Header{"Retry-After": {"2"}}, `{"err_code":"TOO_MANY_REQUESTS","err_msg":"Too many requests."}`)
		p.after(f.For, func() { p.Answer(0, 0, nil, "") })
		p.Cut()
	case Unavailable:
		p.Answer(1, http.StatusServiceUnavailable, nil, "")
		p.after(f.For, func() { p.Answer(0, 0, nil, "") })
		p.Reset()
	case SlowHandshake:
		p.SlowHandshake(f.For)
		p.after(f.For, func() { p.SlowHandshake(0) })
		p.Cut()
	case DelayThenReset:
		p.Delay(200 * time.Millisecond)
		p.after(f.For, func() {
			p.Delay(0)
			p.Reset()
		})
	}
}

// after does something in a while, unless the proxy is closed before.
func (p *Proxy) after(d time.Duration, do func()) {
	p.work.Go(func() {
		if hubtest.Sleep(p.ctx, d) {
			do()
		}
	})
}
