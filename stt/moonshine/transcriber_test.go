package moonshine

import (
	"context"
	"strconv"
	"testing"

	"github.com/hearken-dev/hearken"
)

// An impatientModel finds no words after too much silence.
type impatientModel struct {
	fakeModel
	patience int // samples
}

func (m *impatientModel) Transcribe(ctx context.Context, pcm []float32, draft []int32) (Result, error) {
	for i, x := range pcm {
		if x != 0 {
			if i > m.patience {
				return Result{}, nil
			}
			break
		}
	}
	return m.fakeModel.Transcribe(ctx, pcm, draft)
}

// Words that the model did not hear after a silence are not lost.
func TestTranscriber_RetriesEmpty(t *testing.T) {
	const second = hearken.SampleRate
	pcm := unitRange(say(1, []int{3, 4}))
	u := &transcription{end: int64(len(pcm)), first: second, last: 2 * second}
	for _, tt := range []struct {
		name        string
		good, quick int
		want        string
	}{
		{"Patient", second, 0, "w3 w4"},
		{"Impatient", second / 2, 0, "w3 w4"},
		{"LeavesItToTheOther", second / 10, second / 2, "w3 w4"},
		{"Nothing", second / 10, second / 10, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &transcriber{good: &impatientModel{patience: tt.good}, quick: &impatientModel{patience: tt.quick}, vocab: newVocabulary(nil, nil)}
			h, err := e.transcribeFinal(t.Context(), u, pcm, nil, true)
			if err != nil || h.text != tt.want {
				t.Errorf("heard %q: %v", h.text, err)
			}
		})
	}
}

// An unsureModel is the surer the less silence it hears first, and says how much that
// was.
type unsureModel struct{ fakeModel }

func (m *unsureModel) Transcribe(_ context.Context, pcm []float32, _ []int32) (Result, error) {
	n := 0
	for n < len(pcm) && pcm[n] == 0 {
		n++
	}
	ms := 1000 * n / hearken.SampleRate
	return Result{Text: strconv.Itoa(ms), Tokens: []int32{1}, LogProbs: []float32{-float32(ms) / 1000}}, nil
}

// A small model that is alone listens again where it is unsure and there is
// time, and the surer text counts.
func TestTranscriber_RetriesTrimmed(t *testing.T) {
	const second = hearken.SampleRate
	pcm := unitRange(say(1, []int{3, 4}))
	u := &transcription{end: int64(len(pcm)), first: second, last: 2 * second, lead: second}
	one, other := &unsureModel{}, &unsureModel{}
	for _, tt := range []struct {
		name  string
		quick recognizer
		spare bool
		want  string
	}{
		{"Alone", one, true, "200"},
		{"NoTime", one, false, "1000"},
		{"TwoModels", other, true, "1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &transcriber{good: one, quick: tt.quick, vocab: newVocabulary(nil, nil)}
			h, err := e.transcribeFinal(t.Context(), u, pcm, nil, tt.spare)
			if err != nil || h.text != tt.want {
				t.Errorf("heard %q: %v", h.text, err)
			}
		})
	}
}
