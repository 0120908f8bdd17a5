package act_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// forget removes the quotes of the conversation between two seconds.
func (w *world) forget(from, to float64, want int) {
	w.Helper()
	if n, err := w.queue.ForgetQuotes(w.Context(), conversationID, from, to); err != nil || n != want {
		w.Fatalf("%d actions changed, want %d; %v", n, want, err)
	}
}

func (w *world) stored(a *hearken.Action) *hearken.Action {
	w.Helper()
	got, err := w.queue.Action(w.Context(), a.ID)
	if err != nil {
		w.Fatal(err)
	}
	return got
}

// quotes is what an action quotes, by argument.
func quotes(a *hearken.Action) string {
	var out []string
	for _, e := range a.Evidence {
		out = append(out, e.Arg+": "+e.Quote)
	}
	return strings.Join(out, "; ")
}

// Whatever has become of an action, its quotes go, and nothing else changes.
func TestQueue_ForgetQuotes(t *testing.T) {
	run(t, func(w *world) {
		w.say(hearken.Microphone, "xylophone please tell Bob that we meet at noon")
		w.say(hearken.System, "xylophone and tell Bob the door is open")
		done := w.approve(w.propose(w.message("we meet at noon")))
		denied := w.propose(w.message("the door is open"))
		if _, _, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: denied.ID, Digest: denied.Digest, By: "owner", From: "page"}); err != nil {
			w.Fatal(err)
		}
		pending := w.propose(w.message("please, we meet at noon"))
		unsaid := w.propose(w.message("something else entirely"))
		echo := w.stored(denied)
		echo.Evidence[1].Echo, echo.Evidence[1].Overlap = true, true
		if saved, err := w.store.SaveAction(w.Context(), echo); err != nil || !saved {
			w.Fatal(saved, err)
		}
		all := []*hearken.Action{w.stored(done), w.stored(denied), w.stored(pending)}
		for _, a := range all {
			if !strings.Contains(quotes(a), "xylophone") {
				w.Fatalf("%s quotes %s", a.State, quotes(a))
			}
		}
		changes := w.queue.Changes()
		w.forget(math.Inf(-1), math.Inf(1), 3+1) // of the last, the recipient was named
		select {
		case <-changes:
		default:
			w.Error("the page is not told")
		}
		for _, before := range all {
			after := w.stored(before)
			if text, err := json.Marshal(after); err != nil || strings.Contains(string(text), "xylophone") || strings.Contains(string(text), conversationID+`","segment`) {
				w.Errorf("%s, %v", text, err)
			}
			want := *before
			want.Version++
			want.Evidence = nil
			for _, e := range before.Evidence {
				want.Evidence = append(want.Evidence, hearken.Evidence{Arg: e.Arg, Source: e.Source, Echo: e.Echo, Overlap: e.Overlap, Deleted: true})
			}
			if diff := cmp.Diff(&want, after); diff != "" {
				w.Errorf("%s changed (-before +after):\n%s", before.State, diff)
			}
		}
		if e := w.stored(unsaid).Evidence; e[1].Deleted || !e[0].Deleted {
			w.Errorf("words that nobody said were deleted: %+v", e)
		}
		if got := w.approve(pending); got.State != hearken.ActionDone {
			w.Errorf("what was shown cannot be approved any more: %+v", got)
		}
		w.forget(math.Inf(-1), math.Inf(1), 0)
	})
}

// Only what was deleted goes. An entry that is a part of a quote counts, even if
// it is not the one with most of the words.
func TestQueue_ForgetQuotes_Part(t *testing.T) {
	run(t, func(w *world) {
		w.conversation.segments = []hearken.Segment{
			spoken(1, hearken.Microphone, 10, 13, "the blue garden party is on"),
			spoken(2, hearken.System, 50, 60, "another red meadow dinner"),
			spoken(3, hearken.System, 52, 54, "with a fountain"), // it ends before the other
		}
		early := w.propose(w.message("the blue garden party is on"))
		late := w.propose(w.message("another red meadow dinner with a fountain"))
		if got := quotes(w.stored(late)); !strings.Contains(got, "meadow dinner") || !strings.Contains(got, "with a fountain") {
			w.Fatalf("the test does not quote two entries: %s", got)
		}
		w.forget(60, 100, 0)
		w.forget(58, 60, 1)
		if got := quotes(w.stored(late)); strings.Contains(got, "dinner") {
			w.Errorf("late: %s", got)
		}
		if got := quotes(w.stored(early)); !strings.Contains(got, "garden") {
			w.Errorf("early: %s", got)
		}
	})
}

