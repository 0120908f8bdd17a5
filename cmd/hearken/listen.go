package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/hearken-dev/hearken"
)

type listenCmd struct {
	Provider string `placeholder:"ENGINE" help:"Engine to use. Default: the offline one, or the one that TRANSCRIPTION_PROVIDER names."`
	Language string `short:"l" help:"Spoken language. Default: DEFAULT_LANGUAGE."`
	Echo     bool   `help:"Also show echo: the other side's words as your microphone picked them up."`
}

const (
	// listenWait is how long one request waits for captions.
	listenWait = 20 * time.Second
	// captionInterval is the least time between two updates of the captions.
	captionInterval = 100 * time.Millisecond
	// meterInterval is the time between two updates of levels and lag.
	meterInterval = 500 * time.Millisecond
)

// Run shows captions until the capture ends. If the capture was already running,
// it continues afterwards.
func (c *listenCmd) Run(ctx context.Context, p *program) error {
	l := &captureFollower{screen: p.captions(), echo: c.Echo, nextLine: 1}
	disconnect, err := l.connect(ctx, p.connectLasting)
	if err != nil {
		return err
	}
	defer func() { disconnect() }()
	before, err := l.scribe.Status(ctx)
	if err != nil {
		return err
	}
	st, err := l.scribe.Start(ctx, p.captureRequest(c.Provider, c.Language))
	if err != nil {
		return err
	}
	if l.session = st.Session; before.Running && before.Session == st.Session {
		l.nextLine = 0 // start with the newest entries
		fmt.Fprintf(p.stderr, "This capture has been running since %s.\n", st.Since.Local().Format(time.DateTime))
	}
	for _, note := range st.Notes {
		fmt.Fprintln(p.stderr, note)
	}
	err = l.follow(ctx)
	for hubLost(err) && ctx.Err() == nil { // another hub may continue the capture
		disconnect()
		if disconnect, err = l.connect(ctx, p.reconnect); err != nil {
			disconnect = func() {}
			break
		}
		l.screen.remark("the hub has changed")
		err = l.follow(ctx)
	}
	if !errors.Is(err, context.Canceled) {
		return err
	}
	// Ctrl-C: the old connections may still wait for an answer, so use a new one.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*closeTimeout)
	defer cancel()
	return p.withScribe(ctx, false, func(s hearken.Scribe) error {
		if l.scribe = s; before.Running {
			fmt.Fprintf(p.stderr, "The capture is still running. To stop it: %s scribe stop\n", executable())
		} else if err := l.finish(ctx); err != nil {
			return err
		} else if remark := l.heard.remark(); remark != "" {
			fmt.Fprintln(p.stderr, remark)
		}
		fmt.Fprintf(p.stderr, "Saved as session %s. To read it: %s show %s\n", l.session, executable(), l.session)
		return nil
	})
}

// hubLost reports whether an error means that the hub has stopped, or is about
// to.
func hubLost(err error) bool {
	code := hearken.CodeOf(err)
	return code == hearken.Busy || err != nil && code == "" && !errors.Is(err, context.Canceled)
}

// connect opens two connections: one waits for words while the other reads the
// meter.
func (l *captureFollower) connect(ctx context.Context, dial func(context.Context) (*client, error)) (disconnect func(), err error) {
	words, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	levels, err := dial(ctx)
	if err != nil {
		words.close()
		return nil, err
	}
	l.scribe, l.meter = &remoteScribe{words.conn}, (&remoteScribe{levels.conn}).meter
	return func() {
		words.close()
		levels.close()
	}, nil
}

// captions returns the captions on standard output.
func (p *program) captions() *captions {
	c := &captions{w: p.stdout, width: func() int { return 0 }}
	if f, ok := p.stdout.(*os.File); ok && isTerminal(f) {
		c.width = func() int {
			w, _, err := term.GetSize(int(f.Fd()))
			if err != nil || w < 20 {
				return 80
			}
			return w
		}
		c.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return c
}

// A captureFollower shows one capture as live captions.
type captureFollower struct {
	scribe   hearken.Scribe
	meter    func(context.Context) (*meter, error)
	screen   *captions
	echo     bool
	session  string
	nextLine int
	heard    heard
}

// follow shows captions and the meter until the capture ends, or ctx does.
func (l *captureFollower) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- l.showMeter(ctx, cancel) }()
	err := l.showCaptions(ctx)
	cancel()
	if ended := <-watched; ended != nil && !errors.Is(ended, context.Canceled) {
		err = ended
	}
	l.screen.clear()
	return err
}

// showCaptions shows captions as they come.
func (l *captureFollower) showCaptions(ctx context.Context) error {
	tick := time.NewTicker(captionInterval)
	defer tick.Stop()
	for {
		req := hearken.TailRequest{Session: l.session, N: 500, SinceLine: l.nextLine, Wait: listenWait, Echo: l.echo}
		if l.nextLine == 0 {
			req.N = 10
		}
		page, err := l.scribe.Tail(ctx, req)
		if err != nil {
			return err
		}
		l.show(page)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// show shows a page of entries.
func (l *captureFollower) show(page *hearken.ScribePage) {
	var confirmed, unconfirmed []hearken.Segment
	for _, seg := range page.Entries {
		if seg.Status == hearken.Unconfirmed {
			unconfirmed = append(unconfirmed, seg)
		} else {
			confirmed = append(confirmed, seg)
		}
	}
	l.nextLine = page.Next
	l.heard.add(confirmed)
	l.screen.show(confirmed, unconfirmed)
}

// showMeter shows levels and lag. When the capture has ended, it calls end.
func (l *captureFollower) showMeter(ctx context.Context, end context.CancelFunc) error {
	tick := time.NewTicker(meterInterval)
	defer tick.Stop()
	defer end()
	for {
		m, err := l.meter(ctx)
		if err != nil {
			return err
		}
		if !m.Running {
			return hearken.Errorf(hearken.SessionAlreadyStopped, "%s", strings.Join(append(m.Notes, "The capture has ended."), " ")).
				WithTry("hearken show %s", l.session)
		}
		if m.Session != l.session { // somebody else started a new one
			l.screen.remark("session " + m.Session + " began")
			return hearken.Errorf(hearken.SessionAlreadyStopped, "The capture continues in session %s.", m.Session).WithTry("hearken listen")
		}
		l.screen.status(m)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// finish stops the capture and shows its last words.
func (l *captureFollower) finish(ctx context.Context) error {
	if _, err := l.scribe.Stop(ctx); err != nil && hearken.CodeOf(err) != hearken.SessionAlreadyStopped {
		return err
	}
	page, err := l.scribe.Tail(ctx, hearken.TailRequest{Session: l.session, N: tailAll, SinceLine: max(1, l.nextLine), Filter: hearken.OnlySpeech, Echo: l.echo})
	if err == nil {
		l.show(page)
	}
	l.screen.clear()
	return err
}
