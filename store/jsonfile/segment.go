package jsonfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// A lineIndex knows where the entries of a transcript are in its file. It is
// valid while the file has this size and time, and never changes.
type lineIndex struct {
	size    int64
	changed time.Time
	end     int64        // of the last complete line; a crash left what follows
	entries []indexEntry // in the order of their lines
}

type indexEntry struct {
	line   int
	offset int64
	length int
}

func (x *lineIndex) find(line int) (int, bool) {
	return slices.BinarySearchFunc(x.entries, line, func(e indexEntry, line int) int { return cmp.Compare(e.line, line) })
}

// indexOf returns the index of a transcript, from the cache if it is still
// valid.
func (s *Store) indexOf(id string) (*lineIndex, error) {
	name := sessionPath(id, segmentsFile)
	info, err := s.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &lineIndex{}, nil
	}
	if err != nil {
		return nil, err
	}
	s.cacheMu.Lock()
	x := s.indexes[id]
	s.cacheMu.Unlock()
	if x != nil && x.size == info.Size() && x.changed.Equal(info.ModTime()) {
		return x, nil
	}
	x = &lineIndex{size: info.Size(), changed: info.ModTime()}
	err = s.eachLine(id, func(offset int64, text []byte) error {
		var g struct{ Line int }
		if err := json.Unmarshal(text, &g); err != nil {
			return err
		}
		x.entries = append(x.entries, indexEntry{g.Line, offset, len(text)})
		x.end = offset + int64(len(text))
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(x.entries, func(a, b indexEntry) int { return cmp.Compare(a.line, b.line) })
	x.entries = slices.CompactFunc(x.entries, func(a, b indexEntry) bool { return a.line == b.line })
	s.cacheMu.Lock()
	defer s.cacheMu.Unlock()
	s.indexes[id] = x
	return x, nil
}

// dropIndex removes the index of a transcript that is about to change.
func (s *Store) dropIndex(id string) {
	s.cacheMu.Lock()
	defer s.cacheMu.Unlock()
	delete(s.indexes, id)
}

// eachLine calls f with each complete line of a transcript. An error of f means
// that the file is damaged.
func (s *Store) eachLine(id string, f func(offset int64, text []byte) error) error {
	name := sessionPath(id, segmentsFile)
	file, err := s.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	var offset int64
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the end, or a line that a crash cut off
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(offset, text); err != nil {
			return s.damagedError(name, fmt.Errorf("line %d: %w", n, err))
		}
		offset += int64(len(text))
	}
}

// appendSegments adds the segments that are not stored yet. The lock is held.
func (s *Store) appendSegments(id string, segments []hearken.Segment) error {
	x, err := s.indexOf(id)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	seen := map[int]bool{}
	for _, g := range segments {
		if _, exists := x.find(g.Line); exists || seen[g.Line] {
			continue
		}
		seen[g.Line] = true
		g.Timestamp = store.RoundTime(g.Timestamp)
		if err := json.NewEncoder(&data).Encode(&g); err != nil {
			return err
		}
	}
	if data.Len() == 0 {
		return nil
	}
	f, err := s.root.OpenFile(sessionPath(id, segmentsFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	s.dropIndex(id)
	// What follows the last complete line was never confirmed.
	if err := f.Truncate(x.end); err != nil {
		return err
	}
	if _, err := f.WriteAt(data.Bytes(), x.end); err != nil {
		return errors.Join(err, f.Truncate(x.end))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return s.sync("sessions/" + id)
}

func (s *Store) Segments(ctx context.Context, id string, line, limit int, words bool) ([]hearken.Segment, error) {
	if err := s.requireSession(ctx, id); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.segments(id, line, limit, words)
	return found, store.Wrap(err, "read segments")
}

func (s *Store) segments(id string, line, limit int, words bool) ([]hearken.Segment, error) {
	x, err := s.indexOf(id)
	if err != nil {
		return nil, err
	}
	from, _ := x.find(line)
	entries := x.entries[from:]
	entries = entries[:min(max(limit, 0), len(entries))]
	if len(entries) == 0 {
		return nil, nil
	}
	f, err := s.root.Open(sessionPath(id, segmentsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found := make([]hearken.Segment, len(entries))
	for i, e := range entries {
		text := make([]byte, e.length)
		if _, err := f.ReadAt(text, e.offset); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &found[i]); err != nil {
			return nil, s.damagedError(sessionPath(id, segmentsFile), err)
		}
		if !words {
			found[i].Words = nil
		}
	}
	return found, nil
}

func (s *Store) Forget(ctx context.Context, id string, from, to float64) error {
	if err := s.requireSession(ctx, id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var remaining bytes.Buffer
	err := s.eachLine(id, func(_ int64, text []byte) error {
		var g hearken.Segment
		if err := json.Unmarshal(text, &g); err != nil {
			return err
		}
		if !g.SaidBetween(from, to) {
			remaining.Write(text)
		}
		return nil
	})
	if err == nil {
		s.dropIndex(id)
		err = s.replace(sessionPath(id, segmentsFile), remaining.Bytes())
	}
	return store.Wrap(err, "forget")
}
