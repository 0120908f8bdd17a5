// Package act tests that an approved action happens exactly once and any other
// never. It runs the real program with real servers around it: agents that
// repeat their calls, owners that decide from several places at once, servers
// that record what reached them, and a hub that is killed meanwhile.
//
// Agents, owners and servers are shared with the upgrade tests and the
// benchmarks.
package act

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/hearken-dev/hearken"
)

// Receipts are a server's own record of what reached it. Each is on disk before
// the server acknowledges the request, so tests can compare it with what the
// hub believes.
type Receipts struct {
	path string
	mu   sync.Mutex
	file *os.File
}

// OpenReceipts creates a record in a directory.
func OpenReceipts(dir, name string) (*Receipts, error) {
	path := filepath.Join(dir, name+".receipts")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open receipts: %w", err)
	}
	return &Receipts{path: path, file: file}, nil
}

// marks are in the texts of requests, so that each is recognised wherever its
// text ends up.
var marks = regexp.MustCompile(`\bmark-[0-9]{4,}\b`)

// Mark is the mark in a text; empty if there is none.
func Mark(text string) string { return marks.FindString(text) }

// Record writes down that a text arrived.
func (b *Receipts) Record(text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	mark := Mark(text)
	if mark == "" {
		mark = "unmarked"
	}
	if _, err := b.file.WriteString(mark + "\n"); err != nil {
		return err
	}
	return b.file.Sync()
}

// Counts is how often each mark arrived, according to the file.
func (b *Receipts) Counts() (map[string]int, error) {
	data, err := os.ReadFile(b.path)
	if err != nil {
		return nil, fmt.Errorf("read receipts: %w", err)
	}
	counts := map[string]int{}
	for mark := range strings.FieldsSeq(string(data)) {
		counts[mark]++
	}
	return counts, nil
}

// Close closes the file.
func (b *Receipts) Close() error { return b.file.Close() }

// MarkOf is the mark of an action.
func MarkOf(a *hearken.Action) string {
	switch {
	case a.Appointment != nil:
		return Mark(a.Appointment.Title)
	case a.Message != nil:
		return Mark(a.Message.Text)
	case a.Reminder != nil:
		return Mark(a.Reminder.Note)
	}
	return ""
}
