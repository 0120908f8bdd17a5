package thread

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/editdistance"
	"github.com/hearken-dev/hearken/test/faults"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
)

// relay is two hubs and a bad network between them: one hears with the offline
// engine and answers as Deepgram does, the other takes it for Deepgram. It
// returns the second.
func relay(t *testing.T, provider string, env ...string) (*hubtest.Hub, *faults.Proxy) {
	t.Helper()
	root := speech.Models(t)
	far := hubtest.Start(t, "HEARKEN_MODELS="+root)
	net := faults.New(t, strings.TrimPrefix(far.URL, "http://"))
	near := hubtest.Start(t, append(env, "HEARKEN_MODELS="+root, "TRANSCRIPTION_PROVIDER="+provider,
		"DEEPGRAM_BASE_URL=ws://"+net.Addr(), "DEEPGRAM_API_KEY=anything", "DEFAULT_LANGUAGE=en")...)
	return near, net
}

// transcript sends a talk to a new session and returns what came of it, with
// what was noted in square brackets.
func transcript(ctx context.Context, t *testing.T, h *hubtest.Hub, sound []int16) (said, noted string) {
	t.Helper()
	var session struct{ SessionID, WSEndpoint string }
	if err := h.Call(ctx, "start_transcription", map[string]any{}, &session); err != nil {
		t.Fatal(err)
	}
	send(ctx, t, session.WSEndpoint, sound, len(sound))
	id := map[string]any{"sessionId": session.SessionID}
	if err := h.Call(ctx, "stop_transcription", id, nil); err != nil {
		t.Fatal(err)
	}
	for { // what could not be heard in time follows
		var status struct{ OwedSeconds float64 }
		if err := h.Call(ctx, "get_session_status", id, &status); err != nil {
			t.Fatal(err)
		}
		if status.OwedSeconds == 0 {
			break
		}
		<-time.After(200 * time.Millisecond)
	}
	var whole struct {
		Segments []struct{ Source, Text string }
	}
	if err := h.Call(ctx, "get_transcription", id, &whole); err != nil {
		t.Fatal(err)
	}
	for _, s := range whole.Segments {
		if s.Source == "E" {
			noted += s.Text + " "
		} else {
			said += s.Text + " "
		}
	}
	return said, noted
}

func TestRelay_BadNetwork(t *testing.T) {
	t.Parallel()
	sound, reference := talk(t, recordings[:3]...) // longer than the network is bad
	near, net := relay(t, "deepgram")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	broken := make(chan struct{})
	go func() {
		defer close(broken)
		tick := time.NewTicker(4 * time.Second)
		defer tick.Stop()
		for _, hurt := range []func(){
			net.Cut,
			func() { net.Answer(1, http.StatusServiceUnavailable, nil, ""); net.Reset() },
			func() { net.Stall(time.Second) },
			func() { net.HalfClose(faults.ToServer) },
		} {
			select {
			case <-tick.C:
				hurt()
			case <-ctx.Done():
				return
			}
		}
	}()
	said, noted := transcript(ctx, t, near, sound)
	<-broken
	if n := net.Stats().Connections; n < 4 {
		t.Errorf("%d connections, so nothing was broken", n)
	}
	// A gap is one that was filled.
	if strings.Contains(noted, "lost") || strings.Contains(noted, "failed") || strings.Count(noted, "[gap") != strings.Count(noted, "transcribed later") {
		t.Errorf("noted: %s", noted)
	}
	got, want := words(said), words(reference)
	if wrong := float64(editdistance.Levenshtein(want, got)) / float64(len(want)); wrong > 0.2 {
		t.Errorf("%.0f %% of the words are wrong:\n%s\nwant\n%s", 100*wrong, said, reference)
	}
}

func TestRelay_Unpaid(t *testing.T) {
	t.Parallel()
	sound, reference := talk(t, recordings[1])
	near, net := relay(t, "deepgram,local")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	net.Answer(1000, http.StatusPaymentRequired, nil, `{"err_code":"ASR_PAYMENT_REQUIRED","err_msg":"Project does not have enough credits."}`)
	said, noted := transcript(ctx, t, near, sound)
	if !strings.Contains(noted, "[deepgram failed: ") || !strings.Contains(noted, "Continuing with local.]") {
		t.Errorf("noted: %s", noted)
	}
	got, want := words(said), words(reference)
	if wrong := float64(editdistance.Levenshtein(want, got)) / float64(len(want)); wrong > 0.2 {
		t.Errorf("%.0f %% of the words are wrong:\n%s\nwant\n%s", 100*wrong, said, reference)
	}
}
