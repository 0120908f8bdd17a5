package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/source/listen"
	"github.com/hearken-dev/hearken/stt/deepgram"
	"github.com/hearken-dev/hearken/test/deepgramtest"
	"github.com/hearken-dev/hearken/test/faults"
)

// sessions let clients of /v1/listen into a hub.
type sessions struct{ *live.Hub }

func (s sessions) Start(ctx context.Context, r hearken.StartRequest) (*hearken.Session, error) {
	return s.Hub.Start(ctx, hearken.StartRequest{Language: r.Language, Endpointing: r.Endpointing, Principal: r.Principal})
}

// ours makes a Deepgram server of another hub of ours, whose engine hears the
// script.
func hearkenServer(script []deepgramtest.Word) func(*testing.T) http.Handler {
	return func(t *testing.T) http.Handler {
		network := faults.NewMemory()
		serve(t, network, deepgramtest.New(t, script))
		h := open(t, t.TempDir(), nil, network.Dial, deepgram.Config{Pace: -1})
		handler := listen.New(listen.Config{
			Sessions:  sessions{h.hub},
			Principal: func(*http.Request) (string, error) { return "local", nil },
			Providers: []string{"deepgram"},
		})
		t.Cleanup(func() {
			if err := handler.Close(context.Background()); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		return handler
	}
}

// Our own server, reached by our own client over a bad network, loses nothing
// either.
func TestRecovery_Listen(t *testing.T) {
	for seed := range seeds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			script, pcm := deepgramtest.Script(20+seed, 180)
			var plan []faults.Fault
			for f := range faults.Plan(20+seed, 15*time.Second, 8*time.Second) {
				if plan = append(plan, f); len(plan) == 11 {
					break
				}
			}
			simulate(t, hearkenServer(script), func(h *relay) {
				got := h.transcribe(plan, pcm)
				checkWords(h.t, script, words(got, hearken.Microphone))
			})
		})
	}
}
