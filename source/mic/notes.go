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

var trackTitles = [...]string{microphoneTrack: "Microphone", systemTrack: "System audio"}

// notes collects what the status says about a capture: the state of each track,
// and what changed since it was opened.
type notes struct {
	log *slog.Logger

	mu      sync.Mutex
	state   [2]string
	changes []string
	lost    time.Duration
}

// captured records where a track's audio comes from.
func (n *notes) captured(track int, from string) {
	n.set(track, fmt.Sprintf("%s: %s.", trackTitles[track], from))
}

// missing records why a track is silent.
func (n *notes) missing(track int, why string) {
	n.set(track, fmt.Sprintf("%s is not captured: %s", trackTitles[track], why))
}

// absent records that a track has no device.
func (n *notes) absent(track int, why error) {
	n.missing(track, sentence(why)+" This channel stays silent until one is available.")
}

// set records a track's state. A new state after the first counts as a change.
func (n *notes) set(track int, state string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.state[track]
	if before == state {
		return
	}
	n.state[track] = state
	if before == "" {
		return
	}
	n.log.Info("capture changed", "channel", trackTitles[track], "state", state)
	n.changes = append(n.changes, time.Now().Format(time.TimeOnly)+" "+state)
	if over := len(n.changes) - maxChanges; over > 0 {
		n.changes = slices.Delete(n.changes, 0, over)
	}
}

// setLost records how much audio nobody read in time.
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
		all = append(all, fmt.Sprintf("%v of audio was lost because it was not read in time.", n.lost.Round(time.Millisecond)))
	}
	return append(all, consent)
}
