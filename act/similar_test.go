package act_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// messageTo asks for a message, a second after what came before.
func (w *world) messageTo(to, text string) *hearken.Action {
	w.Helper()
	w.sleep(time.Second)
	return w.propose(w.write(to, text))
}

// similar returns the warnings about messages with much the same text.
func similar(a *hearken.Action) []string {
	var out []string
	for _, w := range a.Warnings {
		if strings.Contains(strings.ToLower(w), "the same text") {
			out = append(out, w)
		}
	}
	return out
}

func (w *world) wantSimilar(a *hearken.Action, want ...string) {
	w.Helper()
	if got := similar(a); !slices.Equal(got, want) {
		w.Errorf("warnings %q, want %q", got, want)
	}
}

// reopenAfter opens the queue again, when so much time has passed.
func (w *world) reopenAfter(d time.Duration) {
	w.Helper()
	w.close()
	w.cfg.Now = func() time.Time { return time.Now().Add(d) }
	w.open()
}

func TestSimilar_States(t *testing.T) {
	run(t, func(w *world) {
		w.contact(hearken.Contact{ID: "rob", Name: "Rob Stone", Emails: []string{"rob@stone.example", "rob@private.example"}, Phones: []string{"+420601123456"}})
		first := w.messageTo("Rob Stone", "See you at 3.")
		w.wantSimilar(first)
		w.wantSimilar(w.messageTo("Bob Novak", "See you at 3.")) // another person
		w.wantSimilar(w.messageTo("Rob Stone", "The report is ready."))

		second := w.messageTo("Rob", "see you at 4")
		w.wantSimilar(second, "Much the same text already waits for your approval ("+first.ID+").")
		w.approve(first)
		third := w.messageTo("rob@private.example", "See you at 3.")
		w.wantSimilar(third,
			"Much the same text to rob@stone.example already waits for your approval ("+second.ID+").",
			"You sent Rob Stone (rob@stone.example) the same text today at 01:00 ("+first.ID+").")
		// At most two, the newest first.
		if got := similar(w.messageTo("Rob Stone", "See you at 5.")); len(got) != 2 || !strings.Contains(got[0], third.ID) || !strings.Contains(got[1], second.ID) {
			w.Errorf("warnings %q", got)
		}
	})
}

func TestSimilar_Ended(t *testing.T) {
	run(t, func(w *world) {
		denied := w.messageTo("Bob", "See you at 3.")
		if _, _, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: denied.ID, Digest: denied.Digest, By: "owner", From: "terminal"}); err != nil {
			w.Fatal(err)
		}
		w.mail.outcomes = []hearken.Outcome{{Result: hearken.ResultPermanent}, {Result: hearken.ResultUnknown}}
		failed := w.approve(w.messageTo("Bob", "See you at 4."))
		maybe := w.messageTo("Bob", "See you at 5.")
		w.wantSimilar(maybe) // the others never reached anybody
		maybe = w.approve(maybe)
		if failed.State != hearken.ActionFailed || maybe.State != hearken.ActionUnknown {
			w.Fatalf("%s, %s", failed.State, maybe.State)
		}
		w.reopenAfter(24 * time.Hour)
		w.wantSimilar(w.messageTo("Bob", "See you at 6."),
			"Much the same text may have been sent yesterday at 01:00, which nobody knows for sure ("+maybe.ID+").")
		w.reopenAfter(8 * 24 * time.Hour)
		w.wantSimilar(w.messageTo("Bob", "See you at 5."))
	})
}

// comparing counts how often earlier messages are read to be compared.
type comparing struct {
	hearken.Store
	times atomic.Int32
}

func (c *comparing) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	if f.Tool == hearken.MessageSend && f.Target == "" {
		c.times.Add(1)
	}
	return c.Store.Actions(ctx, f)
}

// Of two similar messages at the same time the second one warns. A call that is
// repeated, or refused, is not compared.
func TestSimilar_OncePerAction(t *testing.T) {
	run(t, func(w *world) {
		w.close()
		store := &comparing{Store: w.store}
		w.cfg.Store = store
		w.open()
		warned := make(chan bool)
		for _, text := range []string{"See you at 3.", "See you at three."} {
			go func() {
				a, err := w.queue.Propose(w.Context(), w.message(text))
				warned <- err == nil && strings.Contains(strings.Join(a.Warnings, " "), "already waits for your approval")
			}()
		}
		if a, b := <-warned, <-warned; a == b {
			w.Errorf("warned: %v, %v", a, b)
		}
		w.messageTo("Bob", "See you at 3.")
		for i := range 18 {
			w.messageTo("Bob", fmt.Sprintf("Message %d, about something else", i))
		}
		if _, err := w.queue.Propose(w.Context(), w.message("one too many")); hearken.CodeOf(err) != hearken.DailyLimit {
			w.Errorf("one too many: %v", err)
		}
		if n := store.times.Load(); n != 20 {
			w.Errorf("compared %d times", n)
		}
	})
}

// A waiting message counts whoever asked for it.
func TestSimilar_OtherKey(t *testing.T) {
	run(t, func(w *world) {
		key, _ := hearken.NewKey("phone", time.Now(), nil)
		if err := w.store.SaveKey(w.Context(), &key); err != nil {
			w.Fatal(err)
		}
		first := w.messageTo("Bob", "Lunch is at one.")
		again := w.propose(act.Request{Principal: key.ID, Tool: hearken.MessageSend, Message: &act.MessageArgs{To: "Bob", Text: "Lunch is at one."}})
		w.wantSimilar(again, "The same text already waits for your approval ("+first.ID+").")
	})
}

func TestPropose_Own(t *testing.T) {
	run(t, func(w *world) {
		w.contact(hearken.Contact{ID: "ada", Name: "Ada Lovelace", Emails: []string{"ada@example.org", "office@example.org"}, Me: true})
		w.contact(hearken.Contact{ID: "carol", Name: "Carol Roe", Emails: []string{"office@example.org"}})
		for to, own := range map[string]bool{
			"me": true, "ada@example.org": true, "ntfy": true, "office@example.org": false, "webhook": false, "Bob": false, "new@example.org": false,
		} {
			if a := w.messageTo(to, "The washing is done."); a.Message.Own != own {
				w.Errorf("%s: %+v", to, a.Message)
			}
		}
		sent := w.approve(w.messageTo("me", "The oven is hot."))
		w.sleep(time.Hour)
		w.wantSimilar(w.messageTo("ada@example.org", "The oven is hot!"), "You sent yourself much the same text today at 01:00 ("+sent.ID+").")
	})
}
