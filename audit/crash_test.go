package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
	"github.com/hearken-dev/hearken/store/storetest"
)

// fileStore remembers heads in a file, so that they survive a kill.
type fileStore string

func (s fileStore) SaveAuditHead(_ context.Context, h *hearken.AuditHead) error {
	data, err := json.Marshal([]hearken.AuditHead{*h})
	if err != nil {
		return err
	}
	return files.Replace(string(s), data, 0o600)
}

func (s fileStore) AuditHeads(context.Context) (heads []hearken.AuditHead, err error) {
	data, err := os.ReadFile(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return heads, json.Unmarshal(data, &heads)
}

// childEnv tells a child where its audit lies, and childFailpoint where to kill
// itself: the name of a failpoint, and how often it passes it before.
const childEnv, childFailpoint = "AUDIT_CHILD", "AUDIT_FAILPOINT"

// childConfig is the audit in a directory that outlives its process.
func childConfig(root string) Config {
	return Config{Dir: filepath.Join(root, "audit"), KeyDir: filepath.Join(root, "keys"), Store: fileStore(filepath.Join(root, "heads"))}
}

// child appends for ever and tells w of each record that is acknowledged. An
// audit that is not intact it restarts.
func child(w io.Writer, root string) int {
	cfg := childConfig(root)
	if point, count, ok := strings.Cut(os.Getenv(childFailpoint), " "); ok {
		left, err := strconv.Atoi(count)
		if err != nil {
			fmt.Fprintln(w, err)
			return 1
		}
		cfg.Failpoint = func(name string) {
			if name != point {
				return
			}
			if left--; left < 0 {
				if self, err := os.FindProcess(os.Getpid()); err == nil {
					self.Kill()
				}
				select {}
			}
		}
	}
	l, err := Open(cfg)
	if err != nil {
		fmt.Fprintln(w, err)
		return 1
	}
	if l.Problem() != nil {
		if _, err := l.Restart(context.Background(), "terminal"); err != nil {
			fmt.Fprintln(w, err)
			return 1
		}
	}
	var mu sync.Mutex
	next := 0
	for range 4 {
		go func() {
			for {
				mu.Lock()
				next++
				name, kind := fmt.Sprintf("%d-%d", os.Getpid(), next), hearken.AuditExecuting
				if next%5 == 0 {
					kind = hearken.AuditRefused
				}
				mu.Unlock()
				if err := l.Append(context.Background(), hearken.AuditRecord{Type: kind, Action: name}); err != nil {
					fmt.Fprintln(w, err)
					os.Exit(1)
				}
				fmt.Fprintln(w, "ok "+name)
			}
		}()
	}
	select {}
}

// runChild runs a child until it kills itself or has written so many records,
// and returns what it acknowledged.
func runChild(t *testing.T, root string, records int, env ...string) (acknowledged []string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), childEnv+"="+root), env...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for in.Scan() {
		name, ok := strings.CutPrefix(in.Text(), "ok ")
		if !ok {
			t.Error(in.Text())
			break
		}
		if acknowledged = append(acknowledged, name); len(acknowledged) == records {
			c.Process.Kill()
		}
	}
	c.Process.Kill()
	c.Wait()
	return acknowledged
}

