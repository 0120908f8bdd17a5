package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hearken-dev/hearken"
)

// Options are what [Verify] holds an audit against.
type Options struct {
	// KeyDir is the folder with the keys, for whoever has it: it has the key
	// and the newest checkpoint.
	KeyDir string
	Key    string // the verifier key, in place of KeyDir's; see [Log.VerifierKey]
	// Checkpoint is a file with one or more checkpoints that was kept outside
	// of the audit: that beside the keys (see [Kept]), or better one on another
	// computer. Without it nobody can tell whether the end of both records and
	// checkpoints was cut off.
	Checkpoint string
}

// A Report is what an audit holds.
type Report struct {
	Months      []string `json:"months"`
	First       int64    `json:"first"`   // the first record that is there
	Records     int64    `json:"records"` // the last one's number
	Checkpoints int      `json:"checkpoints"`
	Covered     int64    `json:"covered"` // records up to the newest checkpoint; those after it could be cut off unseen
	Removed     int64    `json:"removed"` // records of months that were removed, as the audit itself states
	Unfinished  int64    `json:"unfinished,omitempty"`
	Root        string   `json:"root"` // of the tree over all records
}

// Verify reads a whole audit and finds out whether it is as it was written.
// Where it is not, the error is a [*Tampered] that names file and line. It may
// run while the audit is being written.
func Verify(dir string, opts Options) (Report, error) {
	var outside []string // files with checkpoints
	if opts.KeyDir != "" {
		keys, err := ReadKeys(opts.KeyDir)
		if err != nil {
			return Report{}, err
		}
		if opts.Key == "" {
			opts.Key = keys.VerifierKey()
		}
		if _, err := os.Stat(CheckpointCopy(opts.KeyDir, dir)); err == nil { // there is none before the first
			outside = append(outside, CheckpointCopy(opts.KeyDir, dir))
		}
	}
	if opts.Checkpoint != "" {
		outside = append(outside, opts.Checkpoint)
	}
	key, err := note.NewVerifier(opts.Key)
	if err != nil {
		return Report{}, hearken.Errorf(hearken.Invalid, "That is not a verifier key.").
			WithTry("the key that hearken audit key prints")
	}
	v := &verification{dir: dir}
	// What is kept elsewhere first, then the checkpoints, then the records: what
	// is appended meanwhile is missing in none that is read later.
	var kept []*checkpoint
	for _, path := range outside {
		points, err := readPoints(path, path, key, false)
		if err != nil {
			return v.Report, err
		}
		if len(points) == 0 {
			return v.Report, hearken.Errorf(hearken.NotFound, "There is no checkpoint in %s.", path)
		}
		kept = append(kept, points...)
	}
	points, err := readPoints(filepath.Join(dir, checkpointsFile), checkpointsFile, key, true)
	if err != nil {
		return v.Report, err
	}
	v.Checkpoints = len(points)
	// One that is not among the others was removed there. The records are held
	// against it all the same, since they say more.
	missing := slices.DeleteFunc(kept, func(k *checkpoint) bool {
		return slices.ContainsFunc(points, func(c *checkpoint) bool { return c.text() == k.text() })
	})
	points = append(points, missing...)
	slices.SortStableFunc(points, func(a, b *checkpoint) int { return cmp.Compare(a.n, b.n) })
	v.points = points
	if err := v.run(); err != nil {
		return v.Report, err
	}
	if len(missing) > 0 {
		return v.Report, tampered(checkpointsFile, 0, "The checkpoint over %d records is missing in %s: its end was cut off.", missing[0].n, checkpointsFile)
	}
	return v.Report, nil
}

// readPoints reads the checkpoints of a file. In the audit's own each names
// the one before.
func readPoints(path, name string, key note.Verifier, chained bool) ([]*checkpoint, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		if chained && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	if !chained && !bytes.HasSuffix(data, []byte("\n\n")) {
		data = append(data, '\n') // a single one has no empty line behind it
	}
	var points []*checkpoint
	var prev string
	at := 1
	for len(data) > 0 {
		n, rest, ok := cutNote(data)
		if !ok {
			// A crash may leave half of one, but nothing else.
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
			return nil, tampered(name, at, "The checkpoint at line %d of %s does not follow from the one before: one was removed, moved or is there twice.", at, name)
		case chained && len(points) > 0 && c.n <= points[len(points)-1].n:
			return nil, tampered(name, at, "The checkpoint at line %d of %s covers no more than the one before.", at, name)
		}
		points, prev = append(points, c), sum(n)
		at += bytes.Count(n, []byte("\n")) + 1
		data = rest
	}
	return points, nil
}

// A verification goes through the months of an audit.
type verification struct {
	Report
	dir    string
	points []*checkpoint // by the records they cover

	state   state
	name    string // the file that is read
	line    int    // in it
	end     int64  // of that line
	before  string // the file and line before
	lineAt  int
	through int64 // the last record that a statement says was removed
}

