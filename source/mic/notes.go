package mic

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// consent is the last of all notes.
const consent = "Everybody on the call should know that it is transcribed."

// maxChanges is how many changes are remembered.
const maxChanges = 8

var laneTitles = [...]string{microphoneLane: "Microphone", systemLane: "System audio"}

// notes keep what people are told of a capture: what each lane is now, and
// the changes since it was opened.
type notes struct {
	log *slog.Logger

	mu      sync.Mutex
	state   [2]string
	changes []string
	lost    time.Duration
}

// captured says where the sound of a lane comes from.
func (n *notes) captured(lane int, from string) {
	n.set(lane, fmt.Sprintf("%s: %s.", laneTitles[lane], from))
}

// missing says why a lane is silent.
func (n *notes) missing(lane int, why string) {
	n.set(lane, fmt.Sprintf("%s is not captured: %s", laneTitles[lane], why))
}

// absent says that there is no device for a lane.
func (n *notes) absent(lane int, why error) {
	n.missing(lane, plain(why)+" There is silence until there is one.")
}

// set tells of a lane. What is new, though not the first news, is a change.
func (n *notes) set(lane int, state string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.state[lane]
	if before == state {
		return
	}
	n.state[lane] = state
	if before == "" {
		return
	}
	n.log.Info("capture changed", "channel", laneTitles[lane], "state", state)
	n.changes = append(n.changes, time.Now().Format(time.TimeOnly)+" "+state)
	if over := len(n.changes) - maxChanges; over > 0 {
		n.changes = slices.Delete(n.changes, 0, over)
	}
}

// setLost tells how much sound nobody took in time.
func (n *notes) setLost(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost = d
}

func (n *notes) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for _, s := range n.state {
		if s != "" {
			all = append(all, s)
		}
	}
	all = append(all, n.changes...)
	if n.lost > 0 {
		all = append(all, fmt.Sprintf("%v of sound were lost because they were not taken in time.", n.lost.Round(time.Millisecond)))
	}
	return append(all, consent)
}
