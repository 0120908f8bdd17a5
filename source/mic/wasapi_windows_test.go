package mic

import (
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// This wants a Windows with sound, or Wine with a sound server, which does not
// let one listen to outputs. HEARKEN_TEST_TONES says which tones the microphone
// and the output hold.
func TestWASAPI(t *testing.T) {
	n := &notes{log: slog.New(slog.DiscardHandler)}
	w := &wasapi{notes: n}
	var titles []string
	err := withEnumerator(func(enumerator *object) error {
		for track := range origins {
			list, err := listEndpoints(enumerator, track)
			if err != nil {
				return err
			}
			for _, e := range list {
				titles = append(titles, e.title)
				e.device.release()
			}
		}
		return nil
	})
	if err != nil || len(titles) == 0 {
		t.Skipf("no sound device: %v", err)
	}
	t.Log(titles)
	if err := w.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Log(n.list())
	unknown := &wasapi{cfg: Config{Microphone: "studio"}, notes: n}
	if err := unknown.check(t.Context()); hearken.CodeOf(err) != hearken.NotFound {
		t.Errorf("a device that does not exist: %v", err)
	}
	h := run(t, &Capture{notes: n, backend: w})
	var want []int
	for _, s := range strings.Fields(os.Getenv("HEARKEN_TEST_TONES")) {
		hz, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, hz)
	}
	if want != nil {
		h.hears(t, want...)
		return
	}
	eventually(t, "a second was delivered", func() bool { return h.last(systemTrack, 1e9) != nil })
}
