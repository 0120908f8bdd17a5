package openai_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/openai"
	"github.com/hearken-dev/hearken/stt/stttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProvider(t *testing.T) {
	for _, model := range []string{"whisper-1", "gpt-4o-mini-transcribe"} {
		t.Run(model, func(t *testing.T) {
			stttest.Run(t, func(t *testing.T) hearken.Provider {
				return newFake(meeting).serve(t, openai.Config{Model: model})
			}, stttest.Options{Language: "en", Audio: meetingAudio, Words: text(meeting), Unknown: "tlh", Without: []string{"Interim"}})
		})
	}
}
