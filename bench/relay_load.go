package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

// relayLoad is how many sessions are relayed at a time, and for how long.
type relayLoad struct {
	sessions   int
	warm, span time.Duration // the second is measured
	rounds     int
	sound      []byte // each session begins at another place of it
}

// measureRelay relays sessions to a stand-in for Deepgram, in turns through the
// hub and through a relay that does nothing else, and looks at what each needs.
func measureRelay(ctx context.Context, b *bench) error {
	l := relayLoad{sessions: 200, warm: 5 * time.Second, span: 30 * time.Second, rounds: 3}
	if b.quick {
		l.span, l.rounds = 10*time.Second, 1
	}
	_, pcm := newScript(1, 180)
	l.sound = wireSound(pcm)
	standIn, err := startSelf(ctx, standInCommand, "-stamp")
	if err != nil {
		return err
	}
	defer standIn.stop()
	bare, err := startSelf(ctx, bareRelayCommand, standIn.url)
	if err != nil {
		return err
	}
	defer bare.stop()
	var ratios, p99s, p50s, bareP99s, memory, ours, theirs []float64
	finals := 0
	for round := range l.rounds {
		simple, err := l.run(ctx, bare, func(int) (string, error) {
			return "ws" + strings.TrimPrefix(bare.url, "http") + "/v1/listen?endpointing=300", nil
		})
		if err != nil {
			return fmt.Errorf("bare relay: %w", err)
		}
		full, empty, err := b.relayHub(ctx, l, standIn.url, round)
		if err != nil {
			return err
		}
		finals += len(full.delays)
		ratios = append(ratios, simple.cores/full.cores)
		ours, theirs = append(ours, full.cores), append(theirs, simple.cores)
		p50s, p99s = append(p50s, ms(full.delays.at(0.5))), append(p99s, ms(full.delays.at(0.99)))
		bareP99s = append(bareP99s, ms(simple.delays.at(0.99)))
		memory = append(memory, float64(full.resident-empty)/float64(l.sessions)/1024)
	}
	name := fmt.Sprintf("%d relayed sessions", l.sessions)
	b.rows.add(name+", stand-in's final to sender's final frame, p99", "max", 10, median(p99s), "ms",
		fmt.Sprintf("%s; p50 %.2f ms; bare relay p99 %.1f ms; %d finals", spread(p99s), median(p50s), median(bareP99s), finals))
	b.rows.add(name+", processor time of a bare WebSocket relay divided by ours", "min", 0.7, median(ratios), "",
		fmt.Sprintf("%s; bare %.3f core, ours %.3f core", spread(ratios), median(theirs), median(ours)))
	b.rows.add(name+", memory for each, spool included", "max", 256, median(memory), "KiB", spread(memory))
	return nil
}

// relayHub runs the load through a fresh hub, and tells too how much memory the
// hub had before.
func (b *bench) relayHub(ctx context.Context, l relayLoad, provider string, round int) (r *relayed, empty int64, err error) {
	h, err := b.startHub(ctx, filepath.Join(b.dir, fmt.Sprintf("relay-%d", round)),
		"TRANSCRIPTION_PROVIDER=deepgram", "DEEPGRAM_API_KEY=key", "DEEPGRAM_BASE_URL="+provider, "DEFAULT_LANGUAGE=en")
	if err != nil {
		return nil, 0, err
	}
	defer h.stop()
	session := func(int) (string, error) {
		var s struct{ SessionID, WsEndpoint string }
		err := h.call(ctx, "start_transcription", map[string]any{}, &s)
		return s.WsEndpoint + "&encoding=linear16&sample_rate=16000&channels=1", err
	}
	// What the first session ever needs is not the price of each.
	first := l
	first.sessions, first.warm, first.span = 1, time.Second, 5*time.Second
	warm, err := first.run(ctx, h, session)
	if err != nil {
		return nil, 0, err
	}
	r, err = l.run(ctx, h, session)
	if err != nil {
		return nil, 0, fmt.Errorf("%w %s", err, h.logs)
	}
	return r, warm.resident, nil
}

// relayed is what a load needed.
type relayed struct {
	cores    float64
	resident int64 // bytes of memory, the median over the last of it
	delays   sample
}

