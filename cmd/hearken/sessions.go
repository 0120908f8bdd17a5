package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

type sessionsCmd struct {
	Status string `default:"all" enum:"all,active,stopped" help:"all, active or stopped."`
	Limit  int    `default:"20" help:"How many to show, up to 200."`
	Since  string `help:"Started at or after: a time, a date, or an age such as 2h or 7d."`
	Until  string `help:"Started before: the same formats."`
	JSON   bool   `help:"Write JSON."`
}

// A sessionRow is one session in the result of list_sessions.
type sessionRow struct {
	ID           string                `json:"id"`
	Title        string                `json:"title,omitempty"`
	Status       hearken.SessionStatus `json:"status"`
	StopReason   string                `json:"stopReason,omitempty"`
	Language     string                `json:"language"`
	Provider     string                `json:"provider,omitempty"`
	StartedAt    time.Time             `json:"startedAt"`
	Duration     float64               `json:"duration"`
	SegmentCount int                   `json:"segmentCount"`
}

type sessionList struct {
	Sessions  []sessionRow `json:"sessions"`
	Truncated bool         `json:"truncated,omitempty"`
}

func (c *sessionsCmd) Run(ctx context.Context, p *program) error {
	hub, err := p.connectTools(ctx)
	if err != nil {
		return err
	}
	defer hub.close()
	args := arguments{"status": c.Status, "limit": c.Limit}
	args.add("since", c.Since)
	args.add("until", c.Until)
	list, err := call[sessionList](ctx, hub, "list_sessions", args)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(list)
	}
	err = writeList(p, false, list.Sessions, "No sessions found.",
		[]string{"ID", "STARTED", "LENGTH", "ENTRIES", "STATUS", "LANGUAGE", "TITLE"}, func(s *sessionRow) []string {
			status := string(s.Status)
			if s.StopReason != "" && s.StopReason != hearken.StopRequested && s.StopReason != hearken.StopFinished {
				status += " (" + strings.ReplaceAll(s.StopReason, "_", " ") + ")"
			}
			return []string{s.ID, localTime(s.StartedAt), formatSeconds(s.Duration), strconv.Itoa(s.SegmentCount), status, s.Language, s.Title}
		})
	if n := len(list.Sessions); err == nil && list.Truncated && n > 0 {
		fmt.Fprintf(p.stderr, "There are more. Try: hearken sessions --until %s\n", list.Sessions[n-1].StartedAt.Format(time.RFC3339))
	}
	return err
}

// arguments are the arguments of a tool call.
type arguments map[string]any

// add adds an argument unless it is empty, so that the tool's default applies.
func (a arguments) add(name, value string) {
	if value != "" {
		a[name] = value
	}
}

// resolveSessionID returns the id of the session that the user typed: all of its id,
// the beginning of it, or "last".
func (c *client) resolveSessionID(ctx context.Context, typed string) (string, error) {
	typed = strings.ToLower(typed)
	if hearken.ValidID(typed) {
		return typed, nil
	}
	list, err := call[sessionList](ctx, c, "list_sessions", arguments{"limit": 200})
	if err != nil {
		return "", err
	}
	var found []string
	for i, s := range list.Sessions {
		if typed == "last" && i == 0 || strings.HasPrefix(s.ID, typed) {
			found = append(found, s.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", hearken.Errorf(hearken.SessionNotFound, "There is no session %q.", typed).WithTry("hearken sessions")
	}
	return "", hearken.Errorf(hearken.Invalid, "The ids of %d sessions begin with %q.", len(found), typed).WithTry("more characters of the id, from hearken sessions")
}
