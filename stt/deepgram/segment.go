package deepgram

import (
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// A part is what one speaker said in a result without a gap in the sound.
type part struct {
	segment hearken.Segment
	floor   int64   // position at which its run of sound began
	end     float64 // on the connection's clock
	words   []word  // of the result
}

// parts makes segments of a result that ends at end: one of an interim result,
// whose speakers are guesses, and of a final one as many as there are turns.
// Called with the lock held, for the clock.
func (s *stream) parts(m *message, end float64) []part {
	best := m.best()
	if len(best.Words) == 0 {
		return s.wordless(m, best, end)
	}
	var parts []part
	var p *part
	place, at := -1, max(s.through, s.said)
	for i := range best.Words {
		w := &best.Words[i]
		// No word begins before the last one ended or ends after the result
		// does, whatever the server's rounding makes of it.
		w.Start, w.End = min(w.Start, end), min(w.End, end)
		in := s.clock.at((w.Start + w.End) / 2)
		if !m.IsFinal {
			w.Speaker = nil
		}
		if p == nil || in != place || turned(p.segment.Speaker, w.Speaker) {
			parts = append(parts, part{floor: s.clock.pieces[in].pos, words: best.Words[i:i]})
			p, place = &parts[len(parts)-1], in
		}
		from := max(at, s.clock.in(in, w.Start))
		to := max(from, s.clock.in(in, w.End))
		at = to
		p.add(w, from, to)
	}
	texts := cut(best.Transcript, parts)
	for i := range parts {
		seg := &parts[i].segment
		seg.Text = texts[i]
		seg.Language = s.spoken(parts[i].words, best)
		seg.Confidence = confidence(parts[i].words)
		if len(parts) == 1 && best.Confidence > 0 {
			seg.Confidence = &best.Confidence
		}
	}
	return slices.DeleteFunc(parts, func(p part) bool { return p.segment.Text == "" })
}

// add adds the next word of the result.
func (p *part) add(w *word, from, to int64) {
	seg := &p.segment
	if len(p.words) == 0 {
		seg.StartTime = seconds(from)
	}
	seg.EndTime, p.end = seconds(to), w.End
	if seg.Speaker == nil {
		seg.Speaker = w.Speaker
	}
	p.words = p.words[:len(p.words)+1]
	seg.Words = append(seg.Words, hearken.Word{
		Word: w.text(), StartTime: seconds(from), EndTime: seconds(to), Confidence: w.Confidence, Speaker: w.Speaker,
	})
}

// wordless makes a segment of a text whose words the server did not place.
func (s *stream) wordless(m *message, best alternative, end float64) []part {
	text := strings.TrimSpace(best.Transcript)
	if text == "" {
		return nil
	}
	in := s.clock.at((m.Start + end) / 2)
	from := max(s.through, s.said, s.clock.in(in, m.Start))
	seg := hearken.Segment{
		Text: text, StartTime: seconds(from), EndTime: seconds(max(from, s.clock.in(in, end))), Language: s.spoken(nil, best),
	}
	if best.Confidence > 0 {
		seg.Confidence = &best.Confidence
	}
	return []part{{segment: seg, floor: s.clock.pieces[in].pos, end: end}}
}

// turned reports whether another one speaks. A word without a speaker belongs
// to whoever spoke last.
func turned(was, is *int) bool { return was != nil && is != nil && *was != *is }

// cut cuts a text where parts begin. The server's own text is better than its
// words joined: it knows which languages have spaces.
func cut(text string, parts []part) []string {
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
				return join(parts)
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

// join makes texts of words.
func join(parts []part) []string {
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

// confidence is the mean of the words'.
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
	mean := sum / float64(n)
	return &mean
}

// spoken is the language of most of the words, where the server tells it.
func (s *stream) spoken(words []word, best alternative) string {
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
	case len(best.Languages) > 0 && s.named() == "":
		return best.Languages[0]
	}
	return s.named()
}

// named is the language of the stream, if it has one.
func (s *stream) named() string {
	if s.language == "multi" {
		return ""
	}
	return s.language
}