func spoken(line int, side hearken.Origin, from, to float64, text string) hearken.Segment {
	return hearken.Segment{
		ID: string(side) + text[:4], Line: line, Origin: side, Status: hearken.Confirmed, Text: text, IsFinal: true,
		StartTime: from, EndTime: to, Timestamp: conversationStart().Add(time.Duration(from * float64(time.Second))),
	}
}

// A gated conversation is read, and only later are the readers let go.
type gated struct {
	*conversation
	reading, proceed chan struct{}
}

func (g *gated) Segments(ctx context.Context, id string, words bool, yield func([]hearken.Segment) error) error {
	return g.conversation.Segments(ctx, id, words, func(all []hearken.Segment) error {
		g.reading <- struct{}{}
		<-g.proceed
		return yield(all)
	})
}

// Words that were read before they were deleted are not stored afterwards.
func TestQueue_ForgetQuotes_WhileProposing(t *testing.T) {
	run(t, func(w *world) {
		w.say(hearken.Microphone, "xylophone please tell Bob that we meet at noon")
		g := &gated{w.conversation, make(chan struct{}), make(chan struct{})}
		w.close()
		w.cfg.Transcripts = g
		w.open()
		var both sync.WaitGroup
		both.Go(func() { w.propose(w.message("we meet at noon")) })
		<-g.reading
		w.conversation.mu.Lock()
		w.conversation.segments = nil
		w.conversation.mu.Unlock()
		both.Go(func() { w.forget(math.Inf(-1), math.Inf(1), 1) })
		for range 1000 {
			runtime.Gosched() // a deletion that does not wait comes too early
		}
		go func() {
			for range g.reading {
			}
		}()
		close(g.proceed)
		both.Wait()
		close(g.reading)
		all, err := w.queue.Actions(w.Context(), hearken.ActionFilter{})
		if err != nil || len(all) != 1 || strings.Contains(quotes(&all[0]), "xylophone") {
			w.Errorf("%d actions, %v, %s", len(all), err, quotes(&all[0]))
		}
	})
}

// A proposal that hangs does not keep a deletion, nor another proposal, for
// longer than they may take.
func TestQueue_ForgetQuotes_Timeout(t *testing.T) {
	run(t, func(w *world) {
		w.say(hearken.Microphone, "xylophone please tell Bob that we meet at noon")
		g := &gated{w.conversation, make(chan struct{}), make(chan struct{})}
		w.close()
		w.cfg.Transcripts = g
		w.open()
		var hanging sync.WaitGroup
		hanging.Go(func() { w.propose(w.message("we meet at noon")) })
		<-g.reading
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if n, err := w.queue.ForgetQuotes(ctx, conversationID, math.Inf(-1), math.Inf(1)); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
				w.Errorf("%d actions changed, %v", n, err)
			}
		})
		waiting.Go(func() {
			if a, err := w.queue.Propose(ctx, w.message("we leave at midnight")); !errors.Is(err, context.DeadlineExceeded) {
				w.Errorf("%v, %v", a, err)
			}
		})
		waiting.Wait()
		go func() {
			for range g.reading {
			}
		}()
		close(g.proceed)
		hanging.Wait()
		close(g.reading)
		w.forget(math.Inf(-1), math.Inf(1), 1)
	})
}

// Quotes that a deletion left, because the hub ended or is of an earlier
// version, go as well.
func TestQueue_ForgetMissing(t *testing.T) {
	run(t, func(w *world) {
		w.say(hearken.Microphone, "xylophone we meet at noon")
		w.say(hearken.Microphone, "trumpet we leave at midnight")
		first, second := w.propose(w.message("we meet at noon")), w.propose(w.message("we leave at midnight"))
		sweep := func(want int, exists func(line int) bool, fail error) {
			w.Helper()
			n, err := w.queue.ForgetMissing(w.Context(), func(_ context.Context, session string, line int) (bool, error) {
				if session != conversationID {
					w.Errorf("asked for %s", session)
				}
				return exists(line), fail
			})
			if n != want || !errors.Is(err, fail) {
				w.Errorf("%d actions changed, want %d; %v", n, want, err)
			}
		}
		sweep(0, func(int) bool { return true }, nil)
		sweep(0, func(int) bool { return false }, errors.New("no answer"))
		sweep(1, func(line int) bool { return line != 1 }, nil)
		sweep(0, func(line int) bool { return line != 1 }, nil)
		if got := quotes(w.stored(first)); strings.Contains(got, "xylophone") || !w.stored(first).Evidence[1].Deleted {
			w.Errorf("first: %s", got)
		}
		if got := quotes(w.stored(second)); !strings.Contains(got, "trumpet") {
			w.Errorf("second: %s", got)
		}
	})
}
