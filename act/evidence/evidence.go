// Package evidence finds what was really said about an action in the hub's own
// transcripts. What an agent claims was said is only a hint.
//
// A [Finder] looks for the words behind each argument and decides who said
// them: M, the owner's side; S, the other side; or nobody. If both said them,
// it decides for the less trusted side, unless the owner's own words leave no
// doubt; [Finder.Find] has the rules. It also says where words from this side
// may not have been meant as a request.
//
// Only what this computer captures is M. Audio that anybody sends, with a key or
// without one, counts as S, whoever speaks in it: otherwise a program that may
// send audio and request actions could speak for its owner. So a voice
// assistant that sends the audio itself always needs an approval.
//
// The package cannot know who speaks into a microphone: a video that plays in
// the room while only the microphone is captured counts as M.
package evidence

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// Transcripts are the sessions to search.
type Transcripts interface {
	Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error)
	Segments(ctx context.Context, id string, words bool, yield func([]hearken.Segment) error) error
}

// Interim may be implemented by [Transcripts] too. It returns the entries of a
// session that are not confirmed yet. They are no evidence, but an echo can be
// confirmed before the other side's words that it repeats, and then only the
// unconfirmed entries show it.
type Interim interface {
	Interim(ctx context.Context, id string) ([]hearken.Segment, error)
}

// FinalUntil may be implemented by [Transcripts] too. It returns the second of a
// session up to which the other side's words are final. If that is before
// until, it may ask their engine for them. ok is false if no words are still to
// come. What this side said later may be an echo of words not transcribed yet.
type FinalUntil interface {
	FinalUntil(ctx context.Context, id string, until float64) (seconds float64, ok bool)
}

// A Claim is where an agent says the words behind an action are.
type Claim struct {
	Session  string
	Segments []string
	Quote    string
}

// How far back words count.
const (
	recent = 10 * time.Minute
	// claimable is how old words may be that an agent cites. Older ones are
	// shown, but are no request to do something now.
	claimable = 24 * time.Hour
)

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
	Tool  string // the action's tool
	Now   time.Time
	Args  []Arg
	Claim *Claim // may be nil

	Repeats bool // it will happen more than once
}

// A Finding is the result of [Finder.Find].
type Finding struct {
	// Evidence has one element per argument, in order. Its Source is empty if
	// nobody said it.
	Evidence []hearken.Evidence
	// Doubts are sentences for the owner. They say why a grant does not cover
	// the action although all of it was said on this side.
	Doubts []string
}

// A Finder finds evidence. It may be used concurrently.
type Finder struct {
	transcripts Transcripts
	cache       cache
}

// New returns a finder that searches t.
func New(t Transcripts) *Finder { return &Finder{transcripts: t} }

// Find looks for the words behind an action.
//
// It searches sessions that were active within the last ten minutes, and the
// claimed one. Only confirmed words count; translations count as words of the
// translated speaker. M is M only in a live capture of this computer; all else
// is S.
//
//   - The words may be spread over three neighbouring entries of one speaker.
//     If less than half of them were said, nobody said them.
//   - An address or a name counts as M only if all of it was said, letter by
//     letter; for S a part or something similar is enough.
//   - M that is heard while S says the same is an echo, and S.
//   - If both said equally much, it is S, except in three cases in which M said
//     all of it. An address belongs to whoever said it first. Four words or
//     more are M: the owner began with them or repeats them. Fewer words, and
//     names, belong to whoever said them last.
//   - A text with a word that S said and M did not say with the rest is S.
//
// If all of it is M, each of these is a doubt, unless one stretch of three
// neighbouring entries is free of them:
//
//   - The arguments were said apart from each other.
//   - No word there asks for the tool in a language that the tables know.
//   - The text has a word that was not said there, or numbers in another order.
//   - The recipient of a message was not named right after the word that asks
//     for it, or the text not after that name.
//   - It is negated or conditional in another way than what was said, or was
//     revoked right afterwards.
//   - It will be repeated, and no word there says so.
//   - It was said more than ten minutes ago, and only a claim brought it up.
//   - The other side's words of that moment are still to come.
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

// find searches once. It also returns an entry if the result depends only on
// who said that.
func (f *Finder) find(ctx context.Context, q *Query) (Finding, *spokenEntry, error) {
	r, err := f.gather(ctx, q)
	if err != nil {
		return Finding{}, nil, err
	}
	var out Finding
	var found []judged
	own := true
	for i := range q.Args {
		j := r.judge(&q.Args[i])
		own = own && j.shown.Source == hearken.Microphone
		found = append(found, j)
		out.Evidence = append(out.Evidence, j.shown)
	}
	if !own || len(found) == 0 {
		return out, nil, nil
	}
	w := r.doubts(q, found)
	out.Doubts = w.doubts
	if len(w.doubts) > 1 {
		w.open = nil
	}
	return out, w.open, nil
}
