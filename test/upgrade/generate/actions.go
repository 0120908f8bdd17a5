package main

import (
	"errors"
	"fmt"
	"time"
)

// farTime is some hour of a day almost five years from now. The program allows
// no later time, and what is set for it should stay in the future for long.
func farTime(hours int) string {
	year, month, day := time.Now().AddDate(5, 0, -7).Date()
	return time.Date(year, month, day, hours, 0, 0, 0, time.UTC).Format("2006-01-02T15:04")
}

// A proposal is an action that an agent asks for. The call waits for its end.
type proposal struct {
	id     string // empty if it was decided at once
	answer chan error
}

// propose has the agent ask for an action, and returns when it waits for its
// owner or is over.
func (s *scenario) propose(tool string, args map[string]any) (*proposal, error) {
	p := &proposal{answer: make(chan error, 1)}
	s.calls.Go(func() {
		var outcome struct{ Status, Error string }
		err := s.CallAs(s.ctx, s.key, tool, args, &outcome)
		if err == nil && outcome.Status != "ok" {
			err = errors.New(outcome.Error)
		}
		p.answer <- err
	})
	err := waitUntil(s.ctx, tool+" waits or is over", func() (bool, error) {
		var waiting []struct{ ID string }
		err := s.Get(s.ctx, &waiting, "actions", "list", "--state", "pending")
		if len(waiting) == 1 {
			p.id = waiting[0].ID
		}
		return p.id != "" || len(p.answer) > 0, err
	})
	return p, err
}

// proposeAndApprove has the agent ask for an action that the owner allows.
func (s *scenario) proposeAndApprove(tool string, args map[string]any) error {
	p, err := s.propose(tool, args)
	if err != nil {
		return err
	}
	if p.id == "" {
		return fmt.Errorf("%s %v was decided at once: %w", tool, args, <-p.answer)
	}
	if _, err := s.RunAs(s.ctx, s.pin, "approve", p.id); err != nil {
		return err
	}
	return <-p.answer
}

// makeGrants allows some actions beforehand. Even the longest grant ends within
// a year, so most have ended when the data is opened, and are listed all the
// same.
func (s *scenario) makeGrants() error {
	for _, args := range [][]string{
		{"message.send", "email:bob@example.org", "--for", "720h", "--per-day", "3"},
		{"calendar.create", "builtin", "--for", "8760h", "--per-day", "5"},
		{"reminder.create", "builtin"},
	} {
		if _, err := s.RunAs(s.ctx, s.pin, append([]string{"grants", "create", "--key", s.keyID}, args...)...); err != nil {
			return err
		}
	}
	var all []struct{ ID, Tool string }
	if err := s.Get(s.ctx, &all, "grants", "list"); err != nil {
		return err
	}
	for _, g := range all {
		if g.Tool == "reminder.create" {
			_, err := s.RunCommand(s.ctx, "grants", "revoke", g.ID)
			return err
		}
	}
	return errors.New("there is no grant to revoke")
}

// carryOutActions has the hub carry out actions, and take one of them back.
func (s *scenario) carryOutActions() error {
	s.expected.AuditedText = "Forty crates of apples"
	for _, a := range []struct {
		tool string
		args map[string]any
	}{
		{"calendar_create", map[string]any{
			"title": s.expected.AuditedText, "start": farTime(1), "duration_min": 90, "location": "Old mill", "description": "by Friday",
			"evidence": map[string]any{"session_id": s.expected.Exported, "quote": "forty crates of apples"}, "idempotency_key": "market-1",
		}},
		{"message_send", map[string]any{"to": "Maria Souza", "text": "As maçãs chegam na sexta."}},
		{"reminder_create", map[string]any{"time": farTime(2), "note": "Renew the stall"}},
		{"reminder_create", map[string]any{"time": farTime(3), "note": "Water the trees", "repeat": "FREQ=WEEKLY;BYDAY=MO"}},
		{"calendar_create", map[string]any{"title": "Taken back", "start": farTime(4), "duration_min": 30}},
	} {
		if err := s.proposeAndApprove(a.tool, a.args); err != nil {
			return err
		}
	}
	var done []struct{ ID string }
	if err := s.Get(s.ctx, &done, "actions", "list", "--limit", "1"); err != nil {
		return err
	}
	if _, err := s.RunAs(s.ctx, s.pin, "actions", "undo", done[0].ID); err != nil {
		return err
	}
	// Covered by a grant, since the owner asked for it aloud.
	p, err := s.propose("message_send", map[string]any{"to": "Bob Okonkwo", "text": "Lunch is at one."})
	if err == nil && p.id != "" {
		err = fmt.Errorf("%s is not covered by the grant", p.id)
	}
	if err != nil {
		return err
	}
	return <-p.answer
}

// refuseActions has the agent ask for actions that are not carried out, each for
// another reason.
func (s *scenario) refuseActions() error {
	// The far side named a recipient who is no contact: denied at once.
	p, err := s.propose("message_send", map[string]any{"to": "zoe@example.net", "text": "The van leaves at six."})
	if err != nil {
		return err
	}
	if err := <-p.answer; err == nil || p.id != "" {
		return fmt.Errorf("the far side's recipient was not refused: %w", err)
	}
	if p, err = s.propose("message_send", map[string]any{"to": "Maria Souza", "text": "Cancel the order."}); err != nil {
		return err
	}
	if _, err := s.RunAs(s.ctx, s.pin, "deny", p.id, "--reason", "not before Friday"); err != nil {
		return err
	}
	if <-p.answer == nil {
		return errors.New("a denied message was sent")
	}
	if p, err = s.propose("calendar_create", map[string]any{"title": "Changed my mind", "start": farTime(5), "duration_min": 30}); err != nil {
		return err
	}
	if err := s.CallAs(s.ctx, s.key, "action_cancel", map[string]any{"id": p.id}, nil); err != nil {
		return err
	}
	if <-p.answer == nil {
		return errors.New("a cancelled appointment was made")
	}
	// The webhook refuses this one.
	if err := s.proposeAndApprove("message_send", map[string]any{"to": "Maria Souza", "platform": "webhook", "text": "Is anybody there?"}); err == nil {
		return errors.New("the webhook did not refuse")
	}
	return nil
}

// crashWhileSending kills the hub while it sends a message, so that nobody
// knows whether the message was sent.
func (s *scenario) crashWhileSending(env []string) error {
	s.hold.Store(true)
	p, err := s.propose("message_send", map[string]any{"to": "Maria Souza", "text": "Did this arrive?"})
	if err != nil {
		return err
	}
	s.calls.Go(func() { _, _ = s.RunAs(s.ctx, s.pin, "approve", p.id) }) // loses its hub
	select {
	case <-s.holding:
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	s.Kill()
	s.hold.Store(false)
	close(s.release)
	return s.start(s.ctx, env...)
}

// letExpire has the agent ask for an action that nobody decides about in time.
func (s *scenario) letExpire() error {
	p, err := s.propose("reminder_create", map[string]any{"time": farTime(6), "note": "Too late"})
	if err != nil {
		return err
	}
	if err := <-p.answer; err == nil {
		return errors.New("a reminder was set without a decision")
	}
	return nil
}
