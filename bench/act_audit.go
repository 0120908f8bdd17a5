package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audit"
)

// benchAudit compares the audit with a bare file on the same disk, and verifies
// a long one.
func benchAudit(b *bench) {
	var ratios []float64
	var appending, writing time.Duration
	for range pick(b, 7, 3) {
		appending, writing = timeAppends(b, pick(b, 2000, 500))
		ratios = append(ratios, float64(writing)/float64(appending))
	}
	b.report("audit append with its signed checkpoint, speed as a part of two bare writes and syncs", atLeast(0.6), median(ratios), "",
		fmt.Sprintf("%s; %s against %s in the last", spread(ratios), appending.Round(time.Microsecond), writing.Round(time.Microsecond)))

	records := pick(b, 100_000, 10_000)
	dir := filepath.Join(b.TempDir(), "audit")
	key := writeAudit(b, dir, records)
	var took []float64
	for range 3 {
		began := time.Now()
		report, err := audit.Verify(dir, audit.Options{Key: key})
		b.check(err)
		if report.Records < int64(records) {
			b.Fatalf("only %d records were verified", report.Records)
		}
		took = append(took, time.Since(began).Seconds())
	}
	changeByte(b, dir)
	if _, err := audit.Verify(dir, audit.Options{Key: key}); err == nil {
		b.Fatal("an audit with a changed byte was verified as well")
	}
	b.report(fmt.Sprintf("%d records of the audit verified", records), atMost(3), median(took), "s", spread(took))
}

// timeAppends appends n records to a new audit, and writes and syncs as many
// bytes to two files beside it: the audit writes a record and a checkpoint. The
// two take turns, so that what else the disk does hits both. It returns the
// time for each.
func timeAppends(b *bench, n int) (appending, writing time.Duration) {
	dir := b.TempDir()
	log, err := audit.Open(audit.Config{Dir: filepath.Join(dir, "audit"), KeyDir: filepath.Join(dir, "keys")})
	b.check(err)
	defer func() { b.check(log.Close()) }()
	patterns := []string{filepath.Join(dir, "audit", "*.jsonl"), filepath.Join(dir, "audit", "checkpoints")}
	var bare [2]*os.File
	for i := range bare {
		bare[i], err = os.Create(filepath.Join(dir, fmt.Sprint("bare", i)))
		b.check(err)
		defer bare[i].Close()
	}
	const turn = 20
	for i := 0; i < n; i += turn {
		before := [2]int64{fileSize(b, patterns[0]), fileSize(b, patterns[1])}
		began := time.Now()
		for j := range turn {
			b.check(log.Append(b.ctx, auditRecord(i+j)))
		}
		appending += time.Since(began)
		var data [2][]byte
		for k := range data {
			data[k] = make([]byte, (fileSize(b, patterns[k])-before[k])/turn)
		}
		began = time.Now()
		for range turn {
			for k, f := range bare {
				_, err := f.Write(data[k])
				b.check(err)
				b.check(syncData(f))
			}
		}
		writing += time.Since(began)
	}
	return appending / time.Duration(n), writing / time.Duration(n)
}

// fileSize is the size of all files that match a pattern.
func fileSize(b *bench, pattern string) (size int64) {
	files, err := filepath.Glob(pattern)
	b.check(err)
	for _, file := range files {
		info, err := os.Stat(file)
		b.check(err)
		size += info.Size()
	}
	return size
}

// writeAudit writes so many records without waiting for each, and returns the
// key that verifies them.
func writeAudit(b *bench, dir string, records int) (key string) {
	log, err := audit.Open(audit.Config{Dir: dir, KeyDir: filepath.Join(b.TempDir(), "keys")})
	b.check(err)
	defer func() { b.check(log.Close()) }()
	const together = 1000
	errs := make(chan error, together)
	for i := 0; i < records; i += together {
		for j := range together {
			go func() { errs <- log.Append(context.Background(), auditRecord(i+j)) }()
		}
		for range together {
			b.check(<-errs)
		}
	}
	return log.VerifierKey()
}

// auditRecord is a record as an action leaves it.
func auditRecord(i int) hearken.AuditRecord {
	digest := sha256.Sum256([]byte{byte(i)})
	return hearken.AuditRecord{
		Type: hearken.AuditExecuting, Action: fmt.Sprintf("msg_%016d", i), Principal: "k7f3q2ab", Tool: hearken.MessageSend,
		Target: "email:bob@hub.example", State: string(hearken.ActionExecuting), By: "owner", From: "page",
		Digest:   hex.EncodeToString(digest[:]),
		Evidence: []string{"to=M:0b5f9c9e-3f0f-4f43-9d3c-2b9a53a3a8ad/s12", "text=M:0b5f9c9e-3f0f-4f43-9d3c-2b9a53a3a8ad/s13"},
		Texts:    map[string]string{"text": "The contract comes on Friday."},
	}
}

// changeByte changes one byte in the middle of an audit.
func changeByte(b *bench, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	b.check(err)
	if len(files) == 0 {
		b.Fatalf("no records in %s", dir)
	}
	data, err := os.ReadFile(files[0])
	b.check(err)
	at := len(data)/2 + bytes.IndexByte(data[len(data)/2:], ':') + 2
	data[at] ^= 1
	b.check(os.WriteFile(files[0], data, 0o600))
}
