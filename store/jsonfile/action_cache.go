package jsonfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

// An actionSummary is what a filter needs of an action, so that a list does not
// read every file each time. It is valid while the file stays the same.
type actionSummary struct {
	file   os.FileInfo
	action hearken.Action // without its texts
}

func summarize(a *hearken.Action) hearken.Action {
	short := hearken.Action{
		ID: a.ID, State: a.State, Principal: a.Principal, Tool: a.Tool, Target: a.Target, IdempotencyKey: a.IdempotencyKey,
		CreatedAt: a.CreatedAt, EndedAt: a.EndedAt, PendingAudit: a.PendingAudit,
	}
	if a.Appointment != nil { // for Action.OverAt
		short.Appointment = &hearken.Appointment{Start: a.Appointment.Start, Duration: a.Appointment.Duration}
	}
	if a.Decision != nil {
		short.Decision = &hearken.Decision{Grant: a.Decision.Grant}
	}
	for i := range a.Evidence { // for ForgetInActions
		if session := a.Evidence[i].Session; session != "" && !store.HasEvidenceFrom(&short, session) {
			short.Evidence = append(short.Evidence, hearken.Evidence{Session: session})
		}
	}
	return short
}

func (m *actionSummary) isFresh(file os.FileInfo) bool {
	return os.SameFile(m.file, file) && m.file.Size() == file.Size() && m.file.ModTime().Equal(file.ModTime())
}

// summarizeActions lists the summaries of all actions. It skips and logs those
// whose file is damaged. The lock is held.
func (s *Store) summarizeActions(ctx context.Context) ([]hearken.Action, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.root.FS(), actionsDir)
	if err != nil {
		return nil, err
	}
	s.cacheMu.Lock()
	defer s.cacheMu.Unlock()
	all := make([]hearken.Action, 0, len(entries))
	valid := make(map[string]*actionSummary, len(entries))
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
			s.Log.Warn("damaged action skipped", "action_id", id, "error", err)
		default:
			valid[id] = m
			all = append(all, m.action)
		}
	}
	s.summaries = valid
	return all, nil
}

// summary returns the summary of one action, from the cache if it is still
// valid.
func (s *Store) summary(id string) (*actionSummary, error) {
	file, err := s.root.Stat(documentPath(actionsDir, id))
	if err != nil {
		return nil, err
	}
	if m := s.summaries[id]; m != nil && m.isFresh(file) {
		return m, nil
	}
	a, err := s.action(id)
	if err != nil {
		return nil, err
	}
	return &actionSummary{file, summarize(a)}, nil
}

// dropSummary removes the summary of an action that is about to change.
func (s *Store) dropSummary(id string) {
	s.cacheMu.Lock()
	defer s.cacheMu.Unlock()
	delete(s.summaries, id)
}
