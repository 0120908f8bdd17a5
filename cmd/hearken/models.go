package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

type modelsCmd struct {
	Pull   modelsPullCmd   `cmd:"" help:"Download missing models, with the npm client or from a directory, file or URL."`
	List   modelsListCmd   `cmd:"" help:"List installed and available models with their licences."`
	Remove modelsRemoveCmd `cmd:"" help:"Remove downloaded models."`
}

type modelsPullCmd struct {
	Names []string `arg:"" optional:"" help:"Names of models, as in the list. Default: English."`
	From  string   `placeholder:"DIR|FILE|URL" help:"Where to get them instead of npm."`
}

func (c *modelsPullCmd) Run(ctx context.Context, p *program) error {
	root, err := modelRoot(p.cfg)
	if err != nil {
		return err
	}
	return models.Pull(ctx, models.Options{
		Root: root, Names: c.Names, From: c.From,
		Progress: models.Printer(p.stderr),
		After:    func(dir string) error { return p.optimizeModel(ctx, root, dir) },
	})
}

// optimizeModel rewrites a model to run faster and verifies the result against
// the published model. If that fails, the published one is used.
func (p *program) optimizeModel(ctx context.Context, root, dir string) error {
	if moonshine.Rewritten(dir) {
		return nil
	}
	err := moonshine.Rewrite(dir)
	if err == nil {
		err = verifyModel(ctx, models.Library(root), dir)
	}
	if err != nil && ctx.Err() == nil {
		p.log.Warn("model not optimized; it runs as published, which is slower", "dir", dir, "error", err)
	}
	return ctx.Err()
}

// verifyModel verifies a rewritten model and removes it if that fails.
func verifyModel(ctx context.Context, library, dir string) error {
	rt, err := onnx.Open(library)
	if err == nil {
		defer rt.Close()
		err = moonshine.Verify(ctx, rt, dir, nil)
	}
	if err != nil {
		return errors.Join(err, moonshine.RemoveRewritten(dir))
	}
	return nil
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
	err = writeList(p, c.JSON, entries, "", []string{"NAME", "WHAT", "LANGUAGE", "SIZE", "STATE", "LICENCE"}, func(e *models.Entry) []string {
		state := string(e.State)
		if e.Problem != "" {
			state += ": " + e.Problem
		}
		return []string{e.Name, e.Title, e.Language, fmt.Sprintf("%.1f MB", float64(e.Size)/1e6), state, e.Licence}
	})
	if err == nil && !c.JSON {
		_, err = fmt.Fprintf(p.stdout, "\nDirectory: %s\n", root)
	}
	return err
}

type modelsRemoveCmd struct {
	Names []string `arg:"" help:"Names of models, as in the list, or all."`
}

func (c *modelsRemoveCmd) Run(ctx context.Context, p *program) error {
	root, err := modelRoot(p.cfg)
	if err != nil {
		return err
	}
	return models.Remove(ctx, root, c.Names...)
}
