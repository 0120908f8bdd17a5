package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/people"
	"github.com/hearken-dev/hearken/safetext"
)

type contactsCmd struct {
	List   contactsListCmd   `cmd:"" default:"withargs" help:"List contacts."`
	Import contactsImportCmd `cmd:"" help:"Import contacts from a vCard file."`
	Remove contactsRemoveCmd `cmd:"" help:"Remove a contact."`
}

type contactsListCmd struct {
	JSON bool `help:"Write JSON."`
}

func (c *contactsListCmd) Run(ctx context.Context, p *program) error {
	list, err := control[[]hearken.Contact](ctx, p, controlRequest{Op: "contacts.list"})
	if err != nil {
		return err
	}
	return writeList(p, c.JSON, list, "The contact book is empty. Try: hearken contacts import FILE.vcf",
		[]string{"ID", "NAME", "ALSO", "EMAIL", "PHONE", ""}, func(c *hearken.Contact) []string {
			me := ""
			if c.Me {
				me = "you"
			}
			return []string{c.ID, c.Name, strings.Join(c.Aliases, ", "), strings.Join(c.Emails, ", "), strings.Join(c.Phones, ", "), me}
		})
}

type contactsImportCmd struct {
	File string `arg:"" type:"existingfile" help:"A vCard file, as phones and mail programs export it."`
	Me   string `help:"Name of the contact that is you."`
}

// Run asks for the PIN: actions trust people in the contact book more.
func (c *contactsImportCmd) Run(ctx context.Context, p *program) error {
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	cards, notes, err := people.ParseVCards(f, p.cfg.CountryCode)
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(p.stderr, safetext.Line(note))
	}
	mine := 0
	for i := range cards {
		if c.Me != "" && strings.EqualFold(cards[i].Name, c.Me) {
			cards[i].Me = true
			mine++
		}
	}
	if c.Me != "" && mine != 1 {
		return hearken.Errorf(hearken.Invalid, "The file has %d contacts named %q.", mine, c.Me)
	}
	report, err := ownerControl[string](ctx, p, controlRequest{Op: "contacts.import", Contacts: cards})
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, report)
	return nil
}

type contactsRemoveCmd struct {
	ID string `arg:"" help:"Id of the contact."`
}

func (c *contactsRemoveCmd) Run(ctx context.Context, p *program) error {
	if _, err := ownerControl[struct{}](ctx, p, controlRequest{Op: "contacts.remove", ID: c.ID}); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "Removed %s.\n", c.ID)
	return nil
}
