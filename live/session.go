package live

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// phase is where an active session is in its life inside the hub.
type phase int

const (
	running   phase = iota // takes sound
	finishing              // takes no more sound, still has words to come
	owing                  // stopped, but words are missing that an engine may bring
	ended                  // complete; waits only for the store
	gone                   // deleted: nothing of it may be written any more
)

// A session is a [hearken.Session] while the hub works on it.
type session struct {
	hub     *Hub
	id      string
	engines []string // what it may use, the wanted one first
	ticket  string
	apiKey  string // the caller's own for the provider; in memory only
	journal *journal

	// confirming makes giving an entry its line, writing it to the journal
	// and showing it one step.
	confirming sync.Mutex
	// saving lets one write to the store go on at a time: who puts something
	// in may write. It is a channel because a store may take long and who
	// waits may give up.
	saving chan struct{}

	mu         sync.Mutex
	phase      phase
	info       hearken.Session
	clock      time.Time // wall time of the first sample; zero before it
	segments   []hearken.Segment
	interim    map[hearken.Origin]hearken.Segment
	channels   []*channel
	news       chan struct{} // closed at the next change
	input      *input
	alone      time.Time // since when there is no sender
	lastAudio  time.Time
	lastWord   time.Time
	dropped    int64   // samples
	forgotten  float64 // nothing said between forgetFrom and this is taken any more
	forgetFrom float64
	utterances int
	speakers   int      // the next free number
	debts      []*debt  // sound whose words are still to come
	fill       *channel // pays one of them
	engine     int      // of engines, the one in use

	returning  bool // somebody asks whether the wanted engine is well again
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
		hub:      h,
		id:       info.ID,
		engines:  append([]string{info.Provider}, info.Config.Chain...),
		ticket:   ticket,
		info:     info,
		journal:  newJournal(h.journalPath(info.ID), h.openJournal),
		interim:  map[hearken.Origin]hearken.Segment{},
		news:     make(chan struct{}),
		stopped:  make(chan struct{}),
		saving:   make(chan struct{}, 1),
		volatile: map[int]bool{},
		alone:    h.cfg.Now(),
	}
}

// headLocked is the journal record of the session itself.
func (s *session) headLocked() record {
	head := &journaled{Session: s.info, Ticket: s.ticket, Clock: s.clock, Forgotten: s.forgotten, ForgetFrom: s.forgetFrom}
	for _, d := range s.debts {
		head.Debts = append(head.Debts, *d)
	}
	return record{Session: head}
}

// changedLocked tells waiting readers that there is news.
func (s *session) changedLocked() {
	close(s.news)
	s.news = make(chan struct{})
}

// dirtyLocked notes that the store is behind.
func (s *session) dirtyLocked() {
	if s.unsavedAt.IsZero() {
		s.unsavedAt = s.hub.cfg.Now()
	}
}

// snapshotLocked is the session as readers see it now.
func (s *session) snapshotLocked() hearken.Session {
	info := s.info
	info.Duration = max(info.Duration, s.heardLocked())
	return info
}

// heardLocked is how many seconds of sound came.
func (s *session) heardLocked() float64 {
	var end int64
	for _, c := range s.channels {
		end = max(end, c.spool.end())
	}
	return seconds(end)
}

// heard is what the sender is told about a final beside its words.
type heard struct {
	endpoint bool    // the speaker paused at its end
	through  float64 // how far the channel's words are final with it
}

// confirm gives an entry its place in the log, makes it durable, and only then
// shows it.
func (s *session) confirm(seg hearken.Segment, told heard) {
	s.confirming.Lock()
	defer s.confirming.Unlock()
	s.mu.Lock()
	if s.phase >= ended || s.forgottenLocked(&seg) {
		s.mu.Unlock()
		return
	}
	seg.Line = s.info.SegmentCount + 1
	seg.IsFinal = true
	seg.Durable = true
	seg.Timestamp = s.wallLocked(seg.StartTime)
	seg.Echo = s.echoLocked(&seg)
	if seg.ID == "" {
		seg.ID = s.nextIDLocked(seg.Origin)
	}
	if seg.Words == nil {
		seg.Words = []hearken.Word{}
	}
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
	s.dirtyLocked()
	s.changedLocked()
	if s.input != nil {
		shown := seg
		s.input.push(hearken.InputEvent{Kind: hearken.InputFinal, Origin: seg.Origin, Segment: &shown, Endpoint: told.endpoint, Seconds: told.through})
	}
	if line-s.saved >= s.hub.cfg.PersistSegments {
		s.hub.saveSoon(s)
	}
}

// becameDurable takes the mark off an entry that reached the journal late.
func (s *session) becameDurable(line int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.volatile, line)
	if i, ok := findLine(s.segments, line); ok {
		s.segments[i].Durable = true
	}
}

// show replaces what is unconfirmed on a channel.
func (s *session) show(seg hearken.Segment) {
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
	seg.Line = s.info.SegmentCount + 1
	seg.Status = hearken.Unconfirmed
	seg.IsFinal = false
	seg.Timestamp = s.wallLocked(seg.StartTime)
	seg.Echo = s.echoLocked(&seg)
	if seg.Words == nil {
		seg.Words = []hearken.Word{}
	}
	s.interim[seg.Origin] = seg
	s.changedLocked()
	if s.input != nil {
		s.input.push(hearken.InputEvent{Kind: hearken.InputPartial, Origin: seg.Origin, Segment: &seg})
	}
}

// forgottenLocked tells whether an engine speaks of what was to be forgotten.
func (s *session) forgottenLocked(seg *hearken.Segment) bool {
	return s.forgotten > 0 && seg.Origin != hearken.EventOrigin && seg.StartTime < s.forgotten && seg.EndTime > s.forgetFrom
}

// utterance is the id that a channel's unconfirmed entry already has.
func (s *session) utterance(o hearken.Origin) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interim[o].ID
}

func (s *session) nextIDLocked(o hearken.Origin) string {
	s.utterances++
	return fmt.Sprintf("%s%d-%d", o, s.info.Epoch, s.utterances)
}

// note confirms an event. Its text is for people; programs read its kind.
func (s *session) note(kind hearken.EventKind, from, to float64, format string, args ...any) {
	s.confirm(hearken.Segment{
		Origin:    hearken.EventOrigin,
		Status:    hearken.Confirmed,
		Event:     kind,
		Text:      fmt.Sprintf(format, args...),
		StartTime: from,
		EndTime:   to,
	}, heard{})
}

// wallLocked maps the session's clock to wall time.
func (s *session) wallLocked(t float64) time.Time {
	if s.clock.IsZero() {
		return s.hub.cfg.Now().UTC()
	}
	return s.clock.Add(time.Duration(t * float64(time.Second))).UTC().Truncate(time.Millisecond)
}

// streamConfig is what an engine is asked to do for one channel. A model and a
// key are those of the engine that was wanted.
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

// tell passes an event to the sender, if there is one.
func (s *session) tell(ev hearken.InputEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.input != nil {
		s.input.push(ev)
	}
}

// seconds turns a position into a time on the session's clock.
func seconds(pos int64) float64 { return float64(pos) / hearken.SampleRate }

// position turns a time on the session's clock into a position.
func position(t float64) int64 { return int64(t*hearken.SampleRate + 0.5) }
