package main

import (
	"context"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audit"
)

// auditCmd works on the files themselves: a proof that the hub's record is
// complete must not depend on the hub.
type auditCmd struct {
	Verify auditVerifyCmd `cmd:"" default:"withargs" help:"Check that no record was changed, removed or reordered."`
	Export auditExportCmd `cmd:"" help:"Write the records, one JSON object per line."`
	Hash   auditHashCmd   `cmd:"" help:"Show the hash by which a text appears in the audit."`
	Key    auditKeyCmd    `cmd:"" help:"Show the public key that others need to verify the audit."`
}

type auditVerifyCmd struct {
	Checkpoint string `help:"File with a checkpoint that you saved elsewhere. Default: the copy next to the keys."`
	Key        string `help:"Public key. Default: this computer's."`
	JSON       bool   `help:"Write JSON."`
}

func (c *auditVerifyCmd) Run(_ context.Context, p *program) error {
	report, err := audit.Verify(p.cfg.auditDir(), audit.Options{KeyDir: p.cfg.KeyDir, Key: c.Key, Checkpoint: c.Checkpoint})
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(report)
	}
	checkpoints := "a signed checkpoint"
	if report.Checkpoints != 1 {
		checkpoints = fmt.Sprintf("%d signed checkpoints", report.Checkpoints)
	}
	records := "1 record"
	if report.Records != 1 {
		records = fmt.Sprintf("%d records", report.Records)
	}
	if report.Checkpoints == 0 {
		fmt.Fprintf(p.stdout, "%s verified, none covered by a signed checkpoint yet.\n", records)
		return nil
	}
	fmt.Fprintf(p.stdout, "%s verified, %d covered by %s.\n", records, report.Covered, checkpoints)
	return nil
}

type auditExportCmd struct {
	Since  string `help:"First day to include, such as 2026-11-01."`
	Until  string `help:"First day to leave out."`
	Type   string `help:"Only records of this type, such as action or action.result."`
	Action string `help:"Only records of this action."`
	Key    string `help:"Only records of this key."`
}

func (c *auditExportCmd) Run(_ context.Context, p *program) error {
	f := audit.Filter{Type: c.Type, Action: c.Action, Principal: c.Key}
	for text, at := range map[string]*time.Time{c.Since: &f.Since, c.Until: &f.Until} {
		if text == "" {
			continue
		}
		t, err := time.ParseInLocation(time.DateOnly, text, time.Local)
		if err != nil {
			return hearken.Errorf(hearken.Invalid, "%q is not a day such as 2026-11-01.", text)
		}
		*at = t
	}
	return audit.Export(p.cfg.auditDir(), p.stdout, f)
}

type auditHashCmd struct {
	Text string `arg:"" help:"The text."`
}

func (c *auditHashCmd) Run(_ context.Context, p *program) error {
	keys, err := audit.ReadKeys(p.cfg.KeyDir)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, keys.Hash(c.Text))
	return nil
}

type auditKeyCmd struct{}

func (c *auditKeyCmd) Run(_ context.Context, p *program) error {
	keys, err := audit.ReadKeys(p.cfg.KeyDir)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, keys.VerifierKey())
	return nil
}
