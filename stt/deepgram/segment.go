package deepgram

import (
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// A part is what one speaker said in a result, without a gap in the audio.
type part struct {
	segment hearken.Segment
	floor   int64   // position at which its run of audio began
	end     float64 // on the connection's clock
	words   []word  // of the result
}

// parts makes segments of a result that ends at end: one of an interim result,
// whose speakers are guesses, and of a final one as many as there are turns of
// speakers. It is called with the lock held.
func (s *stream) parts(m *message, end float64) []part {
	best := m.bestAlternative()
	if len(best.Words) == 0 {
		return s.partWithoutWords(m, best, end)
	}
	var parts []part
	var p *part
	piece, at := -1, max(s.finalUntil, s.entriesUntil)
	for i := range best.Words {
		w := &best.Words[i]
		// Despite the server's rounding no word begins before the last one
		// ended, or ends after the result does.
		w.Start, w.End = min(w.Start, end), min(w.End, end)
		in := s.clock.pieceAt((w.Start + w.End) / 2)
		if !m.IsFinal {
			w.Speaker = nil
		}
		if p == nil || in != piece || speakerChanged(p.segment.Speaker, w.Speaker) {
			parts = append(parts, part{floor: s.clock.pieces[in].pos, words: best.Words[i:i]})
			p, piece = &parts[len(parts)-1], in
		}
		from := max(at, s.clock.positionIn(in, w.Start))
		to := max(from, s.clock.positionIn(in, w.End))
		at = to
		p.add(w, from, to)
	}
	texts := splitText(best.Transcript, parts)
	for i := range parts {
		seg := &parts[i].segment
		seg.Text = texts[i]
		seg.Language = s.languageOf(parts[i].words, best)
		seg.Confidence = confidence(parts[i].words)
		if len(parts) == 1 && best.Confidence > 0 {
			seg.Confidence = &best.Confidence
		}
	}
	return slices.DeleteFunc(parts, func(p part) bool { return p.segment.Text == "" })
}

func (p *part) add(w *word, from, to int64) {
	seg := &p.segment
	if len(p.words) == 0 {
		seg.StartTime = stt.Seconds(from)
	}
	seg.EndTime, p.end = stt.Seconds(to), w.End
	if seg.Speaker == nil {
		seg.Speaker = w.Speaker
	}
	p.words = p.words[:len(p.words)+1]
	seg.Words = append(seg.Words, hearken.Word{
		Word: w.text(), StartTime: stt.Seconds(from), EndTime: stt.Seconds(to), Confidence: w.Confidence, Speaker: w.Speaker,
	})
}

// partWithoutWords makes a segment of a text whose words have no times.
func (s *stream) partWithoutWords(m *message, best alternative, end float64) []part {
	text := strings.TrimSpace(best.Transcript)
	if text == "" {
		return nil
	}
	in := s.clock.pieceAt((m.Start + end) / 2)
	from := max(s.finalUntil, s.entriesUntil, s.clock.positionIn(in, m.Start))
	seg := hearken.Segment{
		Text: text, StartTime: stt.Seconds(from), EndTime: stt.Seconds(max(from, s.clock.positionIn(in, end))), Language: s.languageOf(nil, best),
	}
	if best.Confidence > 0 {
		seg.Confidence = &best.Confidence
	}
	return []part{{segment: seg, floor: s.clock.pieces[in].pos, end: end}}
}

// speakerChanged reports whether the speaker changed. A word without a speaker
// is of the last one.
func speakerChanged(was, is *int) bool { return was != nil && is != nil && *was != *is }

// splitText splits a text where parts begin. The server's own text is better
// than its words joined: it knows which languages have spaces.
func splitText(text string, parts []part) []string {
	text = strings.TrimSpace(text)
	if len(parts) == 1 && text != "" {
		return []string{text}
	}
	texts := make([]string, 0, len(parts))
	begin, at := 0, 0
	for i, p := range parts {
		for j := range p.words {
			w := p.words[j].text()
			found := strings.Index(text[at:], w)
			if found < 0 {
				return joinWords(parts)
			}
			if i > 0 && j == 0 {
				texts = append(texts, strings.TrimSpace(text[begin:at+found]))
				begin = at + found
			}
			at += found + len(w)
		}
	}
	return append(texts, strings.TrimSpace(text[begin:]))
}

// joinWords makes texts of words.
func joinWords(parts []part) []string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		words := make([]string, len(p.words))
		for j := range p.words {
			words[j] = p.words[j].text()
		}
		texts[i] = strings.Join(words, " ")
	}
	return texts
}

func confidence(words []word) *float64 {
	sum, n := 0.0, 0
	for i := range words {
		if c := words[i].Confidence; c != nil {
			sum += *c
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return new(sum / float64(n))
}

// languageOf is the language of most of the words, if the server reports it.
func (s *stream) languageOf(words []word, best alternative) string {
	most, count := "", make(map[string]int)
	for i := range words {
		l := words[i].Language
		if l == "" {
			continue
		}
		if count[l]++; count[l] > count[most] {
			most = l
		}
	}
	switch {
	case most != "":
		return most
	case len(best.Languages) > 0 && s.configuredLanguage() == "":
		return best.Languages[0]
	}
	return s.configuredLanguage()
}

// configuredLanguage is the language of the stream, if it has one.
func (s *stream) configuredLanguage() string {
	if s.language == "multi" {
		return ""
	}
	return s.language
}
