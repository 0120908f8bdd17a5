package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hearken-dev/hearken"
)

type grantsCmd struct {
	List   grantsListCmd   `cmd:"" default:"withargs" help:"List grants."`
	Create grantsCreateCmd `cmd:"" help:"Let a key act on one target without asking you, within limits."`
	Revoke grantsRevokeCmd `cmd:"" help:"Revoke a grant immediately."`
}

type grantsListCmd struct {
	JSON bool `help:"Write JSON."`
}

// A grantStatus is a grant, and why it does not apply now.
type grantStatus struct {
	hearken.Grant
	Off string `json:"off,omitempty"` // part of a sentence; empty if it applies, was revoked or has ended
}

// listGrants lists all grants.
func (a *App) listGrants(ctx context.Context, _ controlRequest) (any, error) {
	grants, err := a.queue.Grants(ctx)
	if err != nil {
		return nil, err
	}
	out := []grantStatus{}
	for _, g := range grants {
		status := grantStatus{Grant: g}
		if g.RevokedAt == nil && a.now().Before(g.ExpiresAt) {
			status.Off, err = a.queue.WhyGrantsAreOff(ctx, g.Principal)
			if hearken.CodeOf(err) == hearken.Unauthorized {
				status.Off, err = "this key was revoked", nil
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, status)
	}
	return out, nil
}

func (c *grantsListCmd) Run(ctx context.Context, p *program) error {
	grants, err := control[[]grantStatus](ctx, p, controlRequest{Op: "grants.list"})
	if err != nil {
		return err
	}
	return writeList(p, c.JSON, grants, "There are no grants: every action asks you.",
		[]string{"ID", "KEY", "TOOL", "TARGET", "A DAY", "UNTIL", "STATE"}, func(g *grantStatus) []string {
			state := "good"
			switch {
			case g.RevokedAt != nil:
				state = "revoked " + localTime(*g.RevokedAt)
			case !time.Now().Before(g.ExpiresAt):
				state = "ended"
			case g.Off != "":
				state = "off now: " + g.Off
			}
			return []string{g.ID, g.Principal, g.Tool, g.Target, strconv.Itoa(g.PerDay), localTime(g.ExpiresAt), state}
		})
}

type grantsCreateCmd struct {
	Key    string        `default:"local" help:"Id of the key that may act, or local for agents on this computer."`
	Tool   string        `arg:"" help:"calendar.create, message.send or reminder.create."`
	Target string        `arg:"" help:"For calendars and reminders: builtin or caldav. For messages: platform:address of your own, such as email:me@example.org. Messages to other people always ask."`
	For    time.Duration `default:"24h" help:"How long the grant lasts."`
	PerDay int           `default:"20" help:"How many actions per day."`
}

func (c *grantsCreateCmd) Run(ctx context.Context, p *program) error {
	if c.PerDay < 1 {
		return hearken.Errorf(hearken.Invalid, "--per-day must be at least 1.")
	}
	g, err := ownerControl[hearken.Grant](ctx, p, controlRequest{Op: "grants.create", Grant: &hearken.Grant{
		Principal: c.Key, Tool: c.Tool, Target: c.Target, PerDay: c.PerDay, ExpiresAt: time.Now().Add(c.For), From: "terminal",
	}})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s: %s may use %s on %s until %s, %d times per day.\n", g.ID, g.Principal, g.Tool, g.Target, localTime(g.ExpiresAt), g.PerDay)
	fmt.Fprintln(p.stderr, "For a key that can read transcripts you are asked all the same while people can be heard, and for a while after it has read something. Try: hearken grants")
	return nil
}

type grantsRevokeCmd struct {
	ID string `arg:"" help:"Id of the grant."`
}

// Run needs no PIN: revoking is always allowed.
func (c *grantsRevokeCmd) Run(ctx context.Context, p *program) error {
	g, err := control[hearken.Grant](ctx, p, controlRequest{Op: "grants.revoke", ID: c.ID})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "Revoked %s.\n", g.ID)
	return nil
}
