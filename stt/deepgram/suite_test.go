package deepgram_test

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/deepgram"
	"github.com/hearken-dev/hearken/stt/stttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// meeting is what most tests hear: 14 seconds, two speakers, a passage without
// a pause that is longer than the server waits, and a silence.
var (
	meeting = slices.Concat(
		phrase(0.6, 0, "could you send me the plan for the new house by friday please because we build in may"),
		phrase(5.6, 1, "of course i will"),
		phrase(9.1, 0, "thank you very much"),
	)
	meetingAudio = audioOf(meeting, 14)
)

func TestProvider(t *testing.T) {
	stttest.Run(t, func(t *testing.T) hearken.Provider {
		return newFake(t, meeting).serve(t, deepgram.Config{})
	}, stttest.Options{Language: "en", Audio: meetingAudio, Words: text(meeting), Unknown: "tlh"})
}
