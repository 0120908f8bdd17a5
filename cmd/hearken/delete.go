package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/hearken-dev/hearken"
)

type deleteCmd struct {
	Sessions []string `arg:"" name:"session" help:"Ids of sessions, or the first characters of them."`
	Yes      bool     `short:"y" help:"Do not ask for confirmation."`
}

func (c *deleteCmd) Run(ctx context.Context, p *program) error {
	hub, err := p.connectTools(ctx)
	if err != nil {
		return err
	}
	defer hub.close()
	var ids []string
	for _, typed := range c.Sessions {
		id, err := hub.resolveSessionID(ctx, typed)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if !c.Yes {
			if err := p.confirm(fmt.Sprintf("Delete %s for good? [y/N] ", id)); err != nil {
				return err
			}
		}
		if _, err := call[struct{}](ctx, hub, "delete_session", arguments{"sessionId": id}); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "Deleted %s.\n", id)
	}
	return nil
}

// confirm asks the user at the terminal. A script must pass --yes.
func (p *program) confirm(question string) error {
	if !isTerminal(p.stdin) {
		return hearken.Errorf(hearken.Invalid, "Not a terminal, so it can't ask. Add --yes.")
	}
	fmt.Fprint(p.stderr, question)
	answer, err := bufio.NewReader(p.stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return exitCode(1)
	}
	return nil
}
