package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/test/deepgramtest"
)

// A relayLoad sends audio over many connections to a process that relays it.
type relayLoad struct {
	addresses  []string
	pid        int           // of the process
	warm, span time.Duration // only the second is measured
	audio      []byte        // each connection begins at another position

	cores    float64 // that the process used
	resident int64   // bytes of memory, the median of the last seconds
	mu       sync.Mutex
	measure  bool
	delays   durations // of finals
}

// The script that is spoken, by seed and seconds.
const scriptSeed, scriptSeconds = 1, 180

// linear16 describes the audio that is sent.
const linear16 = "&encoding=linear16&sample_rate=16000&channels=1"

// benchRelay relays sessions to a stand-in for Deepgram, in turns through the
// hub and through a relay that does nothing else, and measures what each needs.
func benchRelay(b *bench) {
	const sessions = 200
	span, rounds := pick(b, 30*time.Second, 10*time.Second), pick(b, 3, 1)
	_, pcm := deepgramtest.Script(scriptSeed, scriptSeconds)
	sound := audio.AppendBytes(nil, pcm)
	deepgram, _ := b.serve("deepgram")
	bare, barePID := b.serve("bare-relay", deepgram)
	var ratios, p99s, p50s, bareP99s, memory, ours, theirs []float64
	finals := 0
	for range rounds {
		simple := relayLoad{warm: 5 * time.Second, span: span, audio: sound, pid: barePID}
		simple.addresses = slices.Repeat([]string{"ws" + strings.TrimPrefix(bare, "http") + "/v1/listen?endpointing=300"}, sessions)
		simple.run(b)

		h := b.hub(b.dataDir(), "TRANSCRIPTION_PROVIDER=deepgram", "DEEPGRAM_API_KEY=key", "DEEPGRAM_BASE_URL="+deepgram, "DEFAULT_LANGUAGE=en")
		// What the first session needs is not the price of each.
		first := relayLoad{warm: time.Second, span: 5 * time.Second, audio: sound, pid: h.PID()}
		_, first.addresses = startSessions(b, h, 1, linear16)
		first.run(b)
		full := relayLoad{warm: 5 * time.Second, span: span, audio: sound, pid: h.PID()}
		_, full.addresses = startSessions(b, h, sessions, linear16)
		full.run(b)
		h.Stop()

		finals += len(full.delays)
		ratios = append(ratios, simple.cores/full.cores)
		ours, theirs = append(ours, full.cores), append(theirs, simple.cores)
		p50s, p99s = append(p50s, full.delays.ms(0.5)), append(p99s, full.delays.ms(0.99))
		bareP99s = append(bareP99s, simple.delays.ms(0.99))
		memory = append(memory, float64(full.resident-first.resident)/sessions/1024)
	}
	name := fmt.Sprintf("%d relayed sessions", sessions)
	b.report(name+", stand-in's final to sender's final frame, p99", atMost(10), median(p99s), "ms",
		fmt.Sprintf("%s; p50 %.2f ms; bare relay p99 %.1f ms; %d finals", spread(p99s), median(p50s), median(bareP99s), finals))
	b.report(name+", processor time of a bare WebSocket relay divided by ours", atLeast(0.7), median(ratios), "",
		fmt.Sprintf("%s; bare %.3f core, ours %.3f core", spread(ratios), median(theirs), median(ours)))
	b.report(name+", memory for each, spool included", atMost(256), median(memory), "KiB", spread(memory))
}

// run sends the audio over all connections in real time and measures the
// process that takes it.
func (r *relayLoad) run(b *bench) {
	const size = 3200 // bytes of 100 ms
	l := &audioLoad{frame: 100 * time.Millisecond, length: r.warm + r.span}
	l.audio = func(sender, frame int) []byte {
		at := (sender*7*size%(len(r.audio)/2) + frame*size) % (len(r.audio) - size)
		at -= at % size
		return r.audio[at : at+size]
	}
	l.message = func(data []byte, at time.Time) {
		if d, ok := stampAge(data, at); ok {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.measure {
				r.delays = append(r.delays, d)
			}
		}
	}
	l.start(b, r.addresses)
	b.sleep(r.warm)
	r.mu.Lock()
	r.measure = true
	r.mu.Unlock()
	before, began := b.cpuTime(r.pid), time.Now()
	r.resident = lastMemory(b, r.pid, began.Add(r.span))
	r.cores = (b.cpuTime(r.pid) - before).Seconds() / time.Since(began).Seconds()
	l.group.Wait()
	l.close()
	b.check(errors.Join(l.errs...))
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.delays) < len(r.addresses) {
		b.Fatalf("only %d finals for %d sessions", len(r.delays), len(r.addresses))
	}
	r.delays = slices.Clone(r.delays)
}

// stampAge is how long ago the stand-in sent the final in a message.
func stampAge(data []byte, now time.Time) (time.Duration, bool) {
	_, rest, ok := bytes.Cut(data, []byte(deepgramtest.StampMark))
	if !ok {
		return 0, false
	}
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	sent, err := strconv.ParseInt(string(rest[:max(end, 0)]), 10, 64)
	return now.Sub(time.Unix(0, sent)), err == nil
}

// lastMemory waits until then and returns the median of the memory that a
// process had in the last five seconds.
func lastMemory(b *bench, pid int, until time.Time) int64 {
	var seen []int64
	for left := time.Until(until); left > 0; left = time.Until(until) {
		b.sleep(min(left, 200*time.Millisecond))
		if left <= 5*time.Second {
			seen = append(seen, b.memory(pid, "VmRSS"))
		}
		b.check(b.ctx.Err())
	}
	slices.Sort(seen)
	return seen[len(seen)/2]
}

// serveDeepgram is a stand-in for Deepgram whose finals are stamped.
func serveDeepgram(ctx context.Context, _ []string) error {
	script, _ := deepgramtest.Script(scriptSeed, scriptSeconds)
	return serveLoopback(ctx, &deepgramtest.Server{Script: script, Every: time.Second, Stamp: true})
}

// serveBareRelay passes WebSocket messages on to a server and back, and does
// nothing else: no session, no words, nothing stored.
func serveBareRelay(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("want the address of the server")
	}
	server := "ws" + strings.TrimPrefix(args[0], "http")
	return serveLoopback(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer client.CloseNow()
		behind, _, err := websocket.Dial(r.Context(), server+r.URL.RequestURI(), nil)
		if err != nil {
			return
		}
		defer behind.CloseNow()
		go copyMessages(behind, client)
		copyMessages(client, behind)
	}))
}

// copyMessages copies messages from one connection to the other until one ends.
func copyMessages(from, to *websocket.Conn) {
	defer to.CloseNow()
	from.SetReadLimit(1 << 20)
	var buf bytes.Buffer
	ctx := context.Background() // another would cost a watcher for each message
	for {
		kind, r, err := from.Reader(ctx)
		if err != nil {
			return
		}
		buf.Reset()
		if _, err := buf.ReadFrom(r); err != nil {
			return
		}
		if to.Write(ctx, kind, buf.Bytes()) != nil {
			return
		}
	}
}
