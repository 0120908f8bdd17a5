package moonshine

import (
	"context"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// NotUnderstood is the text of an entry for speech that the model could not
// make out: another language, singing, a crowd.
const NotUnderstood = "[speech not understood]"

// A recognizer turns a stretch of audio into text. It may be used by several
// goroutines at once.
type recognizer interface {
	Transcribe(ctx context.Context, pcm []float32, draft []int32) (Result, error)
	Continue(ctx context.Context, pcm []float32, before []int32) (Result, error)
}

// A transcriber is what one stream transcribes with: the models of its
// language, what is known about when they are wrong, and the session's
// vocabulary.
type transcriber struct {
	good      recognizer // for finals
	quick     recognizer // for partials; may be the same
	plausible plausibility
	vocab     *vocabulary
}

// A transcript is the result for an utterance, or for its beginning.
type transcript struct {
	text           string // empty if there was no speech or if it is unintelligible
	original       string // before the vocabulary, if that changed anything
	tokens         []int32
	features       features
	confidence     float64
	unintelligible bool // speech, but the text is made up
}

func (r *transcript) hasSpeech() bool { return r.unintelligible || r.text != "" }

// isSure reports whether the text can stand without waiting for more.
func (r *transcript) isSure() bool {
	return !r.hasSpeech() || r.features.sure >= surely && !r.unintelligible
}

// shortLead is how much silence before the speech is left for a model that
// found no words: after more silence it misses a word or two.
const shortLead = hearken.SampleRate / 5

// How much audio the models decode at once, in samples. A small model alone
// has time for more, and needs it more. With that and the retry, tiny made 81
// to 99 errors in the 650 words of one half of the English recordings, in four
// orders of them, and 91 to 119 with neither; in the 774 of the other half 66 to
// 70, against 71 to 84. Whole files have 69 and 74. Some twenty settings were
// tried with both halves in view, so neither is a test of the choice.
const (
	shortPassage = 12 * hearken.SampleRate
	longPassage  = 18 * hearken.SampleRate
)

// Mean log-probabilities of a text.
const (
	almostSure = -0.1  // from here on a single model does not retry
	surely     = -0.25 // from here on a text can stand alone
)

// maxPassage is how many samples the model for finals decodes at once.
func (t *transcriber) maxPassage() int64 {
	if t.singleModel() {
		return longPassage
	}
	return shortPassage
}

// singleModel reports whether one model does everything.
func (t *transcriber) singleModel() bool { return t.good == t.quick }

// continueOrTranscribe decodes the utterance that begins at a sample of pcm, after the
// tokens before it. If continuing from there fails, it is decoded alone.
func (t *transcriber) continueOrTranscribe(ctx context.Context, pcm []float32, begin int, before []int32) (Result, error) {
	if len(before) > 0 {
		r, err := t.good.Continue(ctx, pcm, before)
		if err != nil || (r.Text != "" && !r.Looped && !r.Capped) {
			return r, err
		}
	}
	return t.good.Transcribe(ctx, pcm[begin:], nil)
}

// transcribeFinal decodes a whole utterance, given the audio of its passage. If the
// numbers leave a doubt, there is a second opinion: that of the quick model or,
// if there is only one and time to spare, its own on another cut of the audio.
func (t *transcriber) transcribeFinal(ctx context.Context, u *transcription, pcm []float32, before []int32, spare bool) (transcript, error) {
	r, err := t.continueOrTranscribe(ctx, pcm, int(u.pos-u.passage), before)
	if err != nil {
		return transcript{}, err
	}
	own := pcm[u.pos-u.passage:]
	text := strings.TrimSpace(r.Text)
	if text == "" {
		return t.retryEmpty(ctx, own[max(0, u.first-u.pos-shortLead):])
	}
	f := measureFeatures(r)
	switch {
	case t.singleModel() && spare && f.sure < almostSure:
		retried, err := t.retryTrimmed(ctx, u, pcm, before)
		if err != nil {
			return transcript{}, err
		}
		if g := measureFeatures(retried); retried.Text != "" && !g.broken && (f.broken || g.sure > f.sure) {
			text, r, f = strings.TrimSpace(retried.Text), retried, g
		}
	case !t.singleModel() && t.plausible.needsSecondOpinion(f):
		second, err := t.quick.Transcribe(ctx, own, nil)
		if err != nil {
			return transcript{}, err
		}
		f.compare(text, second)
	}
	return t.assess(text, r.Tokens, f), nil
}

// retryTrimmed decodes an utterance with hardly any silence before its passage.
// A small model makes other mistakes then, and is mostly surer of what is
// right.
func (t *transcriber) retryTrimmed(ctx context.Context, u *transcription, pcm []float32, before []int32) (Result, error) {
	if len(before) > 0 {
		return t.good.Continue(ctx, pcm[max(0, u.lead-shortLead):], before)
	}
	return t.good.Transcribe(ctx, pcm[u.pos-u.passage+max(0, u.first-u.pos-shortLead):], nil)
}

// retryEmpty decodes speech in which the good model found no words, now with
// hardly any silence before it. Then it asks the quick model.
func (t *transcriber) retryEmpty(ctx context.Context, pcm []float32) (transcript, error) {
	if len(pcm) < hearken.SampleRate {
		return transcript{}, nil
	}
	models := []recognizer{t.good, t.quick}
	if t.singleModel() {
		models = models[:1]
	}
	for _, m := range models {
		r, err := m.Transcribe(ctx, pcm, nil)
		if err != nil {
			return transcript{}, err
		}
		if text := strings.TrimSpace(r.Text); text != "" {
			return t.assess(text, r.Tokens, measureFeatures(r)), nil
		}
	}
	return transcript{}, nil
}

// assess decides whether a text is plausible, and corrects its names.
func (t *transcriber) assess(text string, tokens []int32, f features) transcript {
	r := transcript{tokens: tokens, features: f, confidence: confidence(f)}
	if t.plausible.implausible(f) {
		r.unintelligible = true
		return r
	}
	r.text = t.vocab.correct(text)
	if r.text != text {
		r.original = text
	}
	return r
}

func (t *transcriber) transcribePartial(ctx context.Context, pcm []float32, draft []int32) (transcript, error) {
	r, err := t.quick.Transcribe(ctx, pcm, draft)
	if err != nil {
		return transcript{}, err
	}
	p := transcript{tokens: r.Tokens}
	if text := strings.TrimSpace(r.Text); text != "" && !t.plausible.implausible(measureFeatures(r)) {
		p.text = t.vocab.correct(text)
	}
	return p, nil
}

// segment is the confirmed entry of the transcription.
func (u *transcription) segment(cfg hearken.StreamConfig) hearken.Segment {
	s := hearken.Segment{
		Status: hearken.Confirmed, IsFinal: true, Language: cfg.Language,
		StartTime: stt.Seconds(u.first), EndTime: stt.Seconds(u.last),
	}
	if u.result.unintelligible {
		s.Status, s.Text, s.Language = hearken.NoSpeech, NotUnderstood, ""
		return s
	}
	s.Text, s.Original = u.result.text, u.result.original
	s.Words, s.Estimated = u.estimateWords(s.Text), true
	s.Confidence = new(u.result.confidence) // a pointer into u would keep its audio
	return s
}

// unconfirmed is the entry that is shown while somebody speaks.
func (u *transcription) unconfirmed(text string, cfg hearken.StreamConfig) hearken.Segment {
	return hearken.Segment{
		Status: hearken.Unconfirmed, Text: text, Words: u.estimateWords(text), Estimated: true, Language: cfg.Language,
		StartTime: stt.Seconds(u.first), EndTime: stt.Seconds(u.last),
	}
}
