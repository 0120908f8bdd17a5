package act

import (
	"context"
	"errors"

	"github.com/hearken-dev/hearken"
)

// A Decider is an owner somewhere: at a terminal ([Owner]), at the page
// ([Page]), or in a script.
type Decider interface {
	Decide(ctx context.Context, a *hearken.Action, allow bool) (decided bool, err error)
}

// A Racer is one of several who decide about the same action.
type Racer struct {
	From  string // as the hub will call the place
	By    Decider
	Allow bool
	Wait  func() // before the decision; nil for at once
}

// Race lets all decide at the same time, and returns those who were told that
// it was they who decided.
func Race(ctx context.Context, a *hearken.Action, racers []Racer) (won []Racer, err error) {
	type result struct {
		won bool
		err error
	}
	results := make([]chan result, len(racers))
	start := make(chan struct{})
	for i, r := range racers {
		results[i] = make(chan result, 1)
		go func() {
			<-start
			if r.Wait != nil {
				r.Wait()
			}
			decided, err := r.By.Decide(ctx, a, r.Allow)
			results[i] <- result{decided, err}
		}()
	}
	close(start)
	var errs []error
	for i, r := range racers {
		got := <-results[i]
		errs = append(errs, got.err)
		if got.won {
			won = append(won, r)
		}
	}
	return won, errors.Join(errs...)
}
