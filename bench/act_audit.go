package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken/audit"
)

// measureActAudit holds the audit against a bare file on the same disk, and
// verifies a long one.
func measureActAudit(ctx context.Context, b *bench) error {
	rounds, appends, records := 7, 2000, 100_000
	if b.quick {
		rounds, appends, records = 3, 500, 10_000
	}
	var ratios []float64
	var last auditSpeed
	for i := range rounds {
		m, err := measureAuditAppends(ctx, filepath.Join(b.dir, fmt.Sprintf("act-audit-%d", i)), appends)
		if err != nil {
			return err
		}
		last = m
		ratios = append(ratios, m.Ratio())
	}
	b.rows.add("audit append with sync, speed as a part of a bare write and sync", "min", 0.7, median(ratios), "",
		fmt.Sprintf("%s; %s against %s in the last", spread(ratios), last.Append.Round(time.Microsecond), last.Bare.Round(time.Microsecond)))

	dir, keys := filepath.Join(b.dir, "act-audit-long"), filepath.Join(b.dir, "act-audit-keys")
	log, err := audit.Open(audit.Config{Dir: dir, KeyDir: keys})
	if err != nil {
		return err
	}
	err = fillAudit(ctx, log, records)
	key := log.VerifierKey()
	if closed := log.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("fill audit: %w", err)
	}
	var took []float64
	for range 3 {
		begun := time.Now()
		report, err := audit.Verify(dir, audit.Options{Key: key})
		if err != nil {
			return err
		}
		if report.Records < int64(records) {
			return fmt.Errorf("only %d records were verified", report.Records)
		}
		took = append(took, time.Since(begun).Seconds())
	}
	if err := spoilAudit(dir); err != nil {
		return err
	}
	if _, err := audit.Verify(dir, audit.Options{Key: key}); err == nil {
		return errors.New("an audit with a changed byte was verified as well")
	}
	b.rows.add(fmt.Sprintf("%d records of the audit verified", records), "max", 3, median(took), "s", spread(took))
	return nil
}

// spoilAudit changes one byte in the middle of an audit.
func spoilAudit(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no records in %s", dir)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	at := len(data)/2 + bytes.IndexByte(data[len(data)/2:], ':') + 2
	data[at] ^= 1
	return os.WriteFile(files[0], data, 0o600)
}
