package listen

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// paragraphSentences is how many sentences a paragraph has at most.
	paragraphSentences = 5
	// paragraphPause is how many seconds of silence end a paragraph.
	paragraphPause = 2.0
)

// paragraphsOf divides what was said on a channel into sentences and paragraphs.
// A sentence ends with its punctuation, or with its utterance. A paragraph ends
// at a pause, after some sentences, and where the speaker changes.
func paragraphsOf(all []utterance) *paragraphs {
	p := &paragraphs{Paragraphs: []paragraph{}}
	for i := range all {
		for _, s := range sentencesOf(&all[i]) {
			p.add(s)
		}
	}
	var b strings.Builder
	for i := range p.Paragraphs {
		one := &p.Paragraphs[i]
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("\n")
		if one.Speaker != nil {
			fmt.Fprintf(&b, "Speaker %d: ", *one.Speaker)
		}
		for j, s := range one.Sentences {
			if j > 0 {
				b.WriteString(" ")
			}
			b.WriteString(s.Text)
		}
	}
	p.Transcript = b.String()
	return p
}

// A spokenSentence is a sentence with what decides where its paragraph ends.
type spokenSentence struct {
	sentence
	words   int
	speaker *int
}

// add adds a sentence to the last paragraph or begins another.
func (p *paragraphs) add(s spokenSentence) {
	n := len(p.Paragraphs)
	if n == 0 || !p.Paragraphs[n-1].continues(s) {
		p.Paragraphs = append(p.Paragraphs, paragraph{Start: s.Start, Speaker: s.speaker})
		n++
	}
	last := &p.Paragraphs[n-1]
	last.Sentences = append(last.Sentences, s.sentence)
	last.NumWords += s.words
	last.End = s.End
}

func (p *paragraph) continues(s spokenSentence) bool {
	return len(p.Sentences) < paragraphSentences && s.Start-p.End < paragraphPause && sameSpeaker(p.Speaker, s.speaker)
}

func sameSpeaker(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// sentencesOf divides an utterance at its punctuation and where the speaker
// changes.
func sentencesOf(u *utterance) []spokenSentence {
	var list []spokenSentence
	from := 0
	for i := range u.Words {
		last := i == len(u.Words)-1
		if !last && !endsSentence(u.Words[i].Punctuated) && sameSpeaker(u.Words[i].Speaker, u.Words[i+1].Speaker) {
			continue
		}
		s := spokenSentence{words: i + 1 - from, speaker: u.Words[from].Speaker}
		s.Start, s.End = u.Words[from].Start, u.Words[i].End
		texts := make([]string, 0, s.words)
		for _, w := range u.Words[from : i+1] {
			texts = append(texts, w.Punctuated)
		}
		s.Text = strings.Join(texts, " ")
		list = append(list, s)
		from = i + 1
	}
	return list
}

// endsSentence reports whether a word ends with the punctuation of a sentence,
// perhaps within quotation marks.
func endsSentence(word string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(word, `"'”’)»`))
	return strings.ContainsRune(".?!。？！", last) && last != utf8.RuneError
}