func (v *verification) run() error {
	names, err := months(v.dir)
	if err != nil {
		return err
	}
	v.Months = names
	for _, name := range names {
		if err := v.month(name); err != nil {
			return err
		}
	}
	v.Records, v.Root = v.state.n, v.state.root().String()
	if v.Removed > v.through {
		return tampered(v.Months[0], 1, "%s begins with record %d, and no record states that those up to %d were removed.", v.Months[0], v.First, v.Removed)
	}
	if len(v.points) > 0 {
		c := v.points[len(v.points)-1]
		where := "The audit"
		if v.name != "" {
			where = v.name
		}
		return tampered(v.name, v.line, "%s ends with record %d at line %d, but the checkpoint of %s covers %d records: the end was cut off.",
			where, v.state.n, v.line, c.at.Format(time.RFC3339), c.n)
	}
	return nil
}

// month reads one file.
func (v *verification) month(name string) error {
	f, err := os.Open(filepath.Join(v.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	v.before, v.lineAt = v.name, v.line
	v.name, v.line, v.end = name, 0, 0
	r := bufio.NewReaderSize(f, 4*longestLine)
	for {
		l, err := r.ReadSlice('\n')
		l, whole := bytes.CutSuffix(l, []byte("\n"))
		switch {
		case err == io.EOF && len(l) == 0:
			return nil
		case err == io.EOF && name == v.Months[len(v.Months)-1]:
			v.Unfinished = int64(len(l)) // is being written, or was when the power failed
			return nil
		case err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull):
			return err
		case !whole:
			return tampered(name, v.line+1, "Line %d of %s is not a record.", v.line+1, name)
		}
		if err := v.take(l, r); err != nil {
			return err
		}
	}
}

// take checks a line against everything that is known about it.
func (v *verification) take(l []byte, r *bufio.Reader) error {
	if v.First == 0 {
		if err := v.begin(l); err != nil {
			return err
		}
	}
	v.line++
	if wrong := v.state.fits(l); wrong != "" {
		return v.blame(l, wrong, r)
	}
	if bytes.Contains(l, []byte(`,"through":`)) {
		v.removed(l)
	}
	v.state.add(l)
	v.end += int64(len(l)) + 1
	for len(v.points) > 0 && v.points[0].n == v.state.n {
		c := v.points[0]
		switch {
		case c.last != v.state.last || c.root() != v.state.root():
			return tampered(v.name, v.line, "Line %d of %s is not the one that the checkpoint of %s was signed for: it, or also lines before it, were rewritten.",
				v.line, v.name, c.at.Format(time.RFC3339))
		case c.file != v.name || c.end != v.end:
			return tampered(v.name, v.line, "Line %d of %s was at byte %d of %s when it was signed.", v.line, v.name, c.end, c.file)
		}
		v.points, v.Covered = v.points[1:], c.n
	}
	v.before, v.lineAt = v.name, v.line
	return nil
}

// begin looks at the first line of all. If months before it were removed,
// there is a checkpoint over their end, from which the tree goes on.
func (v *verification) begin(l []byte) error {
	v.First = 1
	h, ok := readHead(l)
	if !ok || h.seq == 1 {
		return nil
	}
	for i, c := range v.points {
		if c.n == h.seq-1 && c.file != v.name {
			v.state, v.First, v.Removed, v.Covered = c.state.clone(), h.seq, c.n, c.n
			v.points = slices.DeleteFunc(v.points[i:], func(x *checkpoint) bool { return x.n <= c.n })
			return nil
		}
	}
	return tampered(v.name, 1, "Line 1 of %s is record %d: what was before it is missing.", v.name, h.seq)
}

// blame tells which of two lines that do not fit was changed: if the line
// after the second one still names the second, it was the first.
func (v *verification) blame(l []byte, wrong string, r *bufio.Reader) error {
	h, ok := readHead(l)
	if ok && h.seq == v.state.n+1 && v.state.n > 0 {
		own := sum(l)
		next, err := r.ReadSlice('\n')
		if n, ok := readHead(bytes.TrimSuffix(next, []byte("\n"))); err == nil && ok && string(n.prev) == own {
			return tampered(v.before, v.lineAt, "Line %d of %s was changed: the line after it names another one.", v.lineAt, v.before)
		}
	}
	return tampered(v.name, v.line, "Line %d of %s %s.", v.line, v.name, wrong)
}

// removed takes a statement that months were removed.
func (v *verification) removed(l []byte) {
	var said line
	if json.Unmarshal(l, &said) == nil && said.Type == hearken.AuditHub && said.State == statePruned {
		v.through = max(v.through, said.Through)
	}
}
