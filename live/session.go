package live

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// phase is a stage in a session's life inside the hub.
type phase int

const (
	running    phase = iota // takes audio
	finishing               // takes no more audio; words may still come
	backlogged              // stopped, but with a backlog to transcribe
	ended                   // complete; waits only for the store
	gone                    // deleted; nothing of it may be written
)

// A session is a [hearken.Session] while the hub works on it.
type session struct {
	hub     *Hub
	id      string
	engines []string // those it may use, the preferred one first
	ticket  string
	apiKey  string // the caller's own key for the provider; in memory only
	journal *journal

	// confirming makes numbering, journaling and showing an entry one step.
	confirming sync.Mutex
	// saving lets one write to the store run at a time. Sending acquires it. It
	// is a channel, not a mutex, because a store may take long and a waiter may
	// give up.
	saving chan struct{}

	mu             sync.Mutex
	phase          phase
	info           hearken.Session
	clock          time.Time // wall time of the first sample; zero before it
	segments       []hearken.Segment
	interim        map[hearken.Origin]hearken.Segment
	channels       []*channel
	changed        chan struct{} // closed at the next change
	input          *input
	noSenderSince  time.Time // since when there is no sender
	lastAudio      time.Time
	lastWord       time.Time
	dropped        int64   // samples
	forgotten      float64 // results between forgetFrom and this are ignored
	forgetFrom     float64
	toForget       []stretch // forgotten here, but perhaps not elsewhere; see forgetElsewhere
	utterances     int
	speakers       int            // the next free number
	backlog        []*backlogSpan // audio that waits for an engine
	backlogChannel *channel       // transcribes one of them
	engine         int            // index of the one in use

	returning  bool // the preferred engine is being probed
	returnWait time.Duration
	returnedAt time.Time
	volatile   map[int]bool // lines that were shown before the journal had them
	stopped    chan struct{}

	saved     int       // the store has every entry up to this line
	unsavedAt time.Time // since when something waits to be saved; zero if nothing does
	saveErr   error
}

func newSession(h *Hub, info hearken.Session, ticket string) *session {
	return &session{
		hub:           h,
		id:            info.ID,
		engines:       append([]string{info.Provider}, info.Config.Chain...),
		ticket:        ticket,
		info:          info,
		journal:       newJournal(h.journalPath(info.ID), h.openJournal),
		interim:       map[hearken.Origin]hearken.Segment{},
		changed:       make(chan struct{}),
		stopped:       make(chan struct{}),
		saving:        make(chan struct{}, 1),
		volatile:      map[int]bool{},
		noSenderSince: h.cfg.Now(),
	}
}

// headLocked is the journal record of the session itself.
func (s *session) headLocked() record {
	head := &sessionRecord{
		Session: s.info, Ticket: s.ticket, Clock: s.clock, Forgotten: s.forgotten, ForgetFrom: s.forgetFrom, ToForget: s.toForget,
	}
	for _, span := range s.backlog {
		head.Backlog = append(head.Backlog, *span)
	}
	return record{Session: head}
}

// wakeReadersLocked wakes readers that wait for a change.
func (s *session) wakeReadersLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// markUnsavedLocked records that the store is behind.
func (s *session) markUnsavedLocked() {
	if s.unsavedAt.IsZero() {
		s.unsavedAt = s.hub.cfg.Now()
	}
}

// snapshotLocked is the session as readers see it now.
func (s *session) snapshotLocked() hearken.Session {
	info := s.info
	info.Duration = max(info.Duration, s.durationLocked())
	return info
}

// durationLocked is how many seconds of audio the session has.
func (s *session) durationLocked() float64 {
	var end int64
	for _, c := range s.channels {
		end = max(end, c.spool.end())
	}
	return seconds(end)
}

// finalInfo is what the sender learns about a final segment besides its words.
type finalInfo struct {
	endpoint   bool    // the speaker paused at its end
	finalUntil float64 // how far the channel's words are final with it
}

