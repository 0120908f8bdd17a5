package act

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken/test/hubtest"
)

const (
	limit       = 100 // requests of one key
	limitWindow = time.Minute
)

// TestLimit floods a hub with the requests of one key, over HTTP and WebSocket
// at once: within any minute exactly so many are let through.
// HEARKEN_TEST_FLOOD_SECONDS asks for more than three seconds.
func TestLimit(t *testing.T) {
	t.Parallel()
	h, url := startWithWebSocket(t)
	_, keys := setUp(t, h, 1)
	seconds := size(t, "HEARKEN_TEST_FLOOD_SECONDS", 3)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	f := &flood{key: keys[0]}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { f.overHTTP(ctx, h.URL) })
		group.Go(func() { f.overWebSocket(ctx, url) })
	}
	group.Wait()
	if err := errors.Join(f.errs...); err != nil {
		t.Fatalf("%v\n%s", err, h.Log())
	}
	most, fewest, slack := f.windows(limitWindow)
	if most > limit || fewest < limit {
		t.Errorf("within a minute %d to %d of %d requests were let through, slack %s", fewest, most, f.sentAll, slack)
	}
	t.Logf("%d of %d requests within a minute, slack %s", most, f.sentAll, slack)
}

// A flood makes requests as fast as it can with one key. The hub lets a request
// through at some moment between when it is sent and when it is answered: more
// cannot be known from outside.
type flood struct {
	key string

	mu       sync.Mutex
	began    time.Time
	sentAll  int
	attempts []time.Duration // when each was sent, since the first
	sent     []time.Duration // the same of those that were let through
	answered []time.Duration // when those were answered
	slowest  time.Duration
	errs     []error
}

// try makes one request and records it. It reports whether to go on.
func (f *flood) try(ctx context.Context, do func() error) bool {
	sent := time.Now()
	err := do()
	answered := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	if f.began.IsZero() {
		f.began = sent
	}
	refusal, refused := errors.AsType[*hubtest.RPCError](err)
	refused = refused && refusal.Code == http.StatusTooManyRequests && refusal.Message == "Rate limit exceeded"
	if err != nil && !refused {
		f.errs = append(f.errs, fmt.Errorf("request %d: %w", f.sentAll, err))
		return false
	}
	f.sentAll++
	f.slowest = max(f.slowest, answered.Sub(sent))
	f.attempts = append(f.attempts, sent.Sub(f.began))
	if !refused {
		f.sent, f.answered = append(f.sent, sent.Sub(f.began)), append(f.answered, answered.Sub(f.began))
	}
	return true
}

// The tool that is called reads the store and changes nothing.
const limitedTool = "action.status"

var limitedArgs = map[string]any{"id": "evt_none"}

func (f *flood) overHTTP(ctx context.Context, url string) {
	agent := &Agent{URL: url, Key: f.key}
	for f.try(ctx, func() error {
		_, err := agent.Call(ctx, limitedTool, limitedArgs)
		return err
	}) {
	}
}

func (f *flood) overWebSocket(ctx context.Context, url string) {
	conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + f.key}}})
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errs = append(f.errs, err)
		return
	}
	defer conn.CloseNow()
	for n := 0; f.try(ctx, func() error { return callOverWebSocket(ctx, conn, n) }); n++ {
	}
}

func callOverWebSocket(ctx context.Context, conn *websocket.Conn, id int) error {
	if err := conn.Write(ctx, websocket.MessageText, hubtest.Request(id, limitedTool, limitedArgs)); err != nil {
		return err
	}
	_, data, err := conn.Read(ctx)
	if err != nil {
		return err
	}
	var reply hubtest.Reply
	if err := json.Unmarshal(data, &reply); err != nil {
		return err
	}
	if string(reply.ID) != fmt.Sprint(id) {
		return fmt.Errorf("reply to %s instead of %d", reply.ID, id)
	}
	if reply.Error != nil {
		return reply.Error
	}
	return nil
}

// windows counts what was let through within any window of a length. The n-th
// was let through no earlier than the n-th was sent and no later than the n-th
// was answered. So most counts those that were surely within the window, and
// fewest those in any window that is longer by the slack: a reply may have been
// on its way, or no request have been made, at the moment when the next would
// have been let through. A flood shorter than a window is one window.
func (f *flood) windows(length time.Duration) (most, fewest int, slack time.Duration) {
	slices.Sort(f.sent)
	slices.Sort(f.answered)
	slices.Sort(f.attempts)
	for i := 1; i < len(f.attempts); i++ {
		slack = max(slack, f.attempts[i]-f.attempts[i-1])
	}
	slack += 2 * f.slowest
	fewest = len(f.sent)
	last := f.attempts[len(f.attempts)-1]
	for i := range f.sent {
		end, _ := slices.BinarySearch(f.answered, f.sent[i]+length+1)
		most = max(most, end-i)
		if until := f.sent[i] + length + slack; until <= last {
			end, _ := slices.BinarySearch(f.answered, until)
			fewest = min(fewest, end-i-1)
		}
	}
	return most, fewest, slack
}

// TestFlood_Windows counts where the result is known.
func TestFlood_Windows(t *testing.T) {
	const latency = 5 * time.Millisecond
	for _, tt := range []struct {
		name          string
		first, second int           // let through at the beginning, and later
		after         time.Duration // when later
		most, fewest  int
	}{
		{"Exact", 100, 100, time.Minute + latency, 100, 100},
		{"TooSoon", 100, 100, 59 * time.Second, 200, 100},
		{"TooMany", 101, 100, time.Minute + latency, 101, 100},
		{"TooFew", 100, 99, time.Minute + latency, 100, 99},
		{"TooLate", 100, 100, 61 * time.Second, 100, 0},
	} {
		f := &flood{slowest: latency}
		let := func(n int, at time.Duration) {
			for i := range n {
				sent := at + time.Duration(i)*time.Microsecond
				f.sent, f.answered = append(f.sent, sent), append(f.answered, sent+latency)
			}
		}
		let(tt.first, 0)
		let(tt.second, tt.after)
		for at := time.Duration(0); at < 70*time.Second; at += latency {
			f.attempts = append(f.attempts, at)
		}
		if most, fewest, slack := f.windows(time.Minute); most != tt.most || fewest != tt.fewest {
			t.Errorf("%s: %d to %d with slack %s, want %d to %d", tt.name, fewest, most, slack, tt.fewest, tt.most)
		}
	}
}
