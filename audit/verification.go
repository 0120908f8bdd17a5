package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// A verification reads the months of an audit in order.
type verification struct {
	Report
	dir     string
	keys    *Keys // nil if the caller named the key
	own     *checkpointReader
	next    *checkpoint        // the next one of them; nil after the last
	kept    []*keptCheckpoint  // not yet reached
	found   []*keptCheckpoint  // reached
	foreign *keptCheckpoint    // one of another audit; nil if there is none
	head    *hearken.AuditHead // what the store knows; nil if nothing
	copies  []string           // the copies of the newest checkpoint

	state state
	last  position // of the last record

	name     string // the current file
	line     int    // in it
	end      int64  // offset of that line's end
	prevFile string // of the line before
	prevLine int
}

// A position is where a record lies.
type position struct {
	file        string
	end, length int64 // where it ends, and how long it is with its newline
}

func (v *verification) run(ctx context.Context) error {
	names, err := months(v.dir)
	if err != nil {
		return err
	}
	v.Months = names
	if err := v.nextCheckpoint(); err != nil {
		return err
	}
	for _, name := range names {
		if err := v.checkMonth(ctx, name); err != nil {
			return err
		}
	}
	v.Records, v.Root = v.state.n, v.state.root().String()
	var beyond *checkpoint
	where := ""
	if len(v.kept) > 0 {
		k := v.kept[len(v.kept)-1]
		beyond, where = k.checkpoint, k.where
	}
	if v.next != nil {
		if err := v.own.checkSignature(); err != nil {
			return err
		}
	}
	if last := v.own.last; v.next != nil && last != nil && (beyond == nil || last.n >= beyond.n) {
		beyond, where = last, ""
	}
	if beyond != nil {
		return tampered(v.name, v.line, "%s ends with record %d at line %d, but the checkpoint of %s%s covers %d records: the end was cut off.",
			cmp.Or(v.name, "The audit"), v.state.n, v.line, beyond.at.Format(time.RFC3339), where, beyond.n)
	}
	for v.next != nil { // only if the last one is not signed: this finds out which one is wrong
		if err := v.nextCheckpoint(); err != nil {
			return err
		}
	}
	return nil
}

func (v *verification) nextCheckpoint() (err error) {
	v.next, err = v.own.next()
	return err
}

// checkMonth checks one file.
func (v *verification) checkMonth(ctx context.Context, name string) error {
	f, err := os.Open(filepath.Join(v.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	v.prevFile, v.prevLine = v.name, v.line
	v.name, v.line, v.end = name, 0, 0
	r := bufio.NewReaderSize(f, 4*longestLine)
	for {
		if v.line%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, err := r.ReadSlice('\n')
		l, whole := bytes.CutSuffix(l, []byte("\n"))
		switch {
		case err == io.EOF && len(l) == 0:
			return nil
		case err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull):
			return err
		case name == v.Months[len(v.Months)-1] && (err == io.EOF || bytes.IndexByte(l, 0) >= 0):
			return v.unfinished(f)
		case !whole:
			return tampered(name, v.line+1, "Line %d of %s is not a record.", v.line+1, name)
		}
		if err := v.checkLine(l, r); err != nil {
			return err
		}
	}
}

// unfinished notes that the rest of the last file is no record: one that is
// being written, or what a power failure left. Nobody was told that it was
// written.
func (v *verification) unfinished(f *os.File) error {
	info, err := f.Stat()
	if err == nil {
		v.Unfinished = info.Size() - v.end
	}
	return err
}

// checkLine checks a line against the chain and the checkpoints.
func (v *verification) checkLine(l []byte, r *bufio.Reader) error {
	v.line++
	if seq, _, ok := readHead(l); v.First == 0 && ok && seq > 1 {
		return tampered(v.name, 1, "Line 1 of %s is record %d: the records before it are missing.", v.name, seq)
	}
	if wrong := v.state.mismatch(l); wrong != "" {
		return v.findChanged(l, wrong, r)
	}
	if v.First = 1; v.state.n == 0 {
		var first line
		if err := json.Unmarshal(l, &first); err != nil {
			return tampered(v.name, v.line, "Line %d of %s is not a record.", v.line, v.name)
		}
		v.Break = first.Break
	}
	v.state.add(l)
	v.end += int64(len(l)) + 1
	v.last = position{v.name, v.end, int64(len(l)) + 1}
	v.prevFile, v.prevLine = v.name, v.line
	return v.checkCheckpoints(r)
}

// checkCheckpoints checks the last line against the checkpoints that end with
// it.
func (v *verification) checkCheckpoints(r *bufio.Reader) error {
	first := len(v.found)
	for len(v.kept) > 0 && v.kept[0].n == v.state.n {
		v.found, v.kept = append(v.found, v.kept[0]), v.kept[1:]
	}
	if v.next != nil && v.next.n == v.state.n {
		c := v.next
		if err := v.checkAgainst(c, r); err != nil {
			return cmp.Or(v.own.checkSignature(), err)
		}
		for _, k := range v.found[first:] {
			k.found = k.text() == string(v.own.text)
		}
		v.Checkpoints++
		v.Covered = c.n
		if err := v.nextCheckpoint(); err != nil {
			return err
		}
	}
	for _, k := range v.found[first:] {
		if err := v.checkAgainst(k.checkpoint, r); err != nil {
			return err
		}
	}
	return nil
}

// checkAgainst checks the last line against a checkpoint.
func (v *verification) checkAgainst(c *checkpoint, r *bufio.Reader) error {
	switch {
	case c.last != v.state.last && v.nextRefersTo(hex.EncodeToString(c.last[:]), r):
		return v.changed(v.name, v.line)
	case c.last != v.state.last || c.tree != nil && !slices.Equal(c.tree, v.state.tree):
		return tampered(v.name, v.line, "Line %d of %s is not the one that the checkpoint of %s signed: it or lines before it were rewritten.",
			v.line, v.name, c.at.Format(time.RFC3339))
	case c.file != v.name || c.end != v.end:
		return tampered(v.name, v.line, "Line %d of %s was at byte %d of %s when it was signed.", v.line, v.name, c.end, c.file)
	}
	return nil
}

// findChanged tells which of two lines that do not fit was changed: if the line
// after the second still refers to the second, it was the first.
func (v *verification) findChanged(l []byte, wrong string, r *bufio.Reader) error {
	if seq, _, ok := readHead(l); ok && seq == v.state.n+1 && v.state.n > 0 && v.nextRefersTo(hexHash(l), r) {
		return v.changed(v.prevFile, v.prevLine)
	}
	return tampered(v.name, v.line, "Line %d of %s %s.", v.line, v.name, wrong)
}

// nextRefersTo reports whether the line after the current one follows from a
// line with this hash. No line can be checked after that.
func (v *verification) nextRefersTo(hash string, r *bufio.Reader) bool {
	l, err := r.ReadSlice('\n')
	if err != nil {
		return false
	}
	_, prev, ok := readHead(l[:len(l)-1])
	return ok && prev == hash
}

func (v *verification) changed(file string, line int) error {
	return tampered(file, line, "Line %d of %s was changed: the line after it refers to another one.", line, file)
}
