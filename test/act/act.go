// Package act shows that what was approved happens once and what was not never
// does, with the real program and real servers around it: agents that ask and
// ask again, owners that decide from several places at once, servers that keep
// their own books of what reached them, and a hub that is killed while all of
// that goes on.
//
// What is here without a test is for the benchmarks as well, which do the same
// with more of everything.
package act

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A Book is a server's own record of what reached it, on disk before the
// server says that it took something: what the hub believes is held against it.
type Book struct {
	path string
	mu   sync.Mutex
	file *os.File
}

// OpenBook begins a book in a directory.
func OpenBook(dir, name string) (*Book, error) {
	path := filepath.Join(dir, name+".book")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open book: %w", err)
	}
	return &Book{path: path, file: file}, nil
}

// marks are what wishes are told apart by, wherever their text ends up.
var marks = regexp.MustCompile(`\bwish-[0-9]{4,}\b`)

// Mark is the mark in a text; empty if there is none.
func Mark(text string) string { return marks.FindString(text) }

// Enter writes down that a text arrived.
func (b *Book) Enter(text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	mark := Mark(text)
	if mark == "" {
		mark = "strange"
	}
	if _, err := b.file.WriteString(mark + "\n"); err != nil {
		return err
	}
	return b.file.Sync()
}

// Counts is how often each mark arrived, as it stands on disk.
func (b *Book) Counts() (map[string]int, error) {
	data, err := os.ReadFile(b.path)
	if err != nil {
		return nil, fmt.Errorf("read book: %w", err)
	}
	counts := map[string]int{}
	for mark := range strings.FieldsSeq(string(data)) {
		counts[mark]++
	}
	return counts, nil
}

// Close ends the book.
func (b *Book) Close() error { return b.file.Close() }

// rest waits, and tells whether it could.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
