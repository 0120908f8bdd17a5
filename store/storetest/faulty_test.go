package storetest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

func faulty(t *testing.T) *storetest.Faulty {
	t.Helper()
	f := storetest.NewFaulty(storetest.NewMemory())
	t.Cleanup(func() { f.Close() })
	return f
}

var errDown = errors.New("the database is down")

// A faulty store without a fault passes the suite.
func TestFaulty_NoFault(t *testing.T) {
	storetest.Run(t, func(t *testing.T) hearken.Store { return faulty(t) })
}

func TestFaulty_Fail(t *testing.T) {
	f := faulty(t)
	keys := func() error {
		_, err := f.Keys(t.Context())
		return err
	}
	f.Fail(errDown)
	if err := keys(); !errors.Is(err, errDown) {
		t.Errorf("failing: %v", err)
	}
	f.Only("Save")
	if err := keys(); err != nil {
		t.Errorf("failing elsewhere: %v", err)
	}
	f.Only()
	f.FailNext(1, errDown)
	if first, second := keys(), keys(); !errors.Is(first, errDown) || second != nil {
		t.Errorf("failing once: %v, then %v", first, second)
	}
	f.Fail(nil)
	if err := keys(); err != nil {
		t.Errorf("well again: %v", err)
	}
	if n := f.Calls("Keys"); n != 5 {
		t.Errorf("%d calls", n)
	}
}

func TestFaulty_LoseAnswers(t *testing.T) {
	f := faulty(t)
	f.LoseAnswers(errDown)
	if err := f.SaveKey(t.Context(), &hearken.Key{ID: "k"}); !errors.Is(err, errDown) {
		t.Errorf("answer: %v", err)
	}
	f.Fail(nil)
	if keys, err := f.Keys(t.Context()); err != nil || len(keys) != 1 {
		t.Errorf("keys %v, %v", keys, err)
	}
}

// A caller that loses the answer keeps the old version, as with a real store.
func TestFaulty_LoseAnswers_Version(t *testing.T) {
	f := faulty(t)
	f.LoseAnswers(errDown)
	a := &hearken.Action{ID: hearken.NewActionID(hearken.ReminderCreate)}
	if saved, err := f.SaveAction(t.Context(), a); !errors.Is(err, errDown) || saved || a.Version != 0 {
		t.Errorf("action: %t, %v, version %d", saved, err, a.Version)
	}
	alarm := &hearken.Alarm{Action: a.ID}
	if saved, err := f.SaveAlarm(t.Context(), alarm); !errors.Is(err, errDown) || saved || alarm.Version != 0 {
		t.Errorf("alarm: %t, %v, version %d", saved, err, alarm.Version)
	}
	f.Fail(nil)
	if saved, err := f.SaveAction(t.Context(), a); err != nil || saved {
		t.Errorf("again: %t, %v", saved, err)
	}
	if got, err := f.Action(t.Context(), a.ID); err != nil || got.Version != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFaulty_StallAndSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := faulty(t)
		release := f.Stall()
		done := make(chan error, 1)
		go func() {
			_, err := f.Keys(t.Context())
			done <- err
		}()
		synctest.Wait()
		if n := f.Stuck(); n != 1 {
			t.Errorf("%d stuck", n)
		}
		canceled, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := f.Keys(canceled); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stalled: %v", err)
		}
		release()
		if err := <-done; err != nil {
			t.Errorf("released: %v", err)
		}
		f.Slow(time.Minute)
		start := time.Now()
		if _, err := f.Keys(t.Context()); err != nil {
			t.Errorf("slow: %v", err)
		}
		if took := time.Since(start); took != time.Minute { // of the bubble's clock
			t.Errorf("took %v", took)
		}
	})
}
