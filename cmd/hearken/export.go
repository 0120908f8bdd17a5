package main

import (
	"context"
	"fmt"
	"os"
)

type exportCmd struct {
	Session string `arg:"" default:"last" help:"Id of the session, its beginning, or last."`
	Format  string `short:"f" default:"txt" enum:"txt,json,srt,vtt,md" help:"txt, json, srt, vtt or md."`
	Output  string `short:"o" placeholder:"FILE" help:"Write to a file instead of standard output."`
}

func (c *exportCmd) Run(ctx context.Context, p *program) error {
	hub, err := p.tools(ctx)
	if err != nil {
		return err
	}
	defer hub.close()
	id, err := hub.find(ctx, c.Session)
	if err != nil {
		return err
	}
	res, err := call[struct {
		Data string `json:"data"`
	}](ctx, hub, "export_session", arguments{"sessionId": id, "format": c.Format})
	if err != nil {
		return err
	}
	if c.Output == "" || c.Output == "-" {
		_, err = fmt.Fprint(p.stdout, res.Data)
		return err
	}
	// What was said is not for everybody on this computer.
	return os.WriteFile(c.Output, []byte(res.Data), 0o600)
}
