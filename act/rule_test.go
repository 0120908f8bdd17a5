package act_test

import (
	"sync"
	"time"
)

// A rule is the rule about grants in the words of the documentation, to check
// the queue with: a grant does not apply to a key that may read transcripts while
// any session has live audio, nor for ten minutes afterwards, nor while the key
// or somebody without a key reads, nor for 30 minutes afterwards.
type rule struct {
	mu       sync.Mutex
	readers  map[string]bool // the keys that may read transcripts
	sounding map[string]bool // sessions with live audio
	lasting  map[string]int  // readings that last, by reader
	audio    time.Time       // the last audio of all that has ended
	read     map[string]time.Time
	crash    time.Time // the last crash with an active session
	slack    time.Duration
}

// nobody is a reader without a key.
const nobody = ""

func newRule(readers ...string) *rule {
	r := &rule{readers: map[string]bool{}, sounding: map[string]bool{}, lasting: map[string]int{}, read: map[string]time.Time{}}
	for _, key := range readers {
		r.readers[key] = true
	}
	return r
}

// forbids reports whether no grant may apply to a key at a time, if nothing but
// time passes until then.
func (r *rule) forbids(key string, at time.Time) bool { return r.holds(key, at, 0, r.audio) }

// mayForbid is forbids for a hub that knows less: after a crash, it takes what it
// finds as a minute later, and active sessions as sounding until the crash.
func (r *rule) mayForbid(key string, at time.Time) bool {
	audio := r.audio
	if r.crash.After(audio) {
		audio = r.crash
	}
	return r.holds(key, at, r.slack, audio)
}

func (r *rule) holds(key string, at time.Time, slack time.Duration, audio time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.readers[key] {
		return false
	}
	for _, reader := range []string{key, nobody} {
		if last, ok := r.read[reader]; r.lasting[reader] > 0 || ok && at.Sub(last) < 30*time.Minute+slack {
			return true
		}
	}
	return len(r.sounding) > 0 || !audio.IsZero() && at.Sub(audio) < 10*time.Minute+slack
}

// ends returns when the rule stops to forbid, if nothing but time passes.
func (r *rule) ends(key string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := r.audio.Add(10 * time.Minute)
	for _, reader := range []string{key, nobody} {
		if at := r.read[reader].Add(30 * time.Minute); at.After(end) {
			end = at
		}
	}
	return end
}

func (r *rule) hear(session string, sounding bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sounding {
		r.sounding[session] = true
	} else if r.sounding[session] {
		delete(r.sounding, session)
		r.audio = time.Now()
	}
}

func (r *rule) reads(reader string, change int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lasting[reader] += change
	r.read[reader] = time.Now()
}

// crashes ends all readings and all audio.
func (r *rule) crashes(active bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slack = time.Minute
	for reader, n := range r.lasting {
		if n > 0 {
			r.read[reader] = time.Now()
		}
	}
	if len(r.sounding) > 0 {
		r.audio = time.Now()
	}
	if active {
		r.crash = time.Now()
	}
	clear(r.lasting)
	clear(r.sounding)
}
