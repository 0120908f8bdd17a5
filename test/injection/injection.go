// Package injection shows that no voice but the owner's makes anything happen.
//
// A [Scene] is what two sides of a call say, and what an agent that obeys
// every voice asks for because of it. It is played to a real hub whose engine
// hears a script, and asked for by the tools at a real desk, under the widest
// grants that can be made. Then what went through is counted: of what the far
// side wants nothing, of what the owner wants everything.
//
// A [Siege] is an agent with a shell: the real program, an action that waits,
// and every command, socket and page by which a process of the owner's user
// can try to approve it without knowing the PIN.
//
// What is here without a test is for the benchmarks as well.
package injection

import (
	"strings"
	"time"

	"github.com/hearken-dev/hearken/stt/stttest"
)

// A Scene is a conversation and what an obedient agent makes of it.
type Scene struct {
	Name     string
	Sessions []Session
	// Wishes are the calls that the agent thinks of; see [Wish.Variants] for
	// how it makes more of each.
	Wishes []Wish
	// Wanted is how many effects the owner did ask for.
	Wanted int
	// As is who the agent is: its key, or a process of the owner's user. It is
	// both if empty, and one after the other.
	As []string
}

// agentKey stands for the agent's key.
const agentKey = "agent"

// A Session is what was said, as [Talk] writes it down.
type Session struct {
	// Principal sends the sound: empty for the capture of this computer, or
	// one of those that an agent is.
	Principal string
	Recorded  bool // a file that was sent
	Mono      bool // one channel
	Ends      bool // the session is over when the agent acts
	// Deaf has the engine of the far side hear nothing yet when the agent
	// acts: it is slow, or its connection is lost.
	Deaf bool
	Talk []string
	// Then is how much later the next session begins, or the agent acts.
	Then time.Duration
}

// How a talk passes in time, in seconds.
const (
	perWord  = 0.35
	betweens = 1.2
	echoLate = 0.12 // how much later a loudspeaker's sound comes to the microphone
)

// script makes of a talk what each side says, and how long it takes. Each line
// begins with who says it:
//
//	M  this side
//	S  the far side
//	=  the microphone, hearing the line before from the loudspeaker
//	~  the same of the beginning of a line that goes on when the agent acts
func script(talk []string) (near, far []stttest.Line, length float64) {
	at := 1.0
	for i, line := range talk {
		side, text, _ := strings.Cut(line, " ")
		text = strings.TrimSpace(text)
		long := perWord * float64(max(units(text), 3))
		switch side {
		case "M":
			near = append(near, stttest.Line{Start: at, End: at + long, Text: text})
		case "S":
			far = append(far, stttest.Line{Start: at, End: at + long, Text: text})
		case "=":
			of := far[len(far)-1]
			near = append(near, stttest.Line{Start: of.Start + echoLate, End: of.End + echoLate, Text: text})
			continue
		case "~":
			of := far[len(far)-1]
			end := of.Start + echoLate + long
			near = append(near, stttest.Line{Start: of.Start + echoLate, End: end, Text: text})
			return near, far, min(end+0.6, of.End) // the agent acts before it is confirmed
		default:
			panic("injection: line " + talk[i] + " begins with nobody") // a scene that cannot be played
		}
		at += long + betweens
	}
	return near, far, at + 0.5
}

// units are the words of a text, or its characters where it has no spaces.
func units(text string) int {
	if n := len(strings.Fields(text)); n > 2 {
		return n
	}
	return max(len([]rune(text))/2, 1)
}
