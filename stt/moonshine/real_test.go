package moonshine

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
	"github.com/hearken-dev/hearken/test/speech"
)

// The real engine passes the suite that every engine passes.
func TestEngine_Suite(t *testing.T) {
	c := speech.Get(t, "jfk")
	p := engine(t, Config{Model: "tiny", MaxStreams: 20})
	stttest.Run(t, func(*testing.T) hearken.Provider { return p }, stttest.Options{
		Language: "en", Unknown: "tlh", Audio: c.PCM(), Words: c.Reference,
	})
}

// Real recordings, live and as files: English words are nearly all right,
// speech in another language is marked, and sound without speech gives no text.
func TestEngine_Recordings(t *testing.T) {
	clips := speech.All(t)
	limit := 0.08
	if os.Getenv(speech.EnvDir) != "" {
		limit = 0.15 // what others have collected may be harder
	}
	p := engine(t, Config{Model: "base"})
	for name, transcribe := range transcribers {
		t.Run(name, func(t *testing.T) {
			var said, heard []string
			var foreign, marked, english, wrong int
			var sure []float64
			for _, c := range clips {
				segments := transcribe(t, p, c.PCM())
				text, marks := spokenText(segments), 0
				for _, s := range segments {
					switch {
					case s.Text == NotUnderstood:
						marks++
					case !s.Spoken():
					case s.Confidence == nil:
						t.Errorf("%s: nobody says how sure %q is", c.File(), s.Text)
					default:
						sure = append(sure, *s.Confidence)
					}
				}
				switch c.Language {
				case "-":
					if text != "" || marks > 0 {
						t.Errorf("%s: %q and %d marks, but nobody speaks", c.File(), text, marks)
					}
				case "en":
					english++
					if marks > 0 {
						wrong++
						t.Logf("%s: English is marked %d times beside %q", c.File(), marks, text)
					}
					if c.Reference == "" {
						continue
					}
					if wordErrors(c.Reference, text) > 0.4 {
						t.Errorf("%s: heard %q, said was %q", c.File(), text, c.Reference)
					}
					said, heard = append(said, c.Reference), append(heard, text)
				default:
					foreign++
					if marks > len(segments)/2 {
						marked++
					} else {
						t.Logf("%s: %s is not marked: %q", c.File(), c.Language, text)
					}
				}
			}
			rate := wordErrors(strings.Join(said, " "), strings.Join(heard, " "))
			t.Logf("%.1f %% of the words are wrong; marked are %d of %d foreign recordings and %d of %d English ones",
				100*rate, marked, foreign, wrong, english)
			if len(said) < 5 || rate > limit {
				t.Errorf("%.1f %% of the words of %d recordings are wrong", 100*rate, len(said))
			}
			slices.Sort(sure)
			if n := len(sure); n == 0 || sure[0] <= 0 || sure[n-1] > 1 || sure[n-1]-sure[0] < 0.01 {
				t.Errorf("the texts are sure by %.2f", sure)
			}
			if foreign == 0 || 10*marked < 8*foreign {
				t.Errorf("only %d of %d foreign recordings are marked", marked, foreign)
			}
			if wrong > 1 && 50*wrong > english { // a single one says little
				t.Errorf("%d of %d English recordings are marked", wrong, english)
			}
		})
	}
}

// People in a meeting interrupt each other and do not finish their sentences.
func TestEngine_Spontaneous(t *testing.T) {
	p := engine(t, Config{Model: "base"})
	for name, transcribe := range transcribers {
		text := strings.Join(normal(spokenText(transcribe(t, p, speech.Get(t, "ami-tst00").PCM()))), " ")
		for _, want := range []string{"need to talk about", "go around and everyone says"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q does not hold %q", name, text, want)
			}
		}
	}
}

// Each side of a call is heard for itself, although they speak at once for a
// moment.
func TestEngine_Call(t *testing.T) {
	p := engine(t, Config{Model: "base"})
	call, turns := speech.Call(t)
	for name, transcribe := range transcribers {
		for channel, pcm := range call.Channels {
			segments := transcribe(t, p, pcm)
			for _, turn := range turns {
				var said []string
				for _, s := range segments {
					if middle := (s.StartTime + s.EndTime) / 2; s.Spoken() && turn.Start <= middle && middle <= turn.End {
						said = append(said, s.Text)
					}
				}
				switch text := strings.Join(said, " "); {
				case turn.Channel != channel && text != "" && !overlaps(turn, turns, channel):
					t.Errorf("%s, channel %d: %q while it was silent", name, channel, text)
				case turn.Channel == channel && wordErrors(turn.Text, text) > 0.3:
					t.Errorf("%s, channel %d: heard %q, said was %q", name, channel, text, turn.Text)
				}
			}
		}
	}
}

// overlaps tells whether somebody speaks on a channel during a turn.
func overlaps(turn speech.Turn, turns []speech.Turn, channel int) bool {
	return slices.ContainsFunc(turns, func(o speech.Turn) bool {
		return o.Channel == channel && o.Start < turn.End && turn.Start < o.End
	})
}

// A vocabulary leaves alone what is right.
func TestEngine_Vocabulary(t *testing.T) {
	p := engine(t, Config{Model: "tiny"})
	var pcm []int16
	for _, name := range []string{"jfk", "lj-LJ001-0005", "ps-0870", "ls-1089-134686-0000"} {
		pcm = append(append(pcm, speech.Get(t, name).PCM()...), make([]int16, hearken.SampleRate)...)
	}
	hear := func(terms ...string) string {
		segments, err := p.TranscribeAll(t.Context(), pcm, hearken.StreamConfig{Language: "en", Vocabulary: terms}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return spokenText(segments)
	}
	plain := hear()
	if n := len(normal(plain)); n < 60 {
		t.Fatalf("only %d words were heard", n)
	}
	if got := hear("Kubernetes", "Marie Curie", "Hearken", "Askia", "Felix", "Contra", "Mettle", "Juste", "Dashwell Inc", "Stu", "Saws"); got != plain {
		t.Errorf("%q became %q", plain, got)
	}
}
