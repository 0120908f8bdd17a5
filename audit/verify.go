package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hearken-dev/hearken"
)

// Options say what [Verify] checks an audit against.
type Options struct {
	// KeyDir is the directory with the keys, if the caller has it. It provides
	// what the other fields leave open.
	KeyDir string
	Key    string // the verifier key; see [Log.VerifierKey]
	// Checkpoint is a file with one or more checkpoints that were kept outside
	// of the audit: the copy beside the keys (see [CheckpointCopy]), or better
	// one from another computer. Without it, nobody can tell whether the end of
	// both records and checkpoints was cut off.
	Checkpoint string
}

// A Report describes a verified audit.
type Report struct {
	Months      []string `json:"months"`
	First       int64    `json:"first"`   // number of the first record
	Records     int64    `json:"records"` // number of the last one
	Checkpoints int      `json:"checkpoints"`
	Covered     int64    `json:"covered"` // records up to the newest checkpoint; later ones could be cut off unnoticed
	Removed     int64    `json:"removed"` // always 0
	Unfinished  int64    `json:"unfinished,omitempty"`
	Root        string   `json:"root"` // of the tree over all records
}

// Tampered is the error for an audit that is not as it was written.
type Tampered struct {
	File    string // its name in the directory
	Line    int    // 1 for the first; 0 for the whole file
	Message string // a sentence
}

func (t *Tampered) Error() string { return t.Message }

func tampered(file string, line int, format string, args ...any) *Tampered {
	return &Tampered{file, line, fmt.Sprintf(format, args...)}
}

// Verify reads a whole audit and checks that it is as it was written. If it is
// not, the error is a [*Tampered] that names file and line. Verify may run
// while the audit is being written.
func Verify(dir string, opts Options) (Report, error) {
	if err := opts.complete(dir); err != nil {
		return Report{}, err
	}
	key, err := note.NewVerifier(opts.Key)
	if err != nil {
		return Report{}, hearken.Errorf(hearken.Invalid, "That is not a verifier key.").
			WithTry("the key that hearken audit key prints")
	}
	v := &verification{dir: dir}
	// First the checkpoint kept elsewhere, then the audit's own, then the
	// records: whatever is appended meanwhile is in all that is read later.
	var kept []*checkpoint
	if opts.Checkpoint != "" {
		if kept, err = readCheckpoints(opts.Checkpoint, opts.Checkpoint, key, false); err != nil {
			return v.Report, err
		}
		if len(kept) == 0 {
			return v.Report, hearken.Errorf(hearken.NotFound, "There is no checkpoint in %s.", opts.Checkpoint)
		}
	}
	points, err := readCheckpoints(filepath.Join(dir, checkpointsFile), checkpointsFile, key, true)
	if err != nil {
		return v.Report, err
	}
	v.Checkpoints = len(points)
	// A checkpoint that is not among the audit's own was removed there. The
	// records are still checked against it, since they say more.
	missing := slices.DeleteFunc(kept, func(k *checkpoint) bool {
		return slices.ContainsFunc(points, func(c *checkpoint) bool { return c.text() == k.text() })
	})
	points = append(points, missing...)
	slices.SortStableFunc(points, func(a, b *checkpoint) int { return cmp.Compare(a.n, b.n) })
	v.checkpoints = points
	if err := v.run(); err != nil {
		return v.Report, err
	}
	if len(missing) > 0 {
		return v.Report, tampered(checkpointsFile, 0, "The checkpoint over %d records is missing in %s: the end was cut off.", missing[0].n, checkpointsFile)
	}
	return v.Report, nil
}

// complete fills in what the directory with the keys provides.
func (o *Options) complete(dir string) error {
	if o.KeyDir == "" {
		return nil
	}
	if o.Key == "" {
		keys, err := ReadKeys(o.KeyDir)
		if err != nil {
			return err
		}
		o.Key = keys.VerifierKey()
	}
	copied := CheckpointCopy(o.KeyDir, dir)
	if _, err := os.Stat(copied); o.Checkpoint == "" && err == nil { // it does not exist before the first checkpoint
		o.Checkpoint = copied
	}
	return nil
}

