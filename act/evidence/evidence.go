// Package evidence finds what was really said about an action in the hub's own
// transcripts, so that a person who decides about it sees the words, who said
// them and when. What an agent claims was said is only a hint.
//
// A [Finder] looks for the words behind each argument: on this side's
// microphone (M), on the other side (S), or nowhere. Nothing is allowed because
// of what it finds. It may only cost something: a message is denied if only the
// other side named an unknown recipient, and an agent's client may not decide
// about the other side's words. So whenever both sides may have said something,
// the finder says S, or marks M as overlapped; [Finder.Find] has the rules.
//
// Only what this computer captures is M. Audio that anybody sends, with a key or
// without one, counts as S, whoever speaks in it: otherwise a program that may
// send audio and request actions could speak for its owner.
//
// The package cannot know who speaks into a microphone. A video that plays in
// the room counts as M if only the microphone is captured, or if the capture of
// the computer's own sound does not contain it.
package evidence

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// Transcripts are the sessions to search. Segments yields what each side said in
// order.
type Transcripts interface {
	Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error)
	Segments(ctx context.Context, id string, words bool, yield func([]hearken.Segment) error) error
}

// FinalUntil may be implemented by [Transcripts] too. It returns the second of a
// session up to which the other side's words are final. What this side said
// later may be an echo of words not transcribed yet. ok is false if no words are
// still to come.
type FinalUntil interface {
	FinalUntil(id string) (seconds float64, ok bool)
}

// A Claim is where an agent says the words behind an action are.
type Claim struct {
	Session  string
	Segments []string
	Quote    string
}

// recent is how far back words count that no claim cites.
const recent = 10 * time.Minute

// floor is the share of an argument's words that must have been said.
const floor = 0.5

// Kind says how an argument is recognised.
type Kind int

const (
	Text    Kind = iota // words: a title, a note, a message
	Address             // a person: an address, a number, or one of the names in Spoken
)

// An Arg is an argument whose words are looked for.
type Arg struct {
	Name  string // as in [hearken.Evidence]
	Value string // as it will be used
	// Spoken are other ways to say it: the names of a contact, the number as
	// it was requested.
	Spoken []string
	Kind   Kind
}

// A Query is an action whose words are looked for.
type Query struct {
	Now   time.Time
	Args  []Arg
	Claim *Claim // may be nil
}

// A Finder finds evidence. It may be used concurrently.
type Finder struct{ transcripts Transcripts }

// New returns a finder that searches t.
func New(t Transcripts) *Finder { return &Finder{transcripts: t} }

// Find looks for the words behind an action. It returns one element per
// argument, in order. Its Source is empty if nobody said it.
//
// It searches sessions that were active within the last ten minutes, and what a
// claim cites, however old. Only confirmed words count; translations count as
// words of the translated speaker. M is M only in a live capture of this
// computer; all else is S.
//
//   - The words may be spread over three neighbouring entries of one speaker.
//     If less than half of those that carry meaning were said, nobody said them.
//   - An address or a name counts as M only if all of it was said, letter by
//     letter; for S a part or something similar is enough.
//   - M that is heard while S says the same is an echo, and S.
//   - If both said equally much, it is S, except in three cases in which M said
//     all of it. An address belongs to whoever said it first. Four words or
//     more are M: the owner began with them or repeats them. Fewer words, and
//     names, belong to whoever said them last.
//   - A text with a word that S said and M did not say with the rest is S.
//   - M overlaps if this computer's other side spoke meanwhile, whatever it
//     said, or may have: its words are still to come, or audio was lost. If no
//     other side is captured there is nothing to know, and a sentence that
//     stands below all words is not read.
//
// Coverage is the share of all words of a text, so that it tells if an agent
// added even a small one. What cannot be read as a word, such as an emoji, counts
// as a word that was not said.
func (f *Finder) Find(ctx context.Context, q Query) ([]hearken.Evidence, error) {
	r, err := f.gather(ctx, &q)
	if err != nil {
		return nil, err
	}
	var out []hearken.Evidence
	for i := range q.Args {
		out = append(out, r.judge(&q.Args[i]))
	}
	return out, nil
}
