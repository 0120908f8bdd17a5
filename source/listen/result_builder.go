package listen

import (
	"strings"

	"github.com/hearken-dev/hearken"
)

const (
	// silenceStep is how many seconds of silence one empty result covers.
	silenceStep = 1.0
	// finalizeSlack is how many seconds of audio an engine may hold back and
	// still have answered a Finalize.
	finalizeSlack = 0.05
)

// A resultBuilder turns the hub's events of one channel into Deepgram's
// messages. Its finals leave no gap: each begins where the last one ended. It
// is for one goroutine.
type resultBuilder struct {
	opts  *options
	meta  metadata
	index int
	total func() int // channels of the results

	end          float64 // of the last final
	finalUntil   float64 // the words before this are final
	interimEnd   float64 // end of the interim results since the last final
	interimShown bool    // interim results hold words
	interimStart float64 // where those words begin

	lastWord       float64 // the end of the last final word; 0 before the first
	utteranceEnded bool    // UtteranceEnd was sent for it
	open           bool    // no speech_final came since

	finalizeAt []float64 // positions of Finalize requests without an answer

	out []any // messages to send
}

func (b *resultBuilder) event(ev hearken.InputEvent) {
	switch ev.Kind {
	case hearken.InputPartial:
		b.partial(ev.Segment)
	case hearken.InputFinal:
		switch {
		case ev.Segment.Status == hearken.NoSpeech:
			b.noSpeech(ev.Segment)
		case ev.Segment.Status == hearken.Confirmed && strings.TrimSpace(ev.Segment.Text) != "":
			b.final(ev)
		}
	case hearken.InputProgress:
		b.progress(ev.Seconds)
	case hearken.InputSpeechStarted:
		b.endUtteranceBefore(ev.Seconds) // the old utterance ends first
		if b.opts.vadEvents {
			b.out = append(b.out, speechStarted{"SpeechStarted", b.channel(), millis(ev.Seconds)})
		}
	}
}

// partial shows words that may still change.
func (b *resultBuilder) partial(seg *hearken.Segment) {
	if !b.opts.interim || strings.TrimSpace(seg.Text) == "" || millis(seg.EndTime) <= b.end {
		return
	}
	a := b.opts.alternativeOf(seg)
	if len(a.Words) == 0 {
		return
	}
	b.endUtteranceBefore(a.Words[0].Start)
	b.interimEnd = max(b.interimEnd, millis(seg.EndTime))
	b.interimShown, b.interimStart = true, a.Words[0].Start
	b.result(results{Start: b.end, Duration: millis(b.interimEnd - b.end)}, a)
}

func (b *resultBuilder) final(ev hearken.InputEvent) {
	seg := ev.Segment
	a := b.opts.alternativeOf(seg)
	if len(a.Words) > 0 {
		b.endUtteranceBefore(a.Words[0].Start)
	}
	start, end := b.end, millis(seg.EndTime)
	if end <= b.end {
		// Words that came late, for a position that results have passed, keep
		// their own times.
		start = millis(min(seg.StartTime, seg.EndTime))
	} else {
		b.advance(end)
		b.finalUntil = max(b.finalUntil, millis(ev.Seconds))
	}
	if n := len(a.Words); n > 0 && a.Words[n-1].End > b.lastWord {
		b.lastWord, b.utteranceEnded, b.open = a.Words[n-1].End, false, true
	}
	m := results{Start: start, Duration: millis(end - start), IsFinal: true, FromFinalize: b.answersFinalize()}
	if ev.Endpoint && b.opts.endpointing {
		m.SpeechFinal, b.open = true, false
	}
	b.result(m, a)
}

// noSpeech handles an entry without speech.
func (b *resultBuilder) noSpeech(seg *hearken.Segment) {
	b.finalUntil = max(b.finalUntil, millis(seg.EndTime))
	if millis(seg.EndTime) > b.end && !b.interimPending() {
		b.emptyFinal(false)
	}
	b.utteranceEnd()
}

// progress records that all words before a position are final.
func (b *resultBuilder) progress(seconds float64) {
	b.finalUntil = max(b.finalUntil, millis(seconds))
	ended := b.opts.endpointing && b.open && b.finalUntil >= b.lastWord+b.opts.pause && !b.interimPending()
	if ended || b.finalizeReached() || b.finalUntil-b.end >= silenceStep && !b.interimPending() {
		b.emptyFinal(ended)
	}
	b.utteranceEnd()
}

// finalize answers a Finalize at a position in the audio, now or later.
func (b *resultBuilder) finalize(at float64) {
	b.finalizeAt = append(b.finalizeAt, at)
	if b.finalizeReached() {
		b.emptyFinal(false)
	}
}

// finish adds what is left when the session has ended. All words before at are
// final.
func (b *resultBuilder) finish(at float64) {
	b.interimShown = false
	b.finalUntil = max(b.finalUntil, millis(at))
	if b.finalizeReached() || b.finalUntil > b.end {
		b.emptyFinal(b.opts.endpointing && b.open && b.finalUntil >= b.lastWord+b.opts.pause)
	}
	b.utteranceEnd()
}

// emptyFinal adds an empty final up to finalUntil.
func (b *resultBuilder) emptyFinal(speechFinal bool) {
	start := b.end
	b.advance(max(b.end, b.finalUntil))
	if speechFinal {
		b.open = false
	}
	b.result(results{
		Start: start, Duration: millis(b.end - start),
		IsFinal: true, SpeechFinal: speechFinal, FromFinalize: b.answersFinalize(),
	}, alternative{Words: []word{}})
}

// interimPending reports whether interim words still wait for their final. An
// empty final before them would seem to take them back.
func (b *resultBuilder) interimPending() bool {
	return b.interimShown && b.finalUntil <= b.interimStart
}

func (b *resultBuilder) advance(end float64) {
	b.end = end
	b.finalUntil = max(b.finalUntil, end)
	b.interimShown = b.interimShown && b.interimStart >= end
	b.interimEnd = 0
}

// finalizeReached reports whether the words for the oldest Finalize are final.
func (b *resultBuilder) finalizeReached() bool {
	return len(b.finalizeAt) > 0 && b.finalUntil >= b.finalizeAt[0]-finalizeSlack
}

// answersFinalize reports whether the next result answers a Finalize.
func (b *resultBuilder) answersFinalize() bool {
	if !b.finalizeReached() {
		return false
	}
	b.finalizeAt = b.finalizeAt[1:]
	return true
}

// endUtteranceBefore ends the utterance if the next one begins late enough.
func (b *resultBuilder) endUtteranceBefore(next float64) {
	if next >= b.lastWord+b.opts.utteranceEnd {
		b.endUtterance()
	}
}

func (b *resultBuilder) utteranceEnd() {
	if b.finalUntil >= b.lastWord+b.opts.utteranceEnd {
		b.endUtterance()
	}
}

func (b *resultBuilder) endUtterance() {
	if b.opts.utteranceEnd == 0 || b.lastWord == 0 || b.utteranceEnded {
		return
	}
	b.utteranceEnded = true
	b.out = append(b.out, utteranceEnd{"UtteranceEnd", b.channel(), b.lastWord})
}

func (b *resultBuilder) result(m results, a alternative) {
	m.Type, m.ChannelIndex, m.Metadata = "Results", b.channel(), b.meta
	m.Channel.Alternatives[0] = a
	b.out = append(b.out, m)
	if b.finalizeReached() {
		b.emptyFinal(false) // each Finalize gets its own answer
	}
}

func (b *resultBuilder) channel() [2]int { return [2]int{b.index, b.total()} }