// readCheckpoints reads the checkpoints of a file. In the audit's own file they
// are chained: each names the one before.
func readCheckpoints(path, name string, key note.Verifier, chained bool) ([]*checkpoint, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		if chained && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	if !chained && !bytes.HasSuffix(data, []byte("\n\n")) {
		data = append(data, '\n') // no empty line follows a single checkpoint
	}
	var points []*checkpoint
	var prev string
	at := 1
	for len(data) > 0 {
		n, rest, ok := cutNote(data)
		if !ok {
			// A crash may leave a partial checkpoint, but nothing else.
			if half := []byte(origin); chained && bytes.HasPrefix(data, half[:min(len(half), len(data))]) {
				break
			}
			return nil, tampered(name, at, "Line %d of %s is not the beginning of a checkpoint.", at, name)
		}
		c, err := readCheckpoint(n, key)
		switch {
		case err != nil:
			return nil, tampered(name, at, "The checkpoint at line %d of %s %v.", at, name, err)
		case chained && c.prev != prev:
			return nil, tampered(name, at, "The checkpoint at line %d of %s does not follow from the one before: one was removed, moved or duplicated.", at, name)
		case chained && len(points) > 0 && c.n <= points[len(points)-1].n:
			return nil, tampered(name, at, "The checkpoint at line %d of %s covers no more than the one before.", at, name)
		}
		points, prev = append(points, c), hexHash(n)
		at += bytes.Count(n, []byte("\n")) + 1
		data = rest
	}
	return points, nil
}

// A verification reads the months of an audit in order.
type verification struct {
	Report
	dir         string
	checkpoints []*checkpoint // not yet reached, by the records they cover

	state    state
	name     string // the current file
	line     int    // in it
	end      int64  // offset of that line's end
	prevFile string // of the line before
	prevLine int
}

func (v *verification) run() error {
	names, err := months(v.dir)
	if err != nil {
		return err
	}
	v.Months = names
	for _, name := range names {
		if err := v.checkMonth(name); err != nil {
			return err
		}
	}
	v.Records, v.Root = v.state.n, v.state.root().String()
	if len(v.checkpoints) > 0 {
		c := v.checkpoints[len(v.checkpoints)-1]
		return tampered(v.name, v.line, "%s ends with record %d at line %d, but the checkpoint of %s covers %d records: the end was cut off.",
			cmp.Or(v.name, "The audit"), v.state.n, v.line, c.at.Format(time.RFC3339), c.n)
	}
	return nil
}

// checkMonth checks one file.
func (v *verification) checkMonth(name string) error {
	f, err := os.Open(filepath.Join(v.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	v.prevFile, v.prevLine = v.name, v.line
	v.name, v.line, v.end = name, 0, 0
	r := bufio.NewReaderSize(f, 4*longestLine)
	for {
		l, err := r.ReadSlice('\n')
		l, whole := bytes.CutSuffix(l, []byte("\n"))
		switch {
		case err == io.EOF && len(l) == 0:
			return nil
		case err == io.EOF && name == v.Months[len(v.Months)-1]:
			v.Unfinished = int64(len(l)) // being written, or cut off by a power failure
			return nil
		case err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull):
			return err
		case !whole:
			return tampered(name, v.line+1, "Line %d of %s is not a record.", v.line+1, name)
		}
		if err := v.checkLine(l, r); err != nil {
			return err
		}
	}
}

// checkLine checks a line against the chain and the checkpoints.
func (v *verification) checkLine(l []byte, r *bufio.Reader) error {
	v.line++
	if seq, _, ok := readHead(l); v.First == 0 && ok && seq > 1 {
		return tampered(v.name, 1, "Line 1 of %s is record %d: the records before it are missing.", v.name, seq)
	}
	v.First = 1
	if wrong := v.state.mismatch(l); wrong != "" {
		return v.findChanged(l, wrong, r)
	}
	v.state.add(l)
	v.end += int64(len(l)) + 1
	for len(v.checkpoints) > 0 && v.checkpoints[0].n == v.state.n {
		c := v.checkpoints[0]
		switch {
		case c.last != v.state.last || c.root() != v.state.root():
			return tampered(v.name, v.line, "Line %d of %s is not the one that the checkpoint of %s signed: it or lines before it were rewritten.",
				v.line, v.name, c.at.Format(time.RFC3339))
		case c.file != v.name || c.end != v.end:
			return tampered(v.name, v.line, "Line %d of %s was at byte %d of %s when it was signed.", v.line, v.name, c.end, c.file)
		}
		v.checkpoints, v.Covered = v.checkpoints[1:], c.n
	}
	v.prevFile, v.prevLine = v.name, v.line
	return nil
}

// findChanged tells which of two lines that do not fit was changed: if the line
// after the second still refers to the second, it was the first.
func (v *verification) findChanged(l []byte, wrong string, r *bufio.Reader) error {
	if seq, _, ok := readHead(l); ok && seq == v.state.n+1 && v.state.n > 0 {
		own := hexHash(l)
		next, err := r.ReadSlice('\n')
		if _, prev, ok := readHead(bytes.TrimSuffix(next, []byte("\n"))); err == nil && ok && prev == own {
			return tampered(v.prevFile, v.prevLine, "Line %d of %s was changed: the line after it refers to another one.", v.prevLine, v.prevFile)
		}
	}
	return tampered(v.name, v.line, "Line %d of %s %s.", v.line, v.name, wrong)
}
