//go:build accept

package accept

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// A clientLog is what a client of Deepgram's API saw, according to the SDK.
type clientLog struct {
	Opened   bool
	Protocol string
	Messages []message
	Errors   []struct {
		Message, Reason, Request string
		Status                   int
	}
	Closed *struct {
		Code   int
		Reason string
	}
	Recorded *struct {
		Metadata struct {
			RequestID string `json:"request_id"`
		}
		Results struct {
			Channels   []channel
			Utterances []struct{ Transcript string }
		}
	}
}

// A message is any of Results, Metadata, SpeechStarted and UtteranceEnd.
type message struct {
	Type            string
	Start, Duration float64
	IsFinal         bool            `json:"is_final"`
	SpeechFinal     bool            `json:"speech_final"`
	FromFinalize    bool            `json:"from_finalize"`
	ChannelIndex    []int           `json:"channel_index"`
	Channel         json.RawMessage // of Results; of the others a pair of numbers
	Channels        int
	SHA256          string
	Timestamp       float64
	LastWordEnd     float64 `json:"last_word_end"`
	RequestID       string  `json:"request_id"`
	Metadata        struct {
		RequestID string `json:"request_id"`
	}
}

type channel struct {
	Alternatives []struct {
		Transcript string
		Words      []timed
	}
}

type timed struct {
	Word       string
	Start, End float64
}

// alternative is what a result holds.
func (m *message) alternative(t *testing.T) (text string, words []timed) {
	t.Helper()
	var c channel
	if err := json.Unmarshal(m.Channel, &c); err != nil || len(c.Alternatives) != 1 {
		t.Fatalf("%v in the channel %s", err, m.Channel)
	}
	return c.Alternatives[0].Transcript, c.Alternatives[0].Words
}

// count is how many messages there are of each kind.
func (w *clientLog) count() map[string]int {
	n := map[string]int{}
	for _, m := range w.Messages {
		n[m.Type]++
		for kind, is := range map[string]bool{
			"interim": m.Type == "Results" && !m.IsFinal, "from_finalize": m.FromFinalize, "speech_final": m.SpeechFinal,
			"words and speech_final": m.SpeechFinal && strings.Contains(string(m.Channel), `"word":`),
		} {
			if is {
				n[kind]++
			}
		}
	}
	return n
}

// text is all that was final on a channel.
func (w *clientLog) text(index int) string {
	var texts []string
	for _, m := range w.Messages {
		var c channel
		if m.IsFinal && m.ChannelIndex[0] == index && json.Unmarshal(m.Channel, &c) == nil && c.Alternatives[0].Transcript != "" {
			texts = append(texts, c.Alternatives[0].Transcript)
		}
	}
	return strings.Join(texts, " ")
}

// session is the id under which the hub remembers the stream.
func (w *clientLog) session() string {
	for _, m := range w.Messages {
		if id := m.Metadata.RequestID; id != "" {
			return id
		}
	}
	return ""
}

// check compares a finished stream with what Deepgram's documents
// promise about one.
func (w *clientLog) check(t *testing.T, edition string, channels int, pcm []byte) {
	t.Helper()
	if !w.Opened || len(w.Errors) > 0 || w.Closed == nil || edition != "go" && w.Closed.Code != 1000 {
		t.Errorf("opened %t, errors %+v, closed %+v", w.Opened, w.Errors, w.Closed)
	}
	if len(w.Messages) == 0 {
		t.Fatal("no message came")
	}
	seconds := float64(len(pcm)) / float64(32000*channels)
	sum := sha256.Sum256(pcm)
	last := w.Messages[len(w.Messages)-1]
	if last.Type != "Metadata" || last.RequestID != w.session() || last.Channels != channels ||
		math.Abs(last.Duration-seconds) > 0.1 || last.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%.2f s on %d channels were sent, and the last message was %+v", seconds, channels, last)
	}
	for i := range channels {
		w.checkChannel(t, i, channels, seconds)
	}
}

// checkChannel: finals follow each other without a gap to the end of the
// audio, interim results begin where they end, and words are in order. An
// utterance of one that was asked for by utterance_end_ms=1000 ends once, after
// its last word and before the next one.
func (w *clientLog) checkChannel(t *testing.T, index, channels int, seconds float64) {
	t.Helper()
	end, lastWord, ended := 0.0, 0.0, true
	for _, m := range w.Messages {
		switch m.Type {
		case "Results":
			if m.ChannelIndex[0] != index {
				continue
			}
			if m.ChannelIndex[1] != channels || math.Abs(m.Start-end) > 0.002 {
				t.Errorf("a result of channel %v starts at %.3f, where %.3f is next", m.ChannelIndex, m.Start, end)
			}
			_, words := m.alternative(t)
			checkWords(t, words, m.Start, m.Start+m.Duration)
			if !m.IsFinal {
				continue
			}
			end = m.Start + m.Duration
			if len(words) > 0 {
				lastWord, ended = words[len(words)-1].End, false
			}
		case "SpeechStarted":
			if channels == 1 && !ended && m.Timestamp > lastWord+1.002 {
				t.Errorf("speech starts at %.3f, and the utterance that ended at %.3f was not over", m.Timestamp, lastWord)
			}
		case "UtteranceEnd":
			if channels == 1 && (ended || math.Abs(m.LastWordEnd-lastWord) > 0.002) {
				t.Errorf("an utterance ends at %.3f, its last word at %.3f, ended before: %t", m.LastWordEnd, lastWord, ended)
			}
			ended = true
		}
	}
	if math.Abs(end-seconds) > 0.1 {
		t.Errorf("the results of channel %d end at %.2f s of %.2f s", index, end, seconds)
	}
}

func checkWords(t *testing.T, words []timed, from, to float64) {
	t.Helper()
	for _, w := range words {
		if w.Start < from-0.002 || w.End < w.Start || w.End > to+0.002 {
			t.Errorf("the word %q is at %.3f to %.3f, where %.3f to %.3f is left", w.Word, w.Start, w.End, from, to)
		}
		from = w.Start
	}
}
