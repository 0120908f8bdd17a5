package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audit"
	"github.com/hearken-dev/hearken/files"
)

// An auditSpeed compares the audit with a plain file on the same disk at the
// same time.
type auditSpeed struct {
	Append time.Duration // one record, checkpoints included
	Bare   time.Duration // one write of as many bytes and a sync
}

// Ratio is the audit's speed as a part of the plain file's.
func (s auditSpeed) Ratio() float64 { return float64(s.Bare) / float64(s.Append) }

// measureAuditAppends appends n records one after the other to a new audit in
// dir, and writes and syncs as many bytes to a file beside it. The two take
// turns, so that other load on the disk affects both.
func measureAuditAppends(ctx context.Context, dir string, n int) (s auditSpeed, err error) {
	auditDir := filepath.Join(dir, "audit")
	log, err := audit.Open(audit.Config{Dir: auditDir, KeyDir: filepath.Join(dir, "keys")})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	bare, err := os.OpenFile(filepath.Join(dir, "bare"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return s, err
	}
	defer bare.Close()
	var size int64
	const turn = 20
	for i := 0; i < n; i += turn {
		count := min(n-i, turn)
		begun := time.Now()
		for j := range count {
			if err := log.Append(ctx, auditRecord(i+j)); err != nil {
				return s, err
			}
		}
		s.Append += time.Since(begun)
		now, err := auditSize(auditDir)
		if err != nil {
			return s, err
		}
		data := make([]byte, (now-size)/int64(count))
		size = now
		begun = time.Now()
		for range count {
			if _, err := bare.Write(data); err != nil {
				return s, err
			}
			if err := files.SyncData(bare); err != nil {
				return s, err
			}
		}
		s.Bare += time.Since(begun)
	}
	s.Append /= time.Duration(n)
	s.Bare /= time.Duration(n)
	return s, nil
}

// auditSize is the size of an audit's records in bytes.
func auditSize(dir string) (size int64, err error) {
	months, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return 0, err
	}
	for _, month := range months {
		info, err := os.Stat(month)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, nil
}

// fillAudit appends n records without waiting for each.
func fillAudit(ctx context.Context, log *audit.Log, n int) error {
	const batch = 1000
	failed := make(chan error, batch)
	for i := 0; i < n; i += batch {
		count := min(n-i, batch)
		for j := range count {
			go func() { failed <- log.Append(ctx, auditRecord(i+j)) }()
		}
		for range count {
			if err := <-failed; err != nil {
				return err
			}
		}
	}
	return nil
}

// auditRecord is a record of the usual size.
func auditRecord(i int) hearken.AuditRecord {
	return hearken.AuditRecord{
		Type: hearken.AuditExecuting, Action: fmt.Sprintf("msg_%016d", i), Principal: "k7f3q2ab", Tool: hearken.MessageSend,
		Target: "email:bob@hub.example", State: string(hearken.ActionExecuting), By: "owner", From: "page",
		Digest:   strings.Repeat(fmt.Sprintf("%02x", byte(i)), 32),
		Evidence: []string{"to=M:0b5f9c9e-3f0f-4f43-9d3c-2b9a53a3a8ad/s12", "text=M:0b5f9c9e-3f0f-4f43-9d3c-2b9a53a3a8ad/s13"},
		Texts:    map[string]string{"text": "The contract comes on Friday."},
	}
}
