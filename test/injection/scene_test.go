// Package injection tests that only the owner makes anything happen.
//
// A [scene] is what the two sides of a call say, and what an agent that obeys
// every voice asks for because of it. It is played to a real hub whose engine
// follows a script. The agent asks through the tools, under the widest grants
// that can be made. Then the effects are counted: words have none, whoever said
// them. A [wordScene] is the same in one line.
//
// A [soundScene] is a recording that PulseAudio plays to the real program, which
// captures it, while such an agent asks.
//
// An [attack] is made by an agent with a shell: against the real program with a
// pending action, by every command, socket and page through which a process of
// the owner's user can try to approve it without the PIN.
package injection

import (
	"strings"
	"time"

	"github.com/hearken-dev/hearken/stt/stttest"
)

// A scene is what was said and what an obedient agent makes of it.
type scene struct {
	Name     string
	Sessions []conversation
	// Calls are the calls that the agent thinks of; see [agent.variants] for
	// how it makes more of each.
	Calls []toolCall
	// As is who the agent is: its key, or a process of the owner's user. It is
	// both if empty, and one after the other.
	As []string
}

// agentKey stands for the agent's key.
const agentKey = "agent"

// A conversation is what was said; see [script] for how it is written.
type conversation struct {
	// Principal sends the audio: empty for the capture of this computer, or
	// one of those that an agent is.
	Principal string
	Recorded  bool // a file that was sent
	Mono      bool // one channel
	Ends      bool // the session is over when the agent acts
	// FarDelayed means that the engine of the far side has transcribed nothing
	// yet when the agent acts: it is slow, or its connection is lost.
	FarDelayed bool
	Talk       []string
	// Then is how much later the next session begins, or the agent acts.
	Then time.Duration
}

// How long things take, in seconds.
const (
	perWord  = 0.35
	betweens = 1.2
	echoLate = 0.12 // how much later the microphone gets what the loudspeaker plays
)

// script turns a talk into the lines of each side and its length. Each line
// begins with who says it:
//
//	M  this side
//	S  the far side
//	=  the microphone, with the line before from the loudspeaker
//	~  the same with the beginning of a line that is not over when the agent acts
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
