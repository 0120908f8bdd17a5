//go:build torture

package e2e

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/faults"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/test/wer"
)

var (
	cuts  = flag.Int("cuts", 40, "how often to break the connection to the provider, about every 15 s")
	kills = flag.Int("kills", 20, "how often to kill the hub, about every 9 s")
)

// pause is the quiet between recordings, in seconds. Speakers pause for longer
// within what they say.
const pause = 0.8

// engineEnv runs the offline engine with a given model: one that the hub chose
// by its speed might differ from one start to the next.
func engineEnv(t *testing.T) []string {
	t.Helper()
	return []string{"TRANSCRIPTION_PROVIDER=local", "LOCAL_MODEL=base", "HEARKEN_MODELS=" + speech.Models(t)}
}

// TestTorture_Cuts relays real speech in real time while the connection to the
// provider breaks again and again. The provider is another hub with the offline
// engine. No word may be lost or doubled, compared with the same without
// faults.
func TestTorture_Cuts(t *testing.T) {
	const every, longest = 15 * time.Second, 8 * time.Second
	var plan []faults.Fault
	for f := range faults.Plan(1, every, longest) {
		if plan = append(plan, f); len(plan) == *cuts {
			break
		}
	}
	tape := speech.SpliceSeconds(speech.English(t), pause, (time.Duration(*cuts)*every + 10*time.Second).Seconds())
	engine := hubtest.Start(t, engineEnv(t)...)
	var group sync.WaitGroup
	var disturbed, undisturbed []hearken.Segment
	start := func(network *faults.Proxy) *hubtest.Hub {
		return hubtest.Start(t, "TRANSCRIPTION_PROVIDER=deepgram", "DEEPGRAM_API_KEY=key", "DEEPGRAM_BASE_URL=ws://"+network.Addr())
	}
	address := strings.TrimPrefix(engine.URL, "http://")
	good, bad := faults.New(t, address), faults.New(t, address)
	goodHub, badHub := start(good), start(bad)
	began := time.Now()
	group.Go(func() { undisturbed, _ = transcribeTape(t, goodHub, tape) })
	group.Go(func() { disturbed, _ = transcribeTape(t, badHub, tape) })
	group.Go(func() {
		for _, f := range plan {
			if !hubtest.Sleep(t.Context(), time.Until(began.Add(f.At))) {
				return
			}
			bad.Do(f)
		}
	})
	group.Wait()
	if n := bad.Stats().Connections; n < *cuts/2 {
		t.Errorf("%d connections for %d faults", n, *cuts)
	}
	compare(t, tape, undisturbed, disturbed)
}

// TestTorture_Kills kills the hub in the middle of utterances while the sender
// does what it is told. No word may be lost or doubled, compared with a hub
// that nobody killed.
func TestTorture_Kills(t *testing.T) {
	const every = 9 * time.Second
	tape := speech.SpliceSeconds(speech.English(t), pause, (time.Duration(*kills+1) * every).Seconds())
	calm, victim := hubtest.Start(t, engineEnv(t)...), hubtest.Start(t, engineEnv(t)...)
	var group sync.WaitGroup
	var undisturbed, disturbed []hearken.Segment
	var connections int
	began := time.Now()
	group.Go(func() { undisturbed, _ = transcribeTape(t, calm, tape) })
	group.Go(func() { disturbed, connections = transcribeTape(t, victim, tape) })
	group.Go(func() {
		for _, at := range speechMoments(tape, *kills, every) {
			if !hubtest.Sleep(t.Context(), time.Until(began.Add(at))) {
				return
			}
			victim.Kill()
			if err := victim.Server.Start(t.Context()); err != nil {
				t.Error(err)
				return
			}
		}
	})
	group.Wait()
	if connections <= *kills {
		t.Errorf("only %d connections for %d kills", connections, *kills)
	}
	compare(t, tape, undisturbed, disturbed)
}

// transcribeTape sends a tape to a new session in real time and returns the
// transcript, and how often the sender connected.
func transcribeTape(t *testing.T, h *hubtest.Hub, tape *speech.Tape) ([]hearken.Segment, int) {
	ctx := t.Context()
	s, err := h.StartSession(ctx, map[string]any{"language": "en"})
	if err != nil {
		t.Error(err)
		return nil, 0
	}
	if err := s.SendAll(ctx, tape.PCM); err != nil {
		t.Errorf("%v\n%s", err, h.Log())
		return nil, 0
	}
	st, err := s.WaitStopped(ctx, 15*time.Minute)
	if err != nil || st.StopReason != hearken.StopFinished || st.DroppedSeconds > 0 {
		t.Errorf("the session stopped: %+v, %v\n%s", st, err, h.Log())
	}
	segments, err := s.Segments(ctx)
	if err != nil {
		t.Error(err)
	}
	return segments, s.Connections
}

// speechMoments are n times on the tape at which somebody speaks.
func speechMoments(tape *speech.Tape, n int, every time.Duration) []time.Duration {
	rng := rand.New(rand.NewPCG(9, 10))
	var list []time.Duration
	for i := range n {
		at := every*time.Duration(i+1) + time.Duration((rng.Float64()-0.5)*float64(every)/2)
		const edge = hearken.SampleRate / 2 // recordings begin and end with a moment of quiet
		pos := speech.Samples(at.Seconds())
		for _, p := range tape.Parts {
			if pos < p.To-edge {
				pos = max(pos, p.From+edge)
				break
			}
		}
		list = append(list, time.Duration(pos)*time.Second/hearken.SampleRate)
	}
	return list
}

func compare(t *testing.T, tape *speech.Tape, undisturbed, disturbed []hearken.Segment) {
	t.Helper()
	d := wer.Compare(undisturbed, disturbed)
	for _, note := range d.Notes {
		t.Log(note)
	}
	if d.Words == 0 || d.Lost > 0 || d.Doubled > 0 {
		t.Errorf("of %d words %d are lost and %d doubled", d.Words, d.Lost, d.Doubled)
	}
	slices.Sort(d.OffMillis)
	if n := len(d.OffMillis); n == 0 || d.OffMillis[n/2] > 100 {
		t.Errorf("the median of %d words is off by more than 100 ms", n)
	} else {
		t.Logf("the median of %d equal words is off by %.1f ms", n, d.OffMillis[n/2])
	}
	t.Logf("%d words, %d changed, %d unclear, %d added; word errors %.2f %%, undisturbed %.2f %%",
		d.Words, d.Changed, d.Unclear, d.Added, wer.Percent(tape.Scores(disturbed)), wer.Percent(tape.Scores(undisturbed)))
}