// checkChild checks that an audit is intact after a kill, before and after the
// next start, and holds all that was acknowledged.
func checkChild(t *testing.T, root string, acknowledged []string) {
	t.Helper()
	cfg := childConfig(root)
	heads, err := cfg.Store.AuditHeads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(cfg.Dir, Options{KeyDir: cfg.KeyDir, Heads: heads}); err != nil {
		t.Errorf("verify: %v", err)
	}
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Problem(), l.Append(t.Context(), decision(0)), l.Close()); err != nil {
		t.Errorf("the next start: %v", err)
	}
	there := map[string]bool{}
	p := &fixture{t: t, dir: cfg.Dir, keys: cfg.KeyDir}
	for _, l := range p.lines() {
		there[l.Action] = true
	}
	for _, name := range acknowledged {
		if !there[name] {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
}

// TestLog_Killed kills a program that appends, many times: no record is lost
// that was acknowledged.
func TestLog_Killed(t *testing.T) {
	root := t.TempDir()
	var acknowledged []string
	for round := range 12 {
		acknowledged = append(acknowledged, runChild(t, root, 21+round*17)...)
		checkChild(t, root, acknowledged)
	}
	if len(acknowledged) < 12*21 {
		t.Errorf("only %d records", len(acknowledged))
	}
}

// TestLog_KilledBetween kills a program between writing a record, signing it,
// telling the store and copying the checkpoint. None of that is taken for
// tampering.
func TestLog_KilledBetween(t *testing.T) {
	for _, point := range []string{"audit-written", "audit-signed", "audit-known", "audit-copied"} {
		t.Run(point, func(t *testing.T) {
			root := t.TempDir()
			var acknowledged []string
			for _, count := range []int{0, 1, 0} {
				acknowledged = append(acknowledged, runChild(t, root, 100_000, fmt.Sprintf("%s=%s %d", childFailpoint, point, count))...)
				checkChild(t, root, acknowledged)
			}
		})
	}
}

// TestLog_KilledRestarting kills a program while it restarts an audit. The next
// restart goes on, and names all directories with damaged files.
func TestLog_KilledRestarting(t *testing.T) {
	for _, point := range []string{"audit-moved", "audit-written", "audit-signed"} {
		t.Run(point, func(t *testing.T) {
			root := t.TempDir()
			cfg := childConfig(root)
			l, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(l.Append(t.Context(), decision(1)), l.Append(t.Context(), decision(2)), l.Close()); err != nil {
				t.Fatal(err)
			}
			month, err := months(cfg.Dir)
			if err != nil || len(month) == 0 {
				t.Fatal(month, err)
			}
			if err := os.Truncate(filepath.Join(cfg.Dir, month[0]), 10); err != nil {
				t.Fatal(err)
			}
			runChild(t, root, 1, childFailpoint+"="+point+" 0")
			acknowledged := runChild(t, root, 30)
			checkChild(t, root, acknowledged)
			heads, err := cfg.Store.AuditHeads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r, err := Verify(cfg.Dir, Options{KeyDir: cfg.KeyDir, Heads: heads})
			if err != nil || r.Break == nil || len(r.Break.Earlier) != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			if kept, err := os.ReadFile(filepath.Join(cfg.Dir, r.Break.Earlier[0], month[0])); err != nil || len(kept) != 10 {
				t.Errorf("the damaged file: %q, %v", kept, err)
			}
		})
	}
}

// TestLog_PowerCut opens all states in which a power cut may leave the files
// while records are written: each file may have got only a part of what was
// being written to it.
func TestLog_PowerCut(t *testing.T) {
	p := newFixture(t)
	p.store, p.name, p.open = storetest.NewMemory(), "audit", openUnsynced
	type diskState struct {
		files map[string][]byte
		store *storetest.Memory
	}
	var states []diskState
	look := func() diskState {
		s := diskState{map[string][]byte{}, copyStore(t, p.store)}
		for _, name := range []string{october, november, checkpointsFile} {
			if data, err := os.ReadFile(filepath.Join(p.dir, name)); err == nil {
				s.files[name] = data
			}
		}
		return s
	}
	p.now = time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
	l, err := Open(Config{
		Dir: p.dir, KeyDir: p.keys, Store: p.store, Name: p.name, open: p.open, Now: func() time.Time { return p.now },
		Failpoint: func(string) { states = append(states, look()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for _, r := range []hearken.AuditRecord{decision(i), record(i)} {
			if err := l.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		p.now = p.now.AddDate(0, 0, 2) // the last in November
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	tried := 0
	try := func(s diskState) {
		t.Helper()
		tried++
		root := t.TempDir()
		c := &fixture{t: t, dir: filepath.Join(root, "audit"), keys: filepath.Join(root, "keys"), store: copyStore(t, s.store), name: p.name, now: p.now, open: p.open}
		if err := errors.Join(os.Mkdir(c.dir, 0o700), os.CopyFS(c.keys, os.DirFS(p.keys)), os.Remove(filepath.Join(c.keys, filepath.Base(CheckpointCopy(p.keys, p.dir))))); err != nil {
			t.Fatal(err)
		}
		for name, data := range s.files {
			if err := os.WriteFile(filepath.Join(c.dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c.verified()
		c.fill(10, 10)
		c.verified()
	}
	for i, s := range states {
		try(s)
		if i == 0 {
			continue
		}
		for name, after := range s.files {
			before := len(states[i-1].files[name])
			for _, n := range []int{before, before + 1, (before + len(after)) / 2, len(after) - 1} {
				if n < before || n >= len(after) {
					continue
				}
				part := diskState{maps.Clone(states[i-1].files), states[i-1].store}
				part.files[name] = after[:n]
				try(part)
				part.files[name] = append(slices.Clone(after[:n]), make([]byte, len(after)-n)...) // never reached the disk
				try(part)
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d states", tried)
	}
}
