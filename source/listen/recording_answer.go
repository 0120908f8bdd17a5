package listen

import (
	"cmp"
	"slices"

	"github.com/google/uuid"
	"github.com/hearken-dev/hearken"
)

func (rec *recording) add(seg *hearken.Segment) {
	i := slices.Index(channelOrigins, seg.Origin)
	if i < 0 || seg.Status != hearken.Confirmed || !seg.Spoken() {
		return
	}
	a := rec.c.opts.alternativeOf(seg)
	u := utterance{
		Start: millis(seg.StartTime), End: millis(seg.EndTime), Confidence: a.Confidence, Channel: i,
		Transcript: a.Transcript, Words: a.Words, ID: uuid.NewString(), languages: a.Languages,
	}
	if rec.c.opts.diarize {
		u.Speaker = seg.Speaker
	}
	rec.utterances[i] = append(rec.utterances[i], u)
}

// answer is the response for the whole recording.
func (rec *recording) answer() answer {
	c := rec.c
	meta := metadataOf(c.session, c.h.cfg.Version, c.opts.extra)
	a := answer{Metadata: c.summaryOf(meta)}
	for i := range int(c.channels.Load()) {
		all := rec.utterances[i]
		slices.SortStableFunc(all, byStart)
		whole := joinUtterances(all)
		if c.opts.paragraphs {
			whole.Paragraphs = paragraphsOf(all)
		}
		a.Results.Channels = append(a.Results.Channels, channel{[1]alternative{whole}})
		if c.opts.utterances {
			a.Results.Utterances = append(a.Results.Utterances, all...)
		}
	}
	slices.SortStableFunc(a.Results.Utterances, byStart)
	return a
}

func byStart(a, b utterance) int { return cmp.Compare(a.Start, b.Start) }

// joinUtterances is everything that was said on a channel.
func joinUtterances(all []utterance) alternative {
	a := alternative{Words: []word{}}
	sum := 0.0
	for _, s := range all {
		if a.Transcript != "" {
			a.Transcript += " "
		}
		a.Transcript += s.Transcript
		a.Words = append(a.Words, s.Words...)
		for _, l := range s.languages {
			if !slices.Contains(a.Languages, l) {
				a.Languages = append(a.Languages, l)
			}
		}
		sum += s.Confidence
	}
	if len(all) > 0 {
		a.Confidence = round4(sum / float64(len(all)))
	}
	return a
}
