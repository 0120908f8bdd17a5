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
	Echo bool `help:"Also show echo: the other side's words as your microphone picked them up."`
}

const (
	// listenWait is how long one look for captions waits for them.
	listenWait = 20 * time.Second
	// readEvery is how often captions are shown anew at most.
	readEvery = 100 * time.Millisecond
	// meterEvery is how often levels and lag are shown anew.
	meterEvery = 500 * time.Millisecond
)

// Run shows what is said until the capture ends. One that was running before
// goes on afterwards.
func (c *listenCmd) Run(ctx context.Context, p *program) error {
	l := &listening{screen: p.captions(), echo: c.Echo, next: 1}
	hang, err := l.connect(ctx, func(ctx context.Context) (*client, error) { return p.joinScribe(ctx, true) })
	if err != nil {
		return err
	}
	defer func() { hang() }()
	before, err := l.scribe.Status(ctx)
	if err != nil {
		return err
	}
	st, err := l.scribe.Start(ctx)
	if err != nil {
		return err
	}
	if l.session = st.Session; before.Running && before.Session == st.Session {
		l.next = 0 // from the newest entries on
		fmt.Fprintf(p.stderr, "This capture has been running since %s.\n", st.Since.Local().Format(time.DateTime))
	}
	for _, note := range st.Notes {
		fmt.Fprintln(p.stderr, note)
	}
	err = l.follow(ctx)
	for lost(err) && ctx.Err() == nil { // another hub may have taken over, and the capture with it
		hang()
		if hang, err = l.connect(ctx, p.rejoinScribe); err != nil {
			hang = func() {}
			break
		}
		l.screen.say("the hub has changed")
		err = l.follow(ctx)
	}
	if !errors.Is(err, context.Canceled) {
		return err
	}
	// Told to end: the connections may still wait for what nobody reads.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*closeTimeout)
	defer cancel()
	return p.withScribe(ctx, false, func(s hearken.Scribe) error {
		if l.scribe = s; before.Running {
			fmt.Fprintf(p.stderr, "The capture is still running. To stop it: %s scribe stop\n", executable())
		} else if err := l.finish(ctx); err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "Saved as session %s. To read it: %s show %s\n", l.session, executable(), l.session)
		return nil
	})
}

// lost tells whether the hub has gone, or is about to.
func lost(err error) bool {
	code := hearken.CodeOf(err)
	return code == hearken.Busy || err != nil && code == "" && !errors.Is(err, context.Canceled)
}

// connect makes the two connections that listening needs: one waits for words
// while the other looks how the capture is doing.
func (l *listening) connect(ctx context.Context, join func(context.Context) (*client, error)) (hang func(), err error) {
	talk, err := join(ctx)
	if err != nil {
		return nil, err
	}
	look, err := join(ctx)
	if err != nil {
		talk.close()
		return nil, err
	}
	l.scribe, l.meter = &remoteScribe{talk.conn}, (&remoteScribe{look.conn}).meter
	return func() {
		talk.close()
		look.close()
	}, nil
}

// captions is where this program shows what is said.
func (p *program) captions() *captions {
	c := &captions{w: p.stdout, width: func() int { return 0 }}
	if f, ok := p.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
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

// listening follows one capture.
type listening struct {
	scribe  hearken.Scribe
	meter   func(context.Context) (*meter, error)
	screen  *captions
	echo    bool
	session string
	next    int
}

// follow shows what is said until the capture ends, or ctx does.
func (l *listening) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- l.watch(ctx, cancel) }()
	err := l.read(ctx)
	cancel()
	if ended := <-watched; ended != nil && !errors.Is(ended, context.Canceled) {
		err = ended
	}
	l.screen.clear()
	return err
}

// read shows captions as they come.
func (l *listening) read(ctx context.Context) error {
	breath := time.NewTicker(readEvery)
	defer breath.Stop()
	for {
		req := hearken.TailRequest{Session: l.session, N: 500, SinceLine: l.next, Wait: listenWait, Echo: l.echo}
		if l.next == 0 {
			req.N = 10
		}
		page, err := l.scribe.Tail(ctx, req)
		if err != nil {
			return err
		}
		l.show(page)
		select { // eyes are not faster
		case <-breath.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *listening) show(page *hearken.ScribePage) {
	var settled, open []hearken.Segment
	for _, seg := range page.Entries {
		if seg.Status == hearken.Unconfirmed {
			open = append(open, seg)
		} else {
			settled = append(settled, seg)
		}
	}
	l.next = page.Next
	l.screen.show(settled, open)
}

// watch shows levels and lag, and ends the reading when the capture has ended
// by itself.
func (l *listening) watch(ctx context.Context, end context.CancelFunc) error {
	tick := time.NewTicker(meterEvery)
	defer tick.Stop()
	for {
		m, err := l.meter(ctx)
		if err != nil {
			end()
			return err
		}
		if !m.Running {
			end()
			return hearken.Errorf(hearken.SessionAlreadyStopped, "%s", strings.Join(append(m.Notes, "The capture has ended."), " ")).
				WithTry("hearken show %s", l.session)
		}
		if m.Session != l.session { // somebody else began a new one
			l.screen.say("session " + m.Session + " began")
			end()
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
func (l *listening) finish(ctx context.Context) error {
	if _, err := l.scribe.Stop(ctx); err != nil && hearken.CodeOf(err) != hearken.SessionAlreadyStopped {
		return err
	}
	page, err := l.scribe.Tail(ctx, hearken.TailRequest{Session: l.session, N: tailAll, SinceLine: max(1, l.next), Filter: hearken.OnlySpeech, Echo: l.echo})
	if err == nil {
		l.show(page)
	}
	l.screen.clear()
	return err
}