// confirm gives an entry its line, makes it durable, and only then shows it.
func (s *session) confirm(seg hearken.Segment, info finalInfo) {
	s.confirming.Lock()
	defer s.confirming.Unlock()
	s.mu.Lock()
	if s.phase >= ended || s.forgottenLocked(&seg) {
		s.mu.Unlock()
		return
	}
	seg.IsFinal = true
	seg.Durable = true
	if seg.ID == "" {
		seg.ID = s.nextIDLocked(seg.Origin)
	}
	s.completeLocked(&seg)
	s.mu.Unlock()

	s.hub.cfg.Fault("confirm")
	line := seg.Line
	seg.Durable = s.journal.append(record{Segment: &seg}, func() { s.becameDurable(line) })
	s.hub.cfg.Fault("journaled")

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == gone {
		return
	}
	if !seg.Durable {
		s.volatile[line] = true
	}
	s.segments = append(s.segments, seg)
	s.info.SegmentCount = line
	delete(s.interim, seg.Origin)
	if seg.Spoken() {
		s.lastWord = s.hub.cfg.Now()
	}
	s.markUnsavedLocked()
	s.wakeReadersLocked()
	s.input.push(hearken.InputEvent{Kind: hearken.InputFinal, Origin: seg.Origin, Segment: new(seg), Endpoint: info.endpoint, Seconds: info.finalUntil})
	if line-s.saved >= s.hub.cfg.PersistSegments {
		s.hub.saveSoon(s)
	}
}

// completeLocked fills in what the session knows about an entry that comes next.
func (s *session) completeLocked(seg *hearken.Segment) {
	seg.Line = s.info.SegmentCount + 1
	seg.Timestamp = s.wallLocked(seg.StartTime)
	seg.Echo = s.echoLocked(seg)
	if seg.Words == nil {
		seg.Words = []hearken.Word{}
	}
}

// becameDurable clears the mark of an entry that reached the journal late.
func (s *session) becameDurable(line int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.volatile, line)
	if i, ok := findLine(s.segments, line); ok {
		s.segments[i].Durable = true
	}
}

// showInterim replaces a channel's unconfirmed segment.
func (s *session) showInterim(seg hearken.Segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase >= ended || s.forgottenLocked(&seg) {
		return
	}
	if old, ok := s.interim[seg.Origin]; ok {
		seg.ID = old.ID
	} else {
		seg.ID = s.nextIDLocked(seg.Origin)
	}
	seg.Status = hearken.Unconfirmed
	seg.IsFinal = false
	s.completeLocked(&seg)
	s.interim[seg.Origin] = seg
	s.wakeReadersLocked()
	s.input.push(hearken.InputEvent{Kind: hearken.InputPartial, Origin: seg.Origin, Segment: &seg})
}

// forgottenLocked reports whether a segment lies in the forgotten stretch.
func (s *session) forgottenLocked(seg *hearken.Segment) bool {
	return s.forgotten > 0 && seg.SaidBetween(s.forgetFrom, s.forgotten)
}

// interimID is the id of a channel's unconfirmed segment, or "".
func (s *session) interimID(o hearken.Origin) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interim[o].ID
}

func (s *session) nextIDLocked(o hearken.Origin) string {
	s.utterances++
	return fmt.Sprintf("%s%d-%d", o, s.info.Epoch, s.utterances)
}

// addEvent confirms an event. Its text is for people; programs read its kind.
func (s *session) addEvent(kind hearken.EventKind, from, to float64, format string, args ...any) {
	s.confirm(hearken.Segment{
		Origin:    hearken.EventOrigin,
		Status:    hearken.Confirmed,
		Event:     kind,
		Text:      fmt.Sprintf(format, args...),
		StartTime: from,
		EndTime:   to,
	}, finalInfo{})
}

// wallLocked maps the session's clock to wall time.
func (s *session) wallLocked(t float64) time.Time {
	if s.clock.IsZero() {
		return s.hub.cfg.Now().UTC()
	}
	return s.clock.Add(time.Duration(t * float64(time.Second))).UTC().Truncate(time.Millisecond)
}

// streamConfig is what an engine is asked to do for one channel. Model and key
// are only for the session's preferred engine.
func (s *session) streamConfig(engine string, o hearken.Origin, start int64) hearken.StreamConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	cfg := hearken.StreamConfig{
		Session:    s.id,
		Origin:     o,
		Language:   s.info.Language,
		Vocabulary: slices.Concat(s.hub.cfg.Vocabulary, s.info.Config.Vocabulary),
		Interim:    !s.info.Config.Recorded,
		Recorded:   s.info.Config.Recorded,
		Start:      start,

		Endpointing: time.Duration(s.info.Config.Endpointing) * time.Millisecond,
		Translate:   s.info.Config.Translate,
	}
	if engine == s.info.Provider {
		cfg.Model, cfg.APIKey = s.info.Config.Model, s.apiKey
	}
	return cfg
}

// notify passes an event to the sender, if there is one.
func (s *session) notify(ev hearken.InputEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.input.push(ev)
}

// seconds turns a position into a time on the session's clock.
func seconds(pos int64) float64 { return float64(pos) / hearken.SampleRate }

// position turns a time on the session's clock into a position.
func position(t float64) int64 { return int64(t*hearken.SampleRate + 0.5) }
