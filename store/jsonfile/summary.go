package jsonfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/hearken-dev/hearken"
)

// A summary is what an action is chosen by, so that not every file is read
// each time somebody asks. It is valid as long as the file is the same.
type summary struct {
	file   os.FileInfo
	action hearken.Action // without its texts
}

func summarise(a *hearken.Action) hearken.Action {
	short := hearken.Action{
		ID: a.ID, State: a.State, Principal: a.Principal, Tool: a.Tool, Target: a.Target, IdempotencyKey: a.IdempotencyKey,
		CreatedAt: a.CreatedAt, EndedAt: a.EndedAt, PendingAudit: a.PendingAudit,
	}
	if a.Appointment != nil { // for when it is over
		short.Appointment = &hearken.Appointment{Start: a.Appointment.Start, Duration: a.Appointment.Duration}
	}
	if a.Decision != nil {
		short.Decision = &hearken.Decision{Grant: a.Decision.Grant}
	}
	return short
}

func (m *summary) valid(file os.FileInfo) bool {
	return os.SameFile(m.file, file) && m.file.Size() == file.Size() && m.file.ModTime().Equal(file.ModTime())
}

// summaries lists all actions. Those whose file is damaged are passed over and
// logged. The lock is held.
func (s *Store) summaries(ctx context.Context) ([]hearken.Action, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.root.FS(), actionsDir)
	if err != nil {
		return nil, err
	}
	s.indexMu.Lock()
	defer s.indexMu.Unlock()
	all := make([]hearken.Action, 0, len(entries))
	known := make(map[string]*summary, len(entries))
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !hearken.ValidActionID(id) {
			continue
		}
		m, err := s.summary(id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another process has just removed it
		case err != nil:
			s.Log.Warn("action passed over", "action_id", id, "error", err)
		default:
			known[id] = m
			all = append(all, m.action)
		}
	}
	s.known = known
	return all, nil
}

// summary finds the summary of one action and makes it if need be.
func (s *Store) summary(id string) (*summary, error) {
	file, err := s.root.Stat(recordFile(actionsDir, id))
	if err != nil {
		return nil, err
	}
	if m := s.known[id]; m != nil && m.valid(file) {
		return m, nil
	}
	a, err := s.action(id)
	if err != nil {
		return nil, err
	}
	return &summary{file, summarise(a)}, nil
}

// dropSummary forgets the summary of an action that is about to change.
func (s *Store) dropSummary(id string) {
	s.indexMu.Lock()
	defer s.indexMu.Unlock()
	delete(s.known, id)
}
