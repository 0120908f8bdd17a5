package act_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

// What a grant allowed waits while the store cannot say whether the grant still
// applies, and is then asked about or denied.
func TestClaim_StoreCannotTell(t *testing.T) {
	for _, tt := range []struct {
		name, method string
		change       func(w *world, key, grant string)
		end          hearken.ActionState
	}{
		{"HasReadSince", "Keys", func(w *world, key, _ string) { w.cfg.Exposure.Read(key) }, hearken.ActionPending},
		{"GrantRevoked", "Grants", func(w *world, _, grant string) {
			if _, err := w.queue.RevokeGrant(w.Context(), grant); err != nil {
				w.Fatal(err)
			}
		}, hearken.ActionDenied},
		{"KeyRevoked", "Keys", func(w *world, key, _ string) {
			keys, err := w.store.Keys(w.Context())
			if err != nil || len(keys) != 1 || keys[0].ID != key {
				w.Fatal(keys, err)
			}
			now := time.Now()
			keys[0].RevokedAt = &now
			if err := w.store.SaveKey(w.Context(), &keys[0]); err != nil {
				w.Fatal(err)
			}
		}, hearken.ActionDenied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, func(w *world) {
				w.close()
				store := storetest.NewFaulty(w.store)
				w.cfg.Store, w.cfg.Delay = store, time.Minute
				w.open()
				key := w.key("agent")
				grant := w.grant(key, hearken.MessageSend, "ntfy:ntfy.example/ada")
				req := w.write("ntfy", "The washing is done.")
				req.Principal = key
				a := w.propose(req)
				if a.State != hearken.ActionApproved {
					w.Fatalf("no grant: %+v", a)
				}
				tt.change(w, key, grant.ID)
				store.Only(tt.method)
				store.Fail(errors.New("disk I/O error"))
				w.sleep(5 * time.Minute)
				if got := w.action(a.ID); got.State != hearken.ActionApproved || w.topic.count() != 0 {
					w.Errorf("while the store fails: %s, %d sent", got.State, w.topic.count())
				}
				store.Fail(nil)
				w.sleep(time.Minute)
				if got := w.action(a.ID); got.State != tt.end || w.topic.count() != 0 {
					w.Errorf("in the end: %s, %d sent", got.State, w.topic.count())
				}
			})
		})
	}
}
