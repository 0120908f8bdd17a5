package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken/test/act"
)

// measureActKills has agents ask for appointments, letters and text messages
// while the hub is killed, and counts what reached the servers.
func measureActKills(ctx context.Context, b *bench) error {
	appointments, letters, texts, restarts := 250, 125, 125, 100
	if b.quick {
		appointments, letters, texts, restarts = 40, 20, 20, 12
	}
	kills := restarts + restarts/4
	seed := uint64(time.Now().UnixNano())
	fmt.Fprintf(os.Stderr, "  seed %d\n", seed)
	world, err := openActWorld(ctx, filepath.Join(b.dir, "act-world"), seed)
	if err != nil {
		return err
	}
	defer world.close()
	h, err := b.startActing(ctx, "act-kills", 4, append(world.env(), "RATE_LIMIT=100000")...)
	if err != nil {
		return err
	}
	defer func() { h.stop() }() // whichever it is then
	rng := rand.New(rand.NewPCG(seed, 2))
	restarted := 0
	storm := &act.Storm{
		Wishes: act.Wishes(appointments, letters, texts, rng), Kills: restarts, URL: h.url, Keys: h.keys, Owner: h.owner, Rand: rng,
		Restart: func() error {
			// Every fourth time it is killed also while it takes up what the
			// one before has left.
			if restarted++; restarted%4 == 0 {
				if err := h.stillborn(ctx, time.Duration(rng.Int64N(int64(100*time.Millisecond)))); err != nil {
					return err
				}
			}
			return h.restart(ctx)
		},
	}
	begun := time.Now()
	if err := storm.Run(ctx); err != nil {
		return fmt.Errorf("%w %s", err, h.logs)
	}
	took := time.Since(begun)
	truth, err := world.truth(ctx)
	if err != nil {
		return err
	}
	list, err := h.command(ctx, nil, "actions", "list", "--json", "--limit", "100000")
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(list), &truth.Actions); err != nil {
		return err
	}
	if truth.Audit, err = h.records(ctx); err != nil {
		return err
	}
	j := storm.Judge(*truth)
	for _, fault := range j.Faults[:min(20, len(j.Faults))] {
		fmt.Fprintln(os.Stderr, "  ", fault)
	}
	name := fmt.Sprintf("%d actions, hub killed %d times: ", appointments+letters+texts, kills)
	b.rows.add(name+fmt.Sprintf("appointments exactly once on the CalDAV server, of %d", appointments), "min", float64(appointments),
		float64(j.Done["calendar.create caldav"]), "", fmt.Sprintf("in %.0f s, seed %d", took.Seconds(), seed))
	b.rows.add(name+"effects that came twice", "max", 0, float64(j.Twice), "", "")
	b.rows.add(name+"messages whose outcome is unknown, each shown as that", "", 0, float64(j.Unknown), "",
		fmt.Sprintf("%d of them had arrived; %d mails and %d text messages are done", j.Arrived, j.Done["message.send email"], j.Done["message.send sms"]))
	b.rows.add(name+"actions, decisions or effects lost", "max", 0, float64(j.Lost), "", "")
	b.rows.add(name+fmt.Sprintf("effects without the owner's yes; %d were refused", j.Denied), "max", 0, float64(j.Unbidden), "", "")
	b.rows.add(name+"steps missing in the audit", "max", 0, float64(j.Unaudited), "", fmt.Sprintf("%d records, verified", len(truth.Audit)))
	if rest := len(j.Faults) - j.Twice - j.Lost - j.Unbidden - j.Unaudited; rest > 0 {
		return fmt.Errorf("%d further faults, such as %s", rest, j.Faults[len(j.Faults)-1])
	}
	return nil
}

// An actWorld is the servers that a hub acts upon.
type actWorld struct {
	calendar *act.Radicale
	post     *act.Post
	twilio   *act.Twilio
}

// openActWorld starts them. The servers for messages take their time, so that
// a kill often comes between what they have and what they have said.
func openActWorld(ctx context.Context, dir string, seed uint64) (w *actWorld, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	w = &actWorld{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.calendar, err = act.OpenRadicale(ctx, dir); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	hold := func() {
		mu.Lock()
		d := time.Duration(rng.Int64N(int64(80 * time.Millisecond)))
		mu.Unlock()
		wait(ctx, d)
	}
	if w.post, err = act.OpenPost(dir, hold); err != nil {
		return nil, err
	}
	w.twilio, err = act.OpenTwilio(dir, hold)
	return w, err
}

func (w *actWorld) env() []string {
	return slices.Concat(w.calendar.Env(), w.post.Env(), w.twilio.Env())
}

// truth is what the servers have.
func (w *actWorld) truth(ctx context.Context) (*act.Truth, error) {
	truth := &act.Truth{Effects: map[string]int{}}
	events, err := w.calendar.Counts(ctx)
	if err != nil {
		return nil, err
	}
	maps.Copy(truth.Effects, events)
	for _, book := range []*act.Book{w.post.Book, w.twilio.Book} {
		counts, err := book.Counts()
		if err != nil {
			return nil, err
		}
		for mark, n := range counts {
			truth.Effects[mark] += n
		}
	}
	return truth, nil
}

func (w *actWorld) close() {
	if w.twilio != nil {
		w.twilio.Close()
	}
	if w.post != nil {
		w.post.Close()
	}
	if w.calendar != nil {
		w.calendar.Close()
	}
}
