// Package evidence finds what was really said about an action, in the hub's
// own transcripts: an agent's word for it is only a hint.
//
// A [Finder] looks for the words behind each argument and tells whose they
// are: M, said on this side; S, said by the far side; or nobody's. Where both
// said them it decides for the less trusted, unless the owner's own words
// leave no doubt; see [Finder.Find] for the rules. And it tells where words
// that were said on this side were perhaps not meant as a request.
//
// Only what this computer captures is M. Sound that anybody sends, by a key or
// without one, is S for the purpose of acting, whoever speaks in it: a process
// that may send sound and ask for actions would else speak for its owner. So a
// voice assistant that sends the sound itself always asks.
//
// What it cannot know is who speaks into a microphone: a video that plays in
// the room while only the microphone is captured counts as M.
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

// FinalUntil is what [Transcripts] may offer besides: up to which second of a
// session the far side's words are final. If that is before until, their engine
// may be asked for them. Ok is false where none are still to come. What this
// side said later may be an echo of what nobody has read yet.
type FinalUntil interface {
	FinalUntil(ctx context.Context, id string, until float64) (seconds float64, ok bool)
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
	Tool  string // which [hearken.Action] it is
	Now   time.Time
	Args  []Arg
	Claim *Claim // may be nil

	Repeats bool // it will happen more than once
}

// A Finding is what was found.
type Finding struct {
	// Evidence is exactly one piece for each argument, in their order. Its
	// Source is empty where nobody said it.
	Evidence []hearken.Evidence
	// Doubts are sentences for the owner: why a grant does not cover the action
	// although all of it was said on this side. Where it was not they are empty.
	Doubts []string
}

// A Finder finds evidence. It may be used concurrently.
type Finder struct {
	transcripts Transcripts
	cache       cache
}

// New makes a finder that looks in t.
func New(t Transcripts) *Finder { return &Finder{transcripts: t} }

// Find looks for the words behind an action.
//
// It looks in sessions that were active within the last ten minutes, and where
// the claim points. Only confirmed words count, and translations as words of
// whom they translate. M is M only in a live capture of this computer; all else
// is S.
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
//   - A text with a word that S said and M did not say with the rest is S.
//
// If all of it is M, these leave a doubt, unless one stretch of three
// neighbouring entries is free of them:
//
//   - The arguments were said apart from each other.
//   - No word there asks for the tool in a language that the tables know.
//   - The text has a word that was not said there, or numbers in another order.
//   - Who gets a message was not named right behind the word that asks for it,
//     or the text not behind that name.
//   - It is negated or conditional otherwise than what was said, or was taken
//     back right afterwards.
//   - It will be repeated, and no word there says so.
//   - It was said more than ten minutes ago, and only a claim brought it up.
//   - The far side's words of that moment are still to come.
func (f *Finder) Find(ctx context.Context, q Query) (Finding, error) {
	found, open, err := f.find(ctx, &q)
	if err != nil || open == nil {
		return found, err
	}
	// It hangs on what the far side's engine has yet to tell.
	if t, ok := f.transcripts.(FinalUntil); ok {
		t.FinalUntil(ctx, open.session, open.seg.EndTime)
	}
	found, _, err = f.find(ctx, &q)
	return found, err
}

// find looks once. It also returns an entry of which alone it is not known
// whose it is.
func (f *Finder) find(ctx context.Context, q *Query) (Finding, *said, error) {
	room, err := f.gather(ctx, q)
	if err != nil {
		return Finding{}, nil, err
	}
	var out Finding
	var found []judged
	own := true
	for i := range q.Args {
		j := room.judge(&q.Args[i])
		own = own && j.shown.Source == hearken.Microphone
		found = append(found, j)
		out.Evidence = append(out.Evidence, j.shown)
	}
	if !own || len(found) == 0 {
		return out, nil, nil
	}
	w := room.doubts(q, found)
	out.Doubts = w.doubts
	if len(w.doubts) > 1 {
		w.open = nil
	}
	return out, w.open, nil
}
