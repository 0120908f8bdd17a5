package api

import (
	"container/list"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	eventBytes   = 16 << 20 // held for all sessions together
	eventStreams = 64       // answers of one session that can be resumed
)

// An eventStore holds what was sent to clients with sessions, for clients that
// lost their connection and return with Last-Event-ID. Every answer is a stream
// of its own. The SDK's store holds each answer until the session ends; this one
// drops the oldest, so memory stays bounded however long a session lasts.
type eventStore struct {
	mu       sync.Mutex
	bytes    int
	limit    int
	oldest   *list.List // of *eventStream
	sessions map[string]*eventSession
}

type eventSession struct {
	streams map[string]*list.Element
	order   []*list.Element // without the standalone stream, which has no id
}

type eventStream struct {
	session, id string
	first       int // index of the first event that is still held
	data        [][]byte
	bytes       int
}

var _ mcp.EventStore = (*eventStore)(nil)

func newEventStore() *eventStore {
	return &eventStore{limit: eventBytes, oldest: list.New(), sessions: map[string]*eventSession{}}
}

// Open implements [mcp.EventStore].
func (e *eventStore) Open(_ context.Context, session, stream string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stream(session, stream)
	return nil
}

func (e *eventStore) stream(session, id string) *eventStream {
	s := e.sessions[session]
	if s == nil {
		s = &eventSession{streams: map[string]*list.Element{}}
		e.sessions[session] = s
	}
	if el := s.streams[id]; el != nil {
		return el.Value.(*eventStream)
	}
	st := &eventStream{session: session, id: id}
	el := e.oldest.PushBack(st)
	s.streams[id] = el
	if id != "" {
		s.order = append(s.order, el)
		if len(s.order) > eventStreams {
			e.drop(s.order[0])
		}
	}
	return st
}

// Append implements [mcp.EventStore].
func (e *eventStore) Append(_ context.Context, session, stream string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.stream(session, stream)
	st.data = append(st.data, data)
	st.bytes += len(data)
	e.bytes += len(data)
	for e.bytes > e.limit {
		e.drop(e.oldest.Front())
	}
	return nil
}

// drop forgets a stream. The standalone stream continues without its past.
func (e *eventStore) drop(el *list.Element) {
	st := el.Value.(*eventStream)
	e.bytes -= st.bytes
	if st.id == "" {
		st.first += len(st.data)
		st.data, st.bytes = nil, 0
		e.oldest.MoveToBack(el)
		return
	}
	e.oldest.Remove(el)
	s := e.sessions[st.session]
	delete(s.streams, st.id)
	if i := slices.Index(s.order, el); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	}
}

// After implements [mcp.EventStore].
func (e *eventStore) After(_ context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	data, err := e.after(session, stream, index)
	if err != nil {
		return func(yield func([]byte, error) bool) { yield(nil, err) }
	}
	return func(yield func([]byte, error) bool) {
		for _, d := range data {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (e *eventStore) after(session, stream string, index int) ([][]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[session]
	if s == nil {
		return nil, errors.New("unknown session")
	}
	el := s.streams[stream]
	if el == nil {
		return nil, mcp.ErrEventsPurged
	}
	st := el.Value.(*eventStream)
	from := index + 1 - st.first
	if from < 0 {
		// A client that is new to the standalone stream asks from the start. It
		// has missed nothing.
		if index < 0 && stream == "" {
			return slices.Clone(st.data), nil
		}
		return nil, mcp.ErrEventsPurged
	}
	return slices.Clone(st.data[min(from, len(st.data)):]), nil
}

// SessionClosed implements [mcp.EventStore].
func (e *eventStore) SessionClosed(_ context.Context, session string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.sessions[session]; s != nil {
		for _, el := range s.streams {
			e.bytes -= el.Value.(*eventStream).bytes
			e.oldest.Remove(el)
		}
		delete(e.sessions, session)
	}
	return nil
}
