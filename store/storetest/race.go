package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	racers = 20
	prizes = 50 // what they race for; make bench has more
)

// Race has many decide about the same actions and alarms at once, through one
// store or several that are open on the same data: each change is made by
// exactly one of them, and that one's is what is kept.
func Race(t *testing.T, stores ...hearken.Store) {
	t.Run("Actions", func(t *testing.T) {
		winners := race(t, stores, func(store hearken.Store, prize, racer, version int) (bool, int, error) {
			a := message(prize + 1)
			a.Version, a.Client = version, fmt.Sprint(racer)
			saved, err := store.SaveAction(t.Context(), a)
			return saved, a.Version, err
		})
		for prize, winner := range winners {
			for _, store := range stores {
				got := findAction(t, store, message(prize+1).ID)
				if got.Client != fmt.Sprint(winner) || got.Version != 2 {
					t.Errorf("action %d is by %s with version %d, but %d won", prize, got.Client, got.Version, winner)
				}
			}
		}
	})
	t.Run("Alarms", func(t *testing.T) {
		winners := race(t, stores, func(store hearken.Store, prize, racer, version int) (bool, int, error) {
			a := &hearken.Alarm{Action: actionID("rem_", prize+1), Version: version, Next: noon, Error: fmt.Sprint(racer)}
			saved, err := store.SaveAlarm(t.Context(), a)
			return saved, a.Version, err
		})
		for _, store := range stores {
			found := alarms(t, store, time.Time{})
			if len(found) != len(winners) {
				t.Fatalf("%d alarms, want %d", len(found), len(winners))
			}
			for prize, got := range found {
				if got.Error != fmt.Sprint(winners[prize]) || got.Version != 2 {
					t.Errorf("alarm %d is by %s with version %d, but %d won", prize, got.Error, got.Version, winners[prize])
				}
			}
		}
	})
}

// race has every racer try for every prize to be the one that makes it, and
// then to be the one that changes it. It returns who changed each.
func race(t *testing.T, stores []hearken.Store, try func(store hearken.Store, prize, racer, version int) (saved bool, now int, err error)) []int64 {
	t.Helper()
	var made, changed [prizes]atomic.Int64
	winners := make([]int64, prizes)
	start := make(chan struct{})
	var all sync.WaitGroup
	for racer := range racers {
		store := stores[racer%len(stores)]
		all.Go(func() {
			<-start
			for prize := range prizes {
				for version, won := range []*atomic.Int64{&made[prize], &changed[prize]} {
					saved, now, err := try(store, prize, racer, version)
					switch {
					case err != nil:
						t.Errorf("racer %d: %v", racer, err)
					case saved && now != version+1, !saved && now != version:
						t.Errorf("racer %d: saved %t makes version %d of %d", racer, saved, now, version)
					case saved:
						won.Add(1)
						if version == 1 {
							atomic.StoreInt64(&winners[prize], int64(racer))
						}
					}
				}
			}
		})
	}
	close(start)
	all.Wait()
	for prize := range prizes {
		if made, changed := made[prize].Load(), changed[prize].Load(); made != 1 || changed != 1 {
			t.Errorf("prize %d was made by %d racers and changed by %d", prize, made, changed)
		}
	}
	return winners
}
