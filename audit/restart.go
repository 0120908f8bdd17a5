package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// A Break is why an audit was restarted, and what remains of the one before. It
// is in the first record of the new audit.
type Break struct {
	At      time.Time     `json:"at"`
	Found   string        `json:"found"`             // a sentence
	Dir     string        `json:"dir"`               // holds the damaged files; a name in the audit's directory
	Records int64         `json:"records"`           // lines in them
	Files   []DamagedFile `json:"files"`             // as they were found
	Head    string        `json:"head,omitempty"`    // the last checkpoint that the store knew
	Key     string        `json:"key,omitempty"`     // what verifies it
	Earlier []string      `json:"earlier,omitempty"` // where the files of earlier breaks are
}

// A DamagedFile is a file of an audit that is not intact.
type DamagedFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

const (
	damagedPrefix = "damaged-" // begins the name of a directory with damaged files
	breakFile     = "break.json"
)

// Restart starts a new audit in place of one that is not intact. It keeps the
// damaged files in a directory of their own, and the first record of the new
// audit names them and what was wrong. An intact audit cannot be restarted.
//
// If the process ends halfway, the audit is still not intact, and Restart can
// be called again.
func (l *Log) Restart(ctx context.Context, from string) (*Break, error) {
	select {
	case l.writeLock <- struct{}{}:
		defer func() { <-l.writeLock }()
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	}
	problem := l.check(ctx)
	if problem == nil {
		return nil, hearken.Errorf(hearken.Invalid, "The audit is intact: all of its %d records are verified. There is nothing to restart.", l.w.state.n)
	}
	found, ok := errors.AsType[*Tampered](problem)
	if !ok {
		return nil, problem
	}
	b := &Break{At: l.cfg.Now().UTC(), Found: found.Message}
	if err := l.replace(context.WithoutCancel(ctx), b, from); err != nil {
		return nil, hearken.Errorf(hearken.AuditUnavailable, "The audit could not be restarted: %w.", err).
			WithTry("hearken audit restart once more, when the disk and the store can be written")
	}
	return b, nil
}

// replace moves the damaged files away and writes the first record of the new
// audit.
func (l *Log) replace(ctx context.Context, b *Break, from string) error {
	if err := l.lock.Close(); err != nil { // somebody may have removed its file
		l.cfg.Log.Warn("audit: lock not released", "error", err)
	}
	if err := l.prepare(); err != nil {
		return err
	}
	if l.cfg.Store != nil {
		asking, cancel := context.WithTimeout(ctx, headTimeout)
		defer cancel()
		heads, err := l.cfg.Store.AuditHeads(asking)
		if err != nil {
			return err
		}
		if h := findHead(heads, l.cfg.Name, ""); h != nil {
			b.Head, b.Key = h.Checkpoint, h.Key
		}
	}
	l.w.stopTimer()
	if err := l.w.closeFiles(); err != nil {
		l.cfg.Log.Warn("audit: file not closed", "error", err)
	}
	if err := b.moveFiles(l.cfg.Dir); err != nil {
		return err
	}
	l.cfg.Failpoint("audit-moved")
	keys, err := readKeys(l.cfg.KeyDir)
	if err != nil {
		if keys, err = replaceKeys(l.cfg.KeyDir, "."+b.Dir); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.keys = keys
	l.mu.Unlock()
	l.w.begin(keys, takeStamps(l.cfg.Dir, l.cfg.KeyDir))
	first := &queuedRecord{
		record:  hearken.AuditRecord{Type: hearken.AuditHub, State: "restarted", By: "owner", From: from},
		restart: b, done: make(chan error, 1),
	}
	l.w.write([]*queuedRecord{first})
	if err := <-first.done; err != nil {
		return err
	}
	if err := l.w.checkpointAll(); err != nil {
		return err
	}
	return l.check(ctx)
}

// begin has the writer begin an audit in an empty directory.
func (w *writer) begin(keys *Keys, seen stamps) {
	*w = writer{
		dir: w.dir, keyDir: w.keyDir, heads: w.heads, name: w.name,
		now: w.now, log: w.log, open: w.open, onTimer: w.onTimer, failpoint: w.failpoint,
		resumed: true, keys: keys, stamps: seen,
	}
}

// moveFiles moves the files of an audit into a new directory inside its own,
// and fills in what they are. A note beside them says why, in case the process
// ends before the new audit does.
func (b *Break) moveFiles(dir string) error {
	earlier, err := filepath.Glob(filepath.Join(dir, damagedPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range earlier {
		b.Earlier = append(b.Earlier, filepath.Base(path))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if isMonth(e.Name()) || e.Name() == checkpointsFile {
			f, lines, err := examine(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			if b.Files = append(b.Files, f); isMonth(f.Name) {
				b.Records += lines
			}
		}
	}
	to, err := makeUnusedDir(filepath.Join(dir, damagedPrefix+b.At.Format("20060102T150405Z")))
	if err != nil {
		return err
	}
	b.Dir = filepath.Base(to)
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	if err := files.Replace(filepath.Join(to, breakFile), append(text, '\n'), 0o600); err != nil {
		return err
	}
	for _, f := range b.Files {
		if err := os.Rename(filepath.Join(dir, f.Name), filepath.Join(to, f.Name)); err != nil {
			return err
		}
	}
	return errors.Join(files.SyncDir(to), files.SyncDir(dir))
}

// makeUnusedDir makes a directory at path, or at a longer path if that exists.
func makeUnusedDir(path string) (string, error) {
	for {
		err := os.Mkdir(path, 0o700)
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
		path += "x"
	}
}

// examine describes a file and counts its lines.
func examine(path string) (d DamagedFile, lines int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, 0, err
	}
	defer f.Close()
	hash := sha256.New()
	for r := bufio.NewReader(f); ; {
		part, err := r.ReadSlice('\n')
		hash.Write(part)
		d.Size += int64(len(part))
		lines += int64(bytes.Count(part, []byte("\n")))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return d, 0, err
		}
	}
	d.Name, d.SHA256 = filepath.Base(path), hex.EncodeToString(hash.Sum(nil))
	return d, lines, nil
}
