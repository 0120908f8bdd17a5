package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Filter selects records. The zero value selects all.
type Filter struct {
	Since     time.Time // written at or after
	Until     time.Time // written before
	Type      string    // a type, or the part before its dot
	Action    string    // about this action
	Principal string    // of this key
}

// Export writes records unchanged, one line each, oldest first. It may run
// while the audit is being written.
func Export(dir string, w io.Writer, f Filter) error {
	names, err := months(dir)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, name := range names {
		if !f.Until.IsZero() && name > monthName(f.Until) {
			continue
		}
		if err := export(filepath.Join(dir, name), out, f); err != nil {
			return err
		}
	}
	return out.Flush()
}

func export(path string, w io.Writer, f Filter) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, 2*longestLine)
	for n := 1; ; n++ {
		l, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil // a partial line was never acknowledged
		}
		if err != nil {
			return fmt.Errorf("line %d of %s: %w", n, filepath.Base(path), err)
		}
		if f != (Filter{}) {
			if bytes.IndexByte(l, '{') != 0 {
				return fmt.Errorf("line %d of %s is not a record", n, filepath.Base(path))
			}
			var said line
			if err := json.Unmarshal(l, &said); err != nil {
				return fmt.Errorf("line %d of %s: %w", n, filepath.Base(path), err)
			}
			if !f.matches(&said) {
				continue
			}
		}
		if _, err := w.Write(l); err != nil {
			return err
		}
	}
}

func (f *Filter) matches(l *line) bool {
	at, err := time.Parse(timeForm, l.TS)
	family, _, _ := strings.Cut(l.Type, ".")
	return err == nil &&
		(f.Since.IsZero() || !at.Before(f.Since)) && (f.Until.IsZero() || at.Before(f.Until)) &&
		(f.Type == "" || f.Type == l.Type || f.Type == family) &&
		(f.Action == "" || f.Action == l.Action) && (f.Principal == "" || f.Principal == l.Principal)
}
