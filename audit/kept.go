package audit

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/hearken-dev/hearken"
)

// A keptCheckpoint is a checkpoint outside of the audit's own files. Somebody
// who cuts off the end of those must also find all of these.
type keptCheckpoint struct {
	*checkpoint
	where string // such as " in the store"
	found bool   // among the audit's own
}

// CheckpointCopy returns the file in keyDir that holds a copy of the newest
// checkpoint of the audit in dir.
func CheckpointCopy(keyDir, dir string) string {
	return filepath.Join(keyDir, copyPrefix+hexHash([]byte(absolute(dir)))[:12])
}

const copyPrefix = "audit-checkpoint-"

// copies lists the copies of an audit's newest checkpoint: the one for its
// directory, and those that it made in another place before it was moved.
func copies(keyDir, dir, chain string) ([]string, error) {
	here := CheckpointCopy(keyDir, dir)
	all, err := filepath.Glob(filepath.Join(keyDir, copyPrefix+"*"))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(path string) bool {
		return path != here && (chain == "" || chainOf(path) != chain)
	}), nil
}

// chainOf returns which audit the checkpoint in a file belongs to, without
// checking its signature. It is empty if the checkpoint does not say.
func chainOf(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return chainOfNote(data)
}

func chainOfNote(data []byte) string {
	text, _, _ := strings.Cut(string(data), "\n\n")
	c, err := parseCheckpoint(text + "\n")
	if err != nil {
		return ""
	}
	return c.chain
}

// findHead finds the head of an audit: by its name, or by its first record if
// the store knows it by another name because it was moved.
func findHead(heads []hearken.AuditHead, name, chain string) *hearken.AuditHead {
	i := slices.IndexFunc(heads, func(h hearken.AuditHead) bool { return h.Name == name })
	if i < 0 && chain != "" {
		i = slices.IndexFunc(heads, func(h hearken.AuditHead) bool { return chainOfNote([]byte(h.Checkpoint)) == chain })
	}
	if i < 0 {
		return nil
	}
	return &heads[i]
}

// findKept gathers the checkpoints that were kept outside of an audit, those
// over the fewest records first.
func (v *verification) findKept(opts *Options, key note.Verifier) error {
	chain, err := firstHash(v.dir)
	if err != nil {
		return err
	}
	if v.head = findHead(opts.Heads, opts.name(v.dir), chain); v.head != nil {
		if v.head.Key != opts.Key {
			return tampered("", 0, "The audit's keys are not those that the store knows: they were replaced.")
		}
		c, err := readCheckpoint([]byte(v.head.Checkpoint), key)
		if err != nil {
			return tampered("", 0, "The checkpoint in the store %v.", err)
		}
		v.Head = c.n
		v.kept = append(v.kept, &keptCheckpoint{checkpoint: c, where: " in the store"})
	}
	if opts.KeyDir != "" {
		if v.copies, err = copies(opts.KeyDir, v.dir, chain); err != nil {
			return err
		}
	}
	for _, path := range v.copies {
		if err := v.keep(path, filepath.Base(path), " beside the keys", key); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if path := opts.Checkpoint; path != "" {
		before := len(v.kept)
		if err := v.keep(path, path, " in "+path, key); err != nil {
			return err
		}
		if len(v.kept) == before {
			return hearken.Errorf(hearken.NotFound, "There is no checkpoint in %s.", path)
		}
	}
	if opts.newest != nil {
		v.kept = append(v.kept, &keptCheckpoint{checkpoint: opts.newest, where: " that this hub signed last"})
	}
	slices.SortStableFunc(v.kept, func(a, b *keptCheckpoint) int { return cmp.Compare(a.n, b.n) })
	v.kept = slices.DeleteFunc(v.kept, func(k *keptCheckpoint) bool {
		other := chain != "" && k.chain != "" && k.chain != chain
		if other && v.foreign == nil {
			v.foreign = k
		}
		return other
	})
	return nil
}

// keep adds the checkpoints in a file to those that were kept.
func (v *verification) keep(path, name, where string, key note.Verifier) error {
	points, err := readKept(path, name, key)
	for _, c := range points {
		v.kept = append(v.kept, &keptCheckpoint{checkpoint: c, where: where})
	}
	return err
}
