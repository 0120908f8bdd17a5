package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/hearken-dev/hearken"
)

// pinCmd sets the owner's PIN.
type pinCmd struct{}

func (c *pinCmd) Run(ctx context.Context, p *program) error {
	set, err := control[bool](ctx, p, controlRequest{Op: "owner.set"})
	if err != nil {
		return err
	}
	req := controlRequest{Op: "owner.pin"}
	if set {
		if req.PIN, err = p.ask("Your PIN now: "); err != nil {
			return err
		}
	} else if file := p.cfg.OwnerPINFile; file != "" {
		if req.NewPIN, err = readSecret("OWNER_PIN_FILE", file); err != nil {
			return err
		}
	}
	if req.NewPIN == "" {
		if req.NewPIN, err = p.ask("Your new PIN, of at least 6 characters: "); err != nil {
			return err
		}
		again, err := p.ask("The same again: ")
		if err != nil {
			return err
		}
		if again != req.NewPIN {
			return hearken.Errorf(hearken.Invalid, "The two are not the same.").WithTry("hearken pin")
		}
	}
	if _, err := control[struct{}](ctx, p, req); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "The PIN is set. It is asked for whenever an action is to be allowed.")
	return nil
}

// pin is the owner's PIN: of the file for scripts, or typed.
func (p *program) pin() (string, error) {
	if file := p.cfg.OwnerPINFile; file != "" {
		return readSecret("OWNER_PIN_FILE", file)
	}
	return p.ask("PIN: ")
}

// ask reads a secret from the terminal itself, never from a pipe: what another
// program writes is no person's word.
func (p *program) ask(question string) (string, error) {
	tty, err := os.OpenFile(terminalName, os.O_RDWR, 0)
	if err != nil || !term.IsTerminal(int(tty.Fd())) {
		return "", hearken.Errorf(hearken.Unauthorized, "The owner's PIN is needed, and there is no terminal to type it.").
			WithTry("the same command in a terminal, the page /approvals, or OWNER_PIN_FILE for scripts")
	}
	defer tty.Close()
	fmt.Fprint(tty, question)
	secret, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(tty)
	if err != nil {
		return "", fmt.Errorf("read PIN: %w", err)
	}
	return strings.TrimSpace(string(secret)), nil
}

// asOwner adds the owner's PIN to a request, if there is one to be asked for.
func (p *program) asOwner(ctx context.Context, req controlRequest) (controlRequest, error) {
	set, err := control[bool](ctx, p, controlRequest{Op: "owner.set"})
	if err != nil || !set {
		return req, err
	}
	req.PIN, err = p.pin()
	return req, err
}
