package moonshine

import (
	"context"
	"strings"

	"github.com/hearken-dev/hearken"
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

// final hears a whole utterance, given the sound of its passage. The model
// that is quick gives a second opinion where the good one's own numbers leave a
// doubt.
func (e *ear) final(ctx context.Context, u *utterance, pcm []float32, before []int32) (heard, error) {
	begin := int(u.pos - u.passage)
	r, err := e.listen(ctx, pcm, begin, before)
	if err != nil {
		return heard{}, err
	}
	pcm = pcm[begin:]
	text := strings.TrimSpace(r.Text)
	if text == "" {
		return e.rescue(ctx, pcm[max(0, u.first-u.pos-shortLead):])
	}
	f := measure(r, pcm)
	if e.good != e.quick && e.gate.doubtful(f) {
		second, err := e.quick.Transcribe(ctx, pcm, nil)
		if err != nil {
			return heard{}, err
		}
		f.compare(text, second)
	}
	return e.judge(text, r.Tokens, f), nil
}

// rescue listens once more to what seemed to be speech and left the good model
// speechless, now with hardly any silence before it; then it asks the quick
// model.
func (e *ear) rescue(ctx context.Context, pcm []float32) (heard, error) {
	if len(pcm) < hearken.SampleRate {
		return heard{}, nil
	}
	models := []recognizer{e.good, e.quick}
	if e.good == e.quick {
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
func (e *ear) segment(u *utterance, cfg hearken.StreamConfig) hearken.Segment {
	s := hearken.Segment{
		Status: hearken.Confirmed, IsFinal: true, Language: cfg.Language,
		StartTime: at(u.first), EndTime: at(u.last),
	}
	if u.heard.strange {
		s.Status, s.Text, s.Language = hearken.NoSpeech, NotUnderstood, ""
		return s
	}
	s.Text, s.Original = u.heard.text, u.heard.original
	s.Words, s.Estimated = words(s.Text, u), true
	s.Confidence = &u.heard.confidence
	return s
}

// unconfirmed makes the entry that is shown while somebody speaks.
func (e *ear) unconfirmed(g glimpse, u *utterance, cfg hearken.StreamConfig) hearken.Segment {
	return hearken.Segment{
		Status: hearken.Unconfirmed, Text: g.text, Words: words(g.text, u), Estimated: true, Language: cfg.Language,
		StartTime: at(u.first), EndTime: at(u.last),
	}
}
