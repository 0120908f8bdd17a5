// Package evidence finds what was really said about an action, in the hub's
// own transcripts: an agent's word for it is only a hint.
//
// A [Finder] looks for the words behind each argument and tells whose they
// are: M, said on this side; S, said by the far side; or nobody's. Where both
// said them it decides for the less trusted, unless the owner's own words
// leave no doubt; see [Finder.Find] for the rules. What it cannot know is who
// speaks into a microphone: a video that plays in the room while only the
// microphone is captured counts as M.
package evidence

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// Transcripts are the sessions to look in.
type Transcripts interface {
	Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error)
	Segments(ctx context.Context, id string, words bool, yield func([]hearken.Segment) error) error
}

// Interim is what [Transcripts] may offer besides: the entries of a session
// that are not yet confirmed. They are no evidence. But an echo can be
// confirmed before the words of the far side that it repeats, and then only
// these tell.
type Interim interface {
	Interim(ctx context.Context, id string) ([]hearken.Segment, error)
}

// A Claim is what an agent says the words behind an action are.
type Claim struct {
	Session  string
	Segments []string
	Quote    string
}

// How far back words count.
const (
	recent = 10 * time.Minute
	// claimable is how old words may be that an agent names. What the owner
	// said longer ago is shown, but is nobody's word for doing it now.
	claimable = 24 * time.Hour
)

// floor is the part of an argument's words that must have been said.
const floor = 0.5

// Kind is how an argument is recognised.
type Kind int

const (
	Text    Kind = iota // words: a title, a note, a message
	Address             // somebody: an address, a number, or one of the names in Spoken
)

// An Arg is an argument whose words are looked for.
type Arg struct {
	Name  string // as [hearken.Evidence] calls it
	Value string // as it will be used
	// Spoken are other ways in which a person may say it: the names of a
	// contact, the number as it was asked for.
	Spoken []string
	Kind   Kind
}

// A Query is an action whose words are looked for.
type Query struct {
	Principal string // who asks
	Now       time.Time
	Args      []Arg
	Claim     *Claim // may be nil
}

// A Finder finds evidence. It may be used concurrently.
type Finder struct {
	transcripts Transcripts
	cache       cache
}

// New makes a finder that looks in t.
func New(t Transcripts) *Finder { return &Finder{transcripts: t} }

// Find returns exactly one piece of evidence for each argument, in their
// order. Source is empty where nobody said it.
//
// It looks in sessions that were active within the last ten minutes, and where
// the claim points. Only confirmed words count, and translations as words of
// whom they translate. M is M only in a capture of this computer, or in a live
// session that another principal sends than the one that asks: an agent that
// could speak for its owner would approve itself. All else is S.
//
//   - The words may be spread over three neighbouring entries of one speaker.
//     Less than half of them is nobody's.
//   - An address or a name counts as M only if all of it was said, letter by
//     letter; for S a part or something that looks like it is enough.
//   - M that sounds while S says the same is an echo, and S.
//   - If both said equally much it is S, but for three cases in which M said
//     all of it. An address is of whom said it first. Four words or more are
//     M: the owner began with them or repeats them. Fewer, and names, are of
//     whom said them last.
//   - A text of which M said one part and S the rest is S.
func (f *Finder) Find(ctx context.Context, q Query) ([]hearken.Evidence, error) {
	room, err := f.gather(ctx, &q)
	if err != nil {
		return nil, err
	}
	out := make([]hearken.Evidence, len(q.Args))
	for i, a := range q.Args {
		out[i] = room.judge(&a)
		out[i].Arg = a.Name
	}
	return out, nil
}
