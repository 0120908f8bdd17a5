package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/faults"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/test/wer"
)

// relay is two hubs and a bad network between them: one transcribes with the
// offline engine and answers as Deepgram does, the other takes it for Deepgram.
// It returns the second.
func relay(t *testing.T, provider string) (*hubtest.Hub, *faults.Proxy) {
	t.Helper()
	root := speech.Models(t)
	far := hubtest.Start(t, "HEARKEN_MODELS="+root)
	network := faults.New(t, strings.TrimPrefix(far.URL, "http://"))
	near := hubtest.Start(t, "HEARKEN_MODELS="+root, "TRANSCRIPTION_PROVIDER="+provider,
		"DEEPGRAM_BASE_URL=ws://"+network.Addr(), "DEEPGRAM_API_KEY=anything", "DEFAULT_LANGUAGE=en")
	return near, network
}

// transcript sends audio to a new session and returns its text, and the texts
// of its events.
func transcript(ctx context.Context, t *testing.T, h *hubtest.Hub, pcm []int16) (said, events string) {
	t.Helper()
	s := startSession(ctx, t, h)
	send(ctx, t, s, pcm)
	id := map[string]any{"sessionId": s.ID}
	if err := h.Call(ctx, "stop_transcription", id, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WaitStopped(ctx, 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	var whole page
	if err := h.Call(ctx, "get_transcription", id, &whole); err != nil {
		t.Fatal(err)
	}
	for _, s := range whole.Segments {
		if s.Source == "E" {
			events += s.Text + " "
		} else {
			said += s.Text + " "
		}
	}
	return said, events
}

func TestRelay_BadNetwork(t *testing.T) {
	t.Parallel()
	pcm, reference := talk(t, recordings[:3]...) // longer than the network is bad
	near, network := relay(t, "deepgram")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	broken := make(chan struct{})
	go func() {
		defer close(broken)
		for _, disturb := range []func(){
			network.Cut,
			func() { network.Answer(1, http.StatusServiceUnavailable, nil, ""); network.Reset() },
			func() { network.Stall(time.Second) },
			func() { network.HalfClose(faults.ToServer) },
		} {
			if !hubtest.Sleep(ctx, 4*time.Second) {
				return
			}
			disturb()
		}
	}()
	said, events := transcript(ctx, t, near, pcm)
	<-broken
	if n := network.Stats().Connections; n < 4 {
		t.Errorf("%d connections, so nothing was broken", n)
	}
	// Every gap must have been filled.
	if strings.Contains(events, "lost") || strings.Contains(events, "failed") || strings.Count(events, "[gap") != strings.Count(events, "transcribed later") {
		t.Errorf("events: %s", events)
	}
	wer.Check(t, reference, said)
}

func TestRelay_Unpaid(t *testing.T) {
	t.Parallel()
	pcm, reference := talk(t, recordings[1])
	near, network := relay(t, "deepgram,local")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	network.Answer(1000, http.StatusPaymentRequired, nil, `{"err_code":"ASR_PAYMENT_REQUIRED","err_msg":"Project does not have enough credits."}`)
	said, events := transcript(ctx, t, near, pcm)
	if !strings.Contains(events, "[deepgram failed: ") || !strings.Contains(events, "Continuing with local.]") {
		t.Errorf("events: %s", events)
	}
	wer.Check(t, reference, said)
}
