package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audit"
	"github.com/hearken-dev/hearken/files"
	"github.com/hearken-dev/hearken/store/jsonfile"
	"github.com/hearken-dev/hearken/store/postgres"
	"github.com/hearken-dev/hearken/store/sqlite"
)

// auditCmd works on the files themselves: a proof that the hub's record is
// complete must not depend on the hub. Only a restart needs the hub.
type auditCmd struct {
	Verify  auditVerifyCmd  `cmd:"" default:"withargs" help:"Check that no record was changed, removed or reordered."`
	Restart auditRestartCmd `cmd:"" help:"Start a new audit in place of one that is not intact, so that actions go on."`
	Export  auditExportCmd  `cmd:"" help:"Write the records, one JSON object per line."`
	Hash    auditHashCmd    `cmd:"" help:"Show the hash by which a text appears in the audit."`
	Key     auditKeyCmd     `cmd:"" help:"Show the public key that others need to verify the audit."`
}

type auditVerifyCmd struct {
	Checkpoint string `help:"File with a checkpoint that you saved elsewhere, to compare with besides what the store and the key directory have."`
	Key        string `help:"Public key. Default: this computer's."`
	JSON       bool   `help:"Write JSON."`
}

func (c *auditVerifyCmd) Run(ctx context.Context, p *program) error {
	report, err := p.cfg.verifyAudit(ctx, audit.Options{Key: c.Key, Checkpoint: c.Checkpoint})
	if found, ok := errors.AsType[*audit.Tampered](err); ok {
		return hearken.Errorf(hearken.AuditUnavailable, "%w", found).
			WithTry("hearken audit restart, once you know what happened to the files; no action is carried out until then")
	}
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
	covered := "none covered by a signed checkpoint yet"
	if report.Checkpoints > 0 {
		covered = fmt.Sprintf("%d covered by %s", report.Covered, checkpoints)
	}
	known := "The store does not know this audit yet."
	if report.Head > 0 {
		known = fmt.Sprintf("The store knows of %d.", report.Head)
	}
	fmt.Fprintf(p.stdout, "%s verified, %s. %s\n", countRecords(report.Records), covered, known)
	if b := report.Break; b != nil {
		fmt.Fprintf(p.stdout, "This audit was started on %s, because the one before was not intact: %s\n", b.At.Local().Format(time.RFC1123), b.Found)
		for _, dir := range append(b.Earlier, b.Dir) {
			fmt.Fprintf(p.stdout, "Damaged files are in %s.\n", filepath.Join(p.cfg.auditDir(), dir))
		}
	}
	return nil
}

func countRecords(n int64) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}

// verifyAudit verifies the audit against what the store and the key directory
// know of it.
func (c *Config) verifyAudit(ctx context.Context, opts audit.Options) (r audit.Report, err error) {
	opts.KeyDir, opts.Name = c.KeyDir, c.auditName()
	if opts.Heads, err = c.readAuditHeads(ctx); err != nil {
		return r, err
	}
	return audit.Verify(c.auditDir(), opts)
}

// readAuditHeads reads what the store knows of audits, whether a hub runs or
// not.
func (c *Config) readAuditHeads(ctx context.Context) ([]hearken.AuditHead, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	switch c.StorageBackend {
	case "postgres":
		return postgres.ReadAuditHeads(ctx, c.DatabaseURL)
	case "json":
		return jsonfile.ReadAuditHeads(ctx, c.DatabaseURL)
	}
	return sqlite.ReadAuditHeads(ctx, c.DatabaseURL)
}

// auditName is the audit's name in the store. A store inside the data directory
// is moved together with it, so its audit needs no path.
func (c *Config) auditName() string {
	if _, inside := files.Inside(c.DataDir, c.DatabaseURL); inside && c.StorageBackend != "postgres" {
		return "audit"
	}
	if dir, err := filepath.EvalSymlinks(c.DataDir); err == nil {
		return filepath.Join(dir, "audit")
	}
	return c.auditDir()
}

type auditRestartCmd struct {
	Yes bool `short:"y" help:"Do not ask for confirmation."`
}

func (c *auditRestartCmd) Run(ctx context.Context, p *program) error {
	// The hub may know more than the files: what it has written itself.
	problem, err := control[string](ctx, p, controlRequest{Op: "audit.check"})
	if err != nil {
		return err
	}
	if problem == "" {
		return hearken.Errorf(hearken.Invalid, "The audit is intact. There is nothing to restart.")
	}
	fmt.Fprintln(p.stderr, problem)
	if !c.Yes {
		question := "The damaged files will be kept. Have you found out what happened to them, and may actions go on? [y/N] "
		if err := p.confirm(question); err != nil {
			return err
		}
	}
	b, err := ownerControl[audit.Break](ctx, p, controlRequest{Op: "audit.restart"})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "A new audit is started, and actions go on. The damaged files (%s) are in %s.\n",
		countRecords(b.Records), filepath.Join(p.cfg.auditDir(), b.Dir))
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
	since, err := parseDay(c.Since)
	if err != nil {
		return err
	}
	until, err := parseDay(c.Until)
	if err != nil {
		return err
	}
	return audit.Export(p.cfg.auditDir(), p.stdout, audit.Filter{
		Since: since, Until: until, Type: c.Type, Action: c.Action, Principal: c.Key,
	})
}

// parseDay returns the beginning of a day, or the zero time if there is none.
func parseDay(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return day, hearken.Errorf(hearken.Invalid, "%q is not a day such as 2026-11-01.", text)
	}
	return day, nil
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
