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

// A recognizer turns a stretch of sound into text. It may be used by several
// goroutines at once.
type recognizer interface {
	Transcribe(ctx context.Context, pcm []float32, draft []int32) (Result, error)
	Continue(ctx context.Context, pcm []float32, before []int32) (Result, error)
}

// An ear is what one stream hears with: the models of its language, what is
// known about when they are wrong, and the session's vocabulary.
type ear struct {
	good  recognizer // for finals
	quick recognizer // for partials; may be the same
	gate  gate
	vocab *vocabulary
}

// heard is what an ear made of an utterance.
type heard struct {
	text       string // empty if there was no speech
	original   string // before the vocabulary, if that changed anything
	tokens     []int32
	features   features
	confidence float64
	strange    bool // speech, but not text that anybody said
}

// speech reports whether there was speech at all.
func (h *heard) speech() bool { return h.strange || h.text != "" }

// shortLead is how much sound before the speech a model hears that should say
// something: after much silence it takes a word or two for nothing.
const shortLead = hearken.SampleRate / 5

// How much sound the models hear at once, in samples. A small one alone has
// time for more, and needs it more. With that and listening again, tiny made 81
// to 99 errors in the 650 words of one half of the English recordings, in four
// orders of them, and 91 to 119 with neither; in the 774 of the other half 66 to
// 70, against 71 to 84. Whole files have 69 and 74. Some twenty settings were
// tried with both halves in view, so neither is a test of the choice.
const (
	shortPassage = 12 * hearken.SampleRate
	longPassage  = 18 * hearken.SampleRate
)

// almostSure is the mean log-probability from which on a small model that is
// alone does not listen again.
const almostSure = -0.1

// surely is the mean log-probability from which on a text stands alone.
const surely = -0.25

// sure reports whether nothing speaks for waiting for more.
func (h *heard) sure() bool { return !h.speech() || h.features.sure >= surely && !h.strange }

// A glimpse is unconfirmed text.
type glimpse struct {
	text   string // empty if there is nothing to show
	tokens []int32
}

func (h *heard) partial() glimpse {
	g := glimpse{tokens: h.tokens}
	if !h.strange {
		g.text = h.text
	}
	return g
}

// listen hears the utterance that begins at a sample of pcm after what was
// said before. Where going on from there leads nowhere, it is heard alone.
func (e *ear) listen(ctx context.Context, pcm []float32, begin int, before []int32) (Result, error) {
	if len(before) > 0 {
		r, err := e.good.Continue(ctx, pcm, before)
		if err != nil || (r.Text != "" && !r.Looped && !r.Capped) {
			return r, err
		}
	}
	return e.good.Transcribe(ctx, pcm[begin:], nil)
}

// passage is how many samples the model that makes the finals hears at once.
func (e *ear) passage() int64 {
	if e.alone() {
		return longPassage
	}
	return shortPassage
}

// alone tells whether there is one model for everything.
func (e *ear) alone() bool { return e.good == e.quick }

// final hears a whole utterance, given the sound of its passage. Where the
// numbers leave a doubt there is a second opinion: that of the quick model or,
// if there is but one and time to spare, its own on another cut of the sound.
func (e *ear) final(ctx context.Context, u *transcription, pcm []float32, before []int32, spare bool) (heard, error) {
	r, err := e.listen(ctx, pcm, int(u.pos-u.passage), before)
	if err != nil {
		return heard{}, err
	}
	own := pcm[u.pos-u.passage:]
	text := strings.TrimSpace(r.Text)
	if text == "" {
		return e.rescue(ctx, own[max(0, u.first-u.pos-shortLead):])
	}
	f := measure(r, own)
	switch {
	case e.alone() && spare && f.sure < almostSure:
		again, err := e.again(ctx, u, pcm, before)
		if err != nil {
			return heard{}, err
		}
		if g := measure(again, own); again.Text != "" && !g.broken && (f.broken || g.sure > f.sure) {
			text, r, f = strings.TrimSpace(again.Text), again, g
		}
	case !e.alone() && e.gate.doubtful(f):
		second, err := e.quick.Transcribe(ctx, own, nil)
		if err != nil {
			return heard{}, err
		}
		f.compare(text, second)
	}
	return e.judge(text, r.Tokens, f), nil
}

// again hears an utterance with hardly any silence before its passage. A small
// model makes other mistakes then, and is mostly surer of what is right.
func (e *ear) again(ctx context.Context, u *transcription, pcm []float32, before []int32) (Result, error) {
	if len(before) > 0 {
		return e.good.Continue(ctx, pcm[max(0, u.lead-shortLead):], before)
	}
	return e.good.Transcribe(ctx, pcm[u.pos-u.passage+max(0, u.first-u.pos-shortLead):], nil)
}

// rescue listens once more to what seemed to be speech and left the good model
// speechless, now with hardly any silence before it; then it asks the quick
// model.
func (e *ear) rescue(ctx context.Context, pcm []float32) (heard, error) {
	if len(pcm) < hearken.SampleRate {
		return heard{}, nil
	}
	models := []recognizer{e.good, e.quick}
	if e.alone() {
		models = models[:1]
	}
	for _, m := range models {
		r, err := m.Transcribe(ctx, pcm, nil)
		if err != nil {
			return heard{}, err
		}
		if text := strings.TrimSpace(r.Text); text != "" {
			return e.judge(text, r.Tokens, measure(r, pcm)), nil
		}
	}
	return heard{}, nil
}

func (e *ear) judge(text string, tokens []int32, f features) heard {
	h := heard{tokens: tokens, features: f, confidence: confidence(f)}
	if e.gate.strange(f) {
		h.strange = true
		return h
	}
	h.text = e.vocab.mend(text)
	if h.text != text {
		h.original = text
	}
	return h
}

// partial hears what was said so far.
func (e *ear) partial(ctx context.Context, pcm []float32, draft []int32) (glimpse, error) {
	r, err := e.quick.Transcribe(ctx, pcm, draft)
	if err != nil {
		return glimpse{}, err
	}
	g := glimpse{tokens: r.Tokens}
	if text := strings.TrimSpace(r.Text); text != "" && !e.gate.strange(measure(r, pcm)) {
		g.text = e.vocab.mend(text)
	}
	return g, nil
}

// segment makes the confirmed entry for an utterance.
func (e *ear) segment(u *transcription, cfg hearken.StreamConfig) hearken.Segment {
	s := hearken.Segment{
		Status: hearken.Confirmed, IsFinal: true, Language: cfg.Language,
		StartTime: stt.Seconds(u.first), EndTime: stt.Seconds(u.last),
	}
	if u.heard.strange {
		s.Status, s.Text, s.Language = hearken.NoSpeech, NotUnderstood, ""
		return s
	}
	s.Text, s.Original = u.heard.text, u.heard.original
	s.Words, s.Estimated = u.words(s.Text), true
	s.Confidence = &u.heard.confidence
	return s
}

// unconfirmed makes the entry that is shown while somebody speaks.
func (e *ear) unconfirmed(g glimpse, u *transcription, cfg hearken.StreamConfig) hearken.Segment {
	return hearken.Segment{
		Status: hearken.Unconfirmed, Text: g.text, Words: u.words(g.text), Estimated: true, Language: cfg.Language,
		StartTime: stt.Seconds(u.first), EndTime: stt.Seconds(u.last),
	}
}
