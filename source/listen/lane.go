package listen

import (
	"strings"

	"github.com/hearken-dev/hearken"
)

const (
	// silence is how much of it is told at a time, in seconds.
	silence = 1.0
	// slack is how much sound, in seconds, an engine may hold back and still
	// have answered a Finalize.
	slack = 0.05
)

// A lane turns what the hub tells about one channel into Deepgram's messages.
// Its finals follow each other without a gap: each begins where the one before
// it ended. It is for one goroutine.
type lane struct {
	o     *options
	meta  metadata
	index int
	total func() int // channels of the results

	end     float64 // of the last final
	through float64 // everything before is dealt with
	reach   float64 // how far interim results have gone since the last final
	shown   bool    // they hold words
	first   float64 // where those begin

	lastWord float64 // the end of the last final word; 0 before the first
	told     bool    // UtteranceEnd was sent for it
	open     bool    // no speech_final came since

	wanted []float64 // the places that Finalize asked for, and no result answered

	out []any // messages to send
}

func (l *lane) event(ev hearken.InputEvent) {
	switch ev.Kind {
	case hearken.InputPartial:
		l.partial(ev.Segment)
	case hearken.InputFinal:
		switch {
		case ev.Segment.Status == hearken.NoSpeech:
			l.noSpeech(ev.Segment)
		case ev.Segment.Status == hearken.Confirmed && strings.TrimSpace(ev.Segment.Text) != "":
			l.final(ev)
		}
	case hearken.InputProgress:
		l.progress(ev.Seconds)
	case hearken.InputSpeechStarted:
		l.gap(ev.Seconds) // what ended before comes before
		if l.o.vadEvents {
			l.out = append(l.out, speechStarted{"SpeechStarted", l.channel(), millis(ev.Seconds)})
		}
	}
}

// partial shows what may still change.
func (l *lane) partial(seg *hearken.Segment) {
	if !l.o.interim || strings.TrimSpace(seg.Text) == "" || millis(seg.EndTime) <= l.end {
		return
	}
	a := l.o.alternativeOf(seg)
	if len(a.Words) == 0 {
		return
	}
	l.gap(a.Words[0].Start)
	l.reach = max(l.reach, millis(seg.EndTime))
	l.shown, l.first = true, a.Words[0].Start
	l.result(results{Start: l.end, Duration: millis(l.reach - l.end)}, a)
}

func (l *lane) final(ev hearken.InputEvent) {
	seg := ev.Segment
	a := l.o.alternativeOf(seg)
	if len(a.Words) > 0 {
		l.gap(a.Words[0].Start)
	}
	start, end := l.end, millis(seg.EndTime)
	if end <= l.end {
		// Words that were heard late, of a place that results have passed:
		// they keep their own times.
		start = millis(min(seg.StartTime, seg.EndTime))
	} else {
		l.advance(end)
		l.through = max(l.through, millis(ev.Seconds))
	}
	if n := len(a.Words); n > 0 && a.Words[n-1].End > l.lastWord {
		l.lastWord, l.told, l.open = a.Words[n-1].End, false, true
	}
	m := results{Start: start, Duration: millis(end - start), IsFinal: true, FromFinalize: l.answered()}
	if ev.Endpoint && l.o.endpointing {
		m.SpeechFinal, l.open = true, false
	}
	l.result(m, a)
}

// noSpeech says that there was none up to the end of an entry.
func (l *lane) noSpeech(seg *hearken.Segment) {
	l.through = max(l.through, millis(seg.EndTime))
	if millis(seg.EndTime) > l.end && !l.speaking() {
		l.quiet(false)
	}
	l.utteranceEnd()
}

// progress says that all words before a place are final.
func (l *lane) progress(seconds float64) {
	l.through = max(l.through, millis(seconds))
	ended := l.o.endpointing && l.open && l.through >= l.lastWord+l.o.pause && !l.speaking()
	if ended || l.reached() || l.through-l.end >= silence && !l.speaking() {
		l.quiet(ended)
	}
	l.utteranceEnd()
}

// finalize answers a Finalize at a place in the sound, now or later.
func (l *lane) finalize(at float64) {
	l.wanted = append(l.wanted, at)
	if l.reached() {
		l.quiet(false)
	}
}

// finish tells what is left when the session has ended and all sound up to a
// place was dealt with.
func (l *lane) finish(at float64) {
	l.shown = false
	l.through = max(l.through, millis(at))
	if l.reached() || l.through > l.end {
		l.quiet(l.o.endpointing && l.open && l.through >= l.lastWord+l.o.pause)
	}
	l.utteranceEnd()
}

// quiet sends an empty final up to where everything is dealt with.
func (l *lane) quiet(speechFinal bool) {
	start := l.end
	l.advance(max(l.end, l.through))
	if speechFinal {
		l.open = false
	}
	l.result(results{
		Start: start, Duration: millis(l.end - start),
		IsFinal: true, SpeechFinal: speechFinal, FromFinalize: l.answered(),
	}, alternative{Words: []word{}})
}

// speaking reports whether interim words are shown whose final is still to
// come: an empty final before them would look as if they were taken back.
func (l *lane) speaking() bool { return l.shown && l.through <= l.first }

func (l *lane) advance(end float64) {
	l.end = end
	l.through = max(l.through, end)
	l.shown = l.shown && l.first >= end
	l.reach = 0
}

// reached reports whether what the oldest Finalize asked for is there.
func (l *lane) reached() bool { return len(l.wanted) > 0 && l.through >= l.wanted[0]-slack }

// answered is whether the result that is about to be sent answers a Finalize.
func (l *lane) answered() bool {
	if !l.reached() {
		return false
	}
	l.wanted = l.wanted[1:]
	return true
}

// gap tells the end of an utterance that shows by where the next one begins.
func (l *lane) gap(next float64) {
	if next >= l.lastWord+l.o.utteranceEnd {
		l.endUtterance()
	}
}

func (l *lane) utteranceEnd() {
	if l.through >= l.lastWord+l.o.utteranceEnd {
		l.endUtterance()
	}
}

func (l *lane) endUtterance() {
	if l.o.utteranceEnd == 0 || l.lastWord == 0 || l.told {
		return
	}
	l.told = true
	l.out = append(l.out, utteranceEnd{"UtteranceEnd", l.channel(), l.lastWord})
}

func (l *lane) result(m results, a alternative) {
	m.Type, m.ChannelIndex, m.Metadata = "Results", l.channel(), l.meta
	m.Channel.Alternatives[0] = a
	l.out = append(l.out, m)
	if l.reached() {
		l.quiet(false) // each Finalize has its answer
	}
}

func (l *lane) channel() [2]int { return [2]int{l.index, l.total()} }
