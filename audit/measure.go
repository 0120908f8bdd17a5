package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// A Measurement is how an audit compares to a bare file on the same disk at
// the same time.
type Measurement struct {
	Append time.Duration // a record, checkpoints included
	Bare   time.Duration // a write of as many bytes and a sync
}

// Ratio is the audit's speed as a part of the bare file's.
func (m Measurement) Ratio() float64 { return float64(m.Bare) / float64(m.Append) }

// Measure appends n records one after the other to a new audit in dir, and
// writes and syncs the same bytes to a file beside it. The two take turns, so
// that what else the disk does hits both.
func Measure(dir string, n int) (m Measurement, err error) {
	log, err := Open(Config{Dir: filepath.Join(dir, "audit"), KeyDir: filepath.Join(dir, "keys")})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	bare, err := os.OpenFile(filepath.Join(dir, "bare"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return m, err
	}
	defer bare.Close()
	ctx := context.Background()
	var size int64
	const turn = 20
	for i := 0; i < n; i += turn {
		begun := time.Now()
		for j := i; j < min(n, i+turn); j++ {
			if err := log.Append(ctx, sample(j)); err != nil {
				return m, err
			}
		}
		m.Append += time.Since(begun)
		written := make([]byte, (log.w.size-size)/int64(min(n, i+turn)-i))
		size = log.w.size
		begun = time.Now()
		for j := i; j < min(n, i+turn); j++ {
			if _, err := bare.Write(written); err != nil {
				return m, err
			}
			if err := syncData(bare); err != nil {
				return m, err
			}
		}
		m.Bare += time.Since(begun)
	}
	m.Append /= time.Duration(n)
	m.Bare /= time.Duration(n)
	return m, nil
}

// Fill appends n records of the usual kind without waiting for each.
func Fill(ctx context.Context, log *Log, n int) error {
	const together = 1000
	failed := make(chan error, together)
	for i := 0; i < n; i += together {
		for j := i; j < min(n, i+together); j++ {
			go func() { failed <- log.Append(ctx, sample(j)) }()
		}
		for j := i; j < min(n, i+together); j++ {
			if err := <-failed; err != nil {
				return err
			}
		}
	}
	return nil
}

// sample is a record as an action leaves it.
func sample(i int) hearken.AuditRecord {
	return hearken.AuditRecord{
		Type: hearken.AuditExecuting, Action: fmt.Sprintf("msg_%016d", i), Principal: "k7f3q2ab", Tool: hearken.MessageSend,
		Target: "email:bob@hub.example", State: string(hearken.ActionExecuting), By: "owner", From: "page",
		Digest:   sum([]byte{byte(i)}),
		Evidence: []string{"to=M:0b5f9c9e-3f0f-4f43-9d3c-2b9a53a3a8ad/s12", "text=M:0b5f9c9e-3f0f-4f43-9d3c-2b9a53a3a8ad/s13"},
		Texts:    map[string]string{"text": "The contract comes on Friday."},
	}
}
