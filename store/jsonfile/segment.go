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
)

// An index tells where the lines of a transcript stand in its file. It is
// valid as long as the file has this size and time, and never changes.
type index struct {
	size    int64
	changed time.Time
	end     int64   // of the last whole line; what follows was torn off
	entries []entry // in the order of their lines
}

type entry struct {
	line   int
	offset int64
	length int
}

func (x *index) find(line int) (int, bool) {
	return slices.BinarySearchFunc(x.entries, line, func(e entry, line int) int { return cmp.Compare(e.line, line) })
}

// index finds the index of a transcript and makes it if need be.
func (s *Store) index(id string) (*index, error) {
	name := place(id, segmentsFile)
	info, err := s.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &index{}, nil
	}
	if err != nil {
		return nil, err
	}
	s.indexMu.Lock()
	x := s.indexes[id]
	s.indexMu.Unlock()
	if x != nil && x.size == info.Size() && x.changed.Equal(info.ModTime()) {
		return x, nil
	}
	x = &index{size: info.Size(), changed: info.ModTime()}
	err = s.lines(id, func(offset int64, text []byte) error {
		var g struct{ Line int }
		if err := json.Unmarshal(text, &g); err != nil {
			return err
		}
		x.entries = append(x.entries, entry{g.Line, offset, len(text)})
		x.end = offset + int64(len(text))
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(x.entries, func(a, b entry) int { return cmp.Compare(a.line, b.line) })
	x.entries = slices.CompactFunc(x.entries, func(a, b entry) bool { return a.line == b.line })
	s.indexMu.Lock()
	defer s.indexMu.Unlock()
	s.indexes[id] = x
	return x, nil
}

// drop forgets the index of a transcript that is about to change.
func (s *Store) drop(id string) {
	s.indexMu.Lock()
	defer s.indexMu.Unlock()
	delete(s.indexes, id)
}

// lines gives each whole line of a transcript to f. An error of f is taken to
// mean that the file is damaged.
func (s *Store) lines(id string, f func(offset int64, text []byte) error) error {
	name := place(id, segmentsFile)
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
		if errors.Is(err, io.EOF) { // torn off in the middle, or the end
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(offset, text); err != nil {
			return s.damaged(name, fmt.Errorf("line %d: %w", n, err))
		}
		offset += int64(len(text))
	}
}

// append adds those segments that are not there yet. The lock is held.
func (s *Store) append(id string, segments []hearken.Segment) error {
	x, err := s.index(id)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	seen := map[int]bool{}
	for _, g := range segments {
		if _, there := x.find(g.Line); there || seen[g.Line] {
			continue
		}
		seen[g.Line] = true
		g.Timestamp = stored(g.Timestamp)
		if err := json.NewEncoder(&data).Encode(&g); err != nil {
			return err
		}
	}
	if data.Len() == 0 {
		return nil
	}
	f, err := s.root.OpenFile(place(id, segmentsFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	s.drop(id)
	// Whatever follows the last whole line was never confirmed.
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

// Segments implements [hearken.Store].
func (s *Store) Segments(ctx context.Context, id string, line, limit int, words bool) ([]hearken.Segment, error) {
	if err := s.there(ctx, id); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.segments(id, line, limit, words)
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	return found, nil
}

func (s *Store) segments(id string, line, limit int, words bool) ([]hearken.Segment, error) {
	x, err := s.index(id)
	if err != nil {
		return nil, err
	}
	from, _ := x.find(line)
	entries := x.entries[from:]
	entries = entries[:min(max(limit, 0), len(entries))]
	if len(entries) == 0 {
		return nil, nil
	}
	f, err := s.root.Open(place(id, segmentsFile))
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
			return nil, s.damaged(place(id, segmentsFile), err)
		}
		if !words {
			found[i].Words = nil
		}
	}
	return found, nil
}

// Forget implements [hearken.Store].
func (s *Store) Forget(ctx context.Context, id string, line int) error {
	if err := s.there(ctx, id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept bytes.Buffer
	err := s.lines(id, func(_ int64, text []byte) error {
		var g struct{ Line int }
		if err := json.Unmarshal(text, &g); err != nil {
			return err
		}
		if g.Line < line {
			kept.Write(text)
		}
		return nil
	})
	if err == nil {
		s.drop(id)
		err = s.replace(place(id, segmentsFile), kept.Bytes())
	}
	if err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	return nil
}
