package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken/test/act"
)

const (
	limitOf     = 100
	limitWindow = time.Minute
)

// measureActLimit floods a hub with the requests of one key, over HTTP and
// WebSocket at once, and counts what is let through in any minute.
func measureActLimit(ctx context.Context, b *bench) error {
	flooding := 150 * time.Second
	if b.quick {
		flooding = 65 * time.Second
	}
	port, err := quietPort()
	if err != nil {
		return err
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	h, err := b.startActing(ctx, "act-limit", 1, "WS_LISTEN="+address)
	if err != nil {
		return err
	}
	defer h.stop()
	f := &flood{key: h.keys[0]}
	ctx, cancel := context.WithTimeout(ctx, flooding)
	defer cancel()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { f.overHTTP(ctx, h.url) })
		group.Go(func() { f.overWebSocket(ctx, "ws://"+address) })
	}
	group.Wait()
	if err := errors.Join(f.errs...); err != nil {
		return fmt.Errorf("%w %s", err, h.logs)
	}
	most, fewest, slack := f.windows(limitWindow)
	b.rows.add("requests of one key let through in any 60 s, at most", "max", limitOf, float64(most), "",
		fmt.Sprintf("flooded with %d over HTTP and WebSocket for %.0f s; only what was surely within 60 s is counted", f.asked, flooding.Seconds()))
	b.rows.add("requests of one key let through in any 60 s, at least", "min", limitOf, float64(fewest), "",
		fmt.Sprintf("within %d ms more, for answers on their way; a place was free again after %.3f s at the latest", slack.Milliseconds(), f.again().Seconds()))
	return nil
}

// A flood asks as often as it can with one key. The hub lets a request through
// at some moment between sending it and its answer, which is all that anybody
// outside can know.
type flood struct {
	key string

	mu       sync.Mutex
	asked    int
	sent     []time.Duration // of those that were let through; since the first
	answered []time.Duration
	asking   []time.Duration // when anybody asked anything
	slowest  time.Duration
	begun    time.Time
	errs     []error
}

// ask makes one request by the given means and keeps what came of it. It
// tells whether to go on.
func (f *flood) ask(ctx context.Context, by func() (*act.RPCError, error)) bool {
	sent := time.Now()
	refused, err := by()
	answered := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	if f.begun.IsZero() {
		f.begun = sent
	}
	if err == nil && refused != nil && (refused.Code != http.StatusTooManyRequests || refused.Message != "Rate limit exceeded") {
		err = refused
	}
	if err != nil {
		f.errs = append(f.errs, fmt.Errorf("request %d: %w", f.asked, err))
		return false
	}
	f.asked++
	f.slowest = max(f.slowest, answered.Sub(sent))
	f.asking = append(f.asking, sent.Sub(f.begun))
	if refused == nil {
		f.sent, f.answered = append(f.sent, sent.Sub(f.begun)), append(f.answered, answered.Sub(f.begun))
	}
	return true
}

// limited is the tool that is called: it looks at the store and does nothing.
const limited = "action.status"

func (f *flood) overHTTP(ctx context.Context, url string) {
	agent := &act.Agent{URL: url, Key: f.key}
	for f.ask(ctx, func() (*act.RPCError, error) {
		_, err := agent.Call(ctx, limited, map[string]any{"id": "evt_none"})
		if refused, ok := errors.AsType[*act.RPCError](err); ok {
			return refused, nil
		}
		return nil, err
	}) {
	}
}

func (f *flood) overWebSocket(ctx context.Context, url string) {
	conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + f.key}}})
	if err != nil {
		f.mu.Lock()
		f.errs = append(f.errs, err)
		f.mu.Unlock()
		return
	}
	defer conn.CloseNow()
	for n := 0; f.ask(ctx, func() (*act.RPCError, error) {
		var got act.Answer
		if err := conn.Write(ctx, websocket.MessageText, act.Call(n, limited, map[string]any{"id": "evt_none"})); err != nil {
			return nil, err
		}
		_, data, err := conn.Read(ctx)
		if err == nil {
			err = json.Unmarshal(data, &got)
		}
		if err == nil && string(got.ID) != strconv.Itoa(n) {
			err = fmt.Errorf("answer to %s in place of %d", got.ID, n)
		}
		return got.Err, err
	}); n++ {
	}
}

// windows counts what was let through within any stretch of a length. The
// n-th that was let through was so no earlier than the n-th was sent and no
// later than the n-th was answered, each in their own order; most are those
// surely within the stretch. Fewest are those in any stretch that is longer by
// the slack: an answer may have been under way, or nobody been asking, at the
// moment the next would have been let through.
func (f *flood) windows(length time.Duration) (most, fewest int, slack time.Duration) {
	slices.Sort(f.sent)
	slices.Sort(f.answered)
	slices.Sort(f.asking)
	for i := 1; i < len(f.asking); i++ {
		slack = max(slack, f.asking[i]-f.asking[i-1])
	}
	slack += 2 * f.slowest
	fewest = len(f.sent)
	last := f.asking[len(f.asking)-1]
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

// again is the longest from sending a request that was let through to the
// answer to the one that got its place.
func (f *flood) again() (longest time.Duration) {
	for i := limitOf; i < len(f.sent); i++ {
		longest = max(longest, f.answered[i]-f.sent[i-limitOf])
	}
	return longest
}
