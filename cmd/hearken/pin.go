package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
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
		if req.PIN, err = p.askSecret("Current PIN: "); err != nil {
			return err
		}
	} else if file := p.cfg.OwnerPINFile; file != "" {
		if req.NewPIN, err = readSecret("OWNER_PIN_FILE", file); err != nil {
			return err
		}
	}
	if req.NewPIN == "" {
		if req.NewPIN, err = p.askSecret("New PIN (at least 6 characters): "); err != nil {
			return err
		}
		repeated, err := p.askSecret("Repeat the new PIN: ")
		if err != nil {
			return err
		}
		if repeated != req.NewPIN {
			return hearken.Errorf(hearken.Invalid, "The two PINs differ.").WithTry("hearken pin")
		}
	}
	if _, err := control[struct{}](ctx, p, req); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "The PIN is set. Hearken asks for it whenever you approve an action.")
	return nil
}

// pin returns the owner's PIN, from OWNER_PIN_FILE or typed.
func (p *program) pin() (string, error) {
	if file := p.cfg.OwnerPINFile; file != "" {
		return readSecret("OWNER_PIN_FILE", file)
	}
	return p.askSecret("PIN: ")
}

// askSecret reads a secret from the terminal, never from a pipe, into which
// another program could write.
func (p *program) askSecret(question string) (string, error) {
	device := "/dev/tty"
	if runtime.GOOS == "windows" {
		device = "CONIN$"
	}
	tty, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil || !isTerminal(tty) {
		return "", hearken.Errorf(hearken.Unauthorized, "This needs the owner's PIN, but there is no terminal to type it in.").
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
