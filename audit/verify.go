package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"

	"github.com/hearken-dev/hearken"
)

// Options say what [Verify] checks an audit against. The more of it lies where
// others cannot write, the more Verify finds.
type Options struct {
	// KeyDir is the directory with the keys and the copy of the newest
	// checkpoint, if the caller has it.
	KeyDir string
	Key    string // the verifier key, if not the one in KeyDir; see [Log.VerifierKey]
	// Checkpoint is a file with one or more checkpoints that were kept
	// elsewhere, best on another computer.
	Checkpoint string
	// Heads is what the store knows, and Name the audit's name there; see
	// [Config].
	Heads []hearken.AuditHead
	Name  string

	newest *checkpoint // the last one that this process signed
}

func (o *Options) name(dir string) string { return cmp.Or(o.Name, absolute(dir)) }

// A Report describes a verified audit.
type Report struct {
	Months      []string `json:"months"`
	First       int64    `json:"first"`   // number of the first record
	Records     int64    `json:"records"` // number of the last one
	Checkpoints int      `json:"checkpoints"`
	Covered     int64    `json:"covered"` // records up to the newest checkpoint; later ones could be cut off unnoticed
	Head        int64    `json:"head"`    // records that the store knows of; 0 if it does not know the audit
	Removed     int64    `json:"removed"` // always 0
	Unfinished  int64    `json:"unfinished,omitempty"`
	Root        string   `json:"root"`            // of the tree over all records
	Break       *Break   `json:"break,omitempty"` // why the audit was restarted
}

// Tampered is the error for an audit that is not as it was written.
type Tampered struct {
	File    string // its name in the directory; may be empty
	Line    int    // 1 for the first; 0 for the whole file
	Message string // a sentence
}

func (t *Tampered) Error() string { return t.Message }

func tampered(file string, line int, format string, args ...any) *Tampered {
	return &Tampered{file, line, fmt.Sprintf(format, args...)}
}

// Verify reads a whole audit and checks that it is as it was written. If it is
// not, the error is a [*Tampered] that names file and line. Verify may run
// while the audit is being written, if the store's heads were read before.
func Verify(dir string, opts Options) (Report, error) {
	v, err := verify(context.Background(), dir, opts)
	return v.Report, err
}

// verify reads a whole audit. It checks what was kept elsewhere first, then the
// audit's own checkpoints, then the records: whatever is appended meanwhile is
// in all that is read later.
func verify(ctx context.Context, dir string, opts Options) (v *verification, err error) {
	v = &verification{dir: dir}
	if opts.Key == "" && opts.KeyDir != "" {
		keys, err := knownKeys(dir, &opts)
		if err != nil {
			return v, err
		}
		v.keys = keys
		opts.Key = keys.VerifierKey()
	}
	key, err := note.NewVerifier(opts.Key)
	if err != nil {
		return v, hearken.Errorf(hearken.Invalid, "That is not a verifier key.").
			WithTry("the key that hearken audit key prints")
	}
	if err := v.findKept(&opts, key); err != nil {
		return v, err
	}
	if v.own, err = openCheckpoints(dir, key); err != nil {
		return v, err
	}
	defer v.own.close()
	if err := v.run(ctx); err != nil {
		return v, err
	}
	for _, k := range v.found {
		if !k.found {
			return v, tampered(checkpointsFile, 0, "The checkpoint over %d records%s is missing in %s: the end was cut off.", k.n, k.where, checkpointsFile)
		}
	}
	if k := v.foreign; k != nil && v.Break != nil && k.at.Before(v.Break.At) {
		return v, tampered("", 0, "The checkpoint over %d records%s is from %s, before this audit was restarted: it belongs to the files in %s.",
			k.n, k.where, k.at.Format(timeForm), v.Break.Dir)
	} else if k != nil {
		return v, tampered("", 0, "The checkpoint over %d records%s belongs to another audit: this one was put in its place.", k.n, k.where)
	}
	return v, nil
}

// knownKeys reads the keys of an audit. Keys that are missing are a sign of
// tampering only if they must have existed.
func knownKeys(dir string, opts *Options) (*Keys, error) {
	keys, err := readKeys(opts.KeyDir)
	if err == nil {
		return keys, nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known, existsErr := exists(dir, opts)
	if _, statErr := os.Stat(filepath.Join(opts.KeyDir, signFile)); statErr == nil {
		known = true // it is written after the others
	}
	switch {
	case existsErr != nil:
		return nil, existsErr
	case !known:
		return nil, noKeys(opts.KeyDir, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, tampered("", 0, "The audit's keys are missing in the key directory.")
	}
	return nil, tampered("", 0, "The audit's keys are damaged: %v.", err)
}

// exists reports whether there is or was an audit: its files, what the store
// knows of it, or the copy of its newest checkpoint.
func exists(dir string, opts *Options) (bool, error) {
	chain, err := firstHash(dir)
	if err != nil {
		return false, err
	}
	kept, err := copies(opts.KeyDir, dir, chain)
	if err != nil {
		return false, err
	}
	info, err := os.Stat(filepath.Join(dir, checkpointsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return chain != "" || err == nil && info.Size() > 0 || len(kept) > 0 || findHead(opts.Heads, opts.name(dir), chain) != nil, nil
}
