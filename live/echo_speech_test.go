package live

import (
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/speech"
)

// A call with a loudspeaker beside the microphone: the far side's audio reaches
// the microphone a moment later, quieter, with a reflection and some noise.
// What the real engine makes of it must be told apart from what this side says.
func TestEcho_Speech(t *testing.T) {
	root := speech.Models(t)
	var far, near []int16
	own := map[int]int{} // where this side speaks, from and to
	for _, turn := range []struct {
		clip string
		own  bool
	}{
		{"lj-LJ001-0001", false}, {"ls-other-367-130732-0008", true}, {"jfk", false}, {"ls-other-1688-142285-0003", true},
		{"ps-0870", false}, {"lj-LJ001-0005", false}, {"mfa-61-70968-0000", true}, {"ls-2033-164915-0001", false},
	} {
		pcm := append(speech.Get(t, turn.clip).PCM(), make([]int16, hearken.SampleRate)...)
		silence := make([]int16, len(pcm))
		if turn.own {
			own[len(near)] = len(near) + len(pcm)
			far, near = append(far, silence...), append(near, pcm...)
		} else {
			far, near = append(far, pcm...), append(near, silence...)
		}
	}
	const delay, reflection = hearken.SampleRate * 80 / 1000, hearken.SampleRate * 170 / 1000
	noise := uint32(1)
	for i := range near {
		x := float64(near[i])
		if i >= delay {
			x += 0.3 * float64(far[i-delay])
		}
		if i >= reflection {
			x += 0.1 * float64(far[i-reflection])
		}
		noise = noise*1664525 + 1013904223
		x += float64(noise>>26) - 32
		near[i] = int16(max(-32768, min(32767, x)))
	}

	engine := moonshine.Open(t.Context(), moonshine.Config{Dir: root, Library: models.Library(root), Model: "base"})
	defer engine.Close(t.Context())
	said := transcribe(t, engine, hearken.System, far)
	echoes, marked, mine := 0, 0, 0
	for _, seg := range transcribe(t, engine, hearken.Microphone, near) {
		middle := int((seg.StartTime + seg.EndTime) / 2 * hearken.SampleRate)
		ours := false
		for from, to := range own {
			ours = ours || middle >= from && middle < to
		}
		echo := isEcho(&seg, said)
		switch {
		case ours && echo:
			t.Errorf("what this side said is taken for an echo: %q", seg.Text)
		case ours:
			mine++
		default:
			echoes++
			if echo {
				marked++
			} else {
				t.Logf("not noticed: %q", seg.Text)
			}
		}
	}
	t.Logf("%d of %d echoes marked, %d entries of this side left alone", marked, echoes, mine)
	if mine < 3 || echoes < 5 || marked*10 < echoes*7 {
		t.Errorf("%d of %d echoes marked, %d entries of this side", marked, echoes, mine)
	}
}

// transcribe returns what an engine finds in a whole recording.
func transcribe(t *testing.T, engine hearken.Provider, o hearken.Origin, pcm []int16) []hearken.Segment {
	t.Helper()
	st, err := engine.Open(t.Context(), hearken.StreamConfig{Session: "test", Origin: o, Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	var found []hearken.Segment
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev := range st.Events() {
			if ev.Kind == hearken.Final && ev.Segment.Status != hearken.NoSpeech {
				ev.Segment.Origin = o
				ev.Segment.Status = hearken.Confirmed
				found = append(found, ev.Segment)
			}
		}
	}()
	for pos := 0; pos < len(pcm); pos += frameSamples {
		if err := st.Write(hearken.Frame{Pos: int64(pos), PCM: pcm[pos:min(pos+frameSamples, len(pcm))]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	<-done
	return found
}