// run sends the sound over as many connections as there are to be, in real
// time, and looks at the process that takes it.
func (l relayLoad) run(ctx context.Context, p *hub, endpoint func(i int) (string, error)) (*relayed, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conns := make([]*websocket.Conn, l.sessions)
	for i := range conns {
		url, err := endpoint(i)
		if err != nil {
			return nil, err
		}
		if conns[i], _, err = websocket.Dial(ctx, url, nil); err != nil {
			return nil, fmt.Errorf("connection %d: %w", i, err)
		}
		defer conns[i].CloseNow()
		conns[i].SetReadLimit(1 << 20)
	}
	const frame = 100 * time.Millisecond
	begun := time.Now()
	from := begun.Add(l.warm)
	var mu sync.Mutex
	var group sync.WaitGroup
	r := &relayed{}
	errs := make([]error, l.sessions)
	for i, c := range conns {
		go func() {
			for {
				_, data, err := c.Read(ctx)
				now := time.Now()
				if err != nil {
					return
				}
				if d, ok := stampAge(data, now); ok && now.After(from) {
					mu.Lock()
					r.delays = append(r.delays, d)
					mu.Unlock()
				}
			}
		}()
		group.Go(func() {
			// Senders do not start together, and each keeps to its own time.
			offset := frame * time.Duration(i) / time.Duration(l.sessions)
			const size = 3200
			place := i * 7 * size % (len(l.sound) / 2)
			for n := range int((l.warm + l.span) / frame) {
				wait(ctx, time.Until(begun.Add(offset+frame*time.Duration(n))))
				at := (place + n*size) % (len(l.sound) - size)
				at -= at % size
				if errs[i] = c.Write(ctx, websocket.MessageBinary, l.sound[at:at+size]); errs[i] != nil {
					return
				}
			}
		})
	}
	wait(ctx, time.Until(from))
	before, _, err := p.usage()
	if err != nil {
		return nil, err
	}
	marked := time.Now()
	resident, err := p.watchMemory(ctx, from.Add(l.span))
	if err != nil {
		return nil, err
	}
	after, _, err := p.usage()
	if err != nil {
		return nil, err
	}
	r.cores = (after - before).Seconds() / time.Since(marked).Seconds()
	r.resident = resident
	group.Wait()
	mu.Lock()
	defer mu.Unlock()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(r.delays) < l.sessions {
		return nil, fmt.Errorf("only %d finals for %d sessions", len(r.delays), l.sessions)
	}
	r.delays = slices.Clone(r.delays)
	return r, nil
}

// stampAge is how long ago the stand-in sent the final in a message.
func stampAge(data []byte, now time.Time) (time.Duration, bool) {
	_, rest, ok := bytes.Cut(data, []byte(stampMark))
	if !ok {
		return 0, false
	}
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	sent, err := strconv.ParseInt(string(rest[:max(end, 0)]), 10, 64)
	return now.Sub(time.Unix(0, sent)), err == nil
}

// watchMemory waits until then and tells how much memory the process had in the
// last part of it.
func (h *hub) watchMemory(ctx context.Context, until time.Time) (int64, error) {
	var seen []int64
	for left := time.Until(until); left > 0; left = time.Until(until) {
		wait(ctx, min(left, 200*time.Millisecond))
		if left > 5*time.Second {
			continue
		}
		n, err := h.resident()
		if err := errors.Join(err, ctx.Err()); err != nil {
			return 0, err
		}
		seen = append(seen, n)
	}
	slices.Sort(seen)
	return seen[len(seen)/2], nil
}

// resident is how many bytes of memory the process has.
func (h *hub) resident() (int64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(h.cmd.Process.Pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// startSelf runs this program as something else, which prints its address.
func startSelf(ctx context.Context, args ...string) (*hub, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &hub{cmd: exec.CommandContext(ctx, self, args...), logs: &bytes.Buffer{}}
	h.cmd.Stderr = h.logs
	h.cmd.Cancel = func() error { return h.cmd.Process.Signal(syscall.SIGTERM) }
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.stop()
		return nil, fmt.Errorf("%s: %w: %s", args[0], err, h.logs)
	}
	h.url = strings.TrimSpace(line)
	return h, nil
}

// wireSound is samples as they are sent.
func wireSound(pcm []int16) []byte {
	b := make([]byte, 0, 2*len(pcm))
	for _, x := range pcm {
		b = append(b, byte(x), byte(x>>8))
	}
	return b
}
