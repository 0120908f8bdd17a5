package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

// TestLog_New starts clean where nothing is known of an audit, also with the
// keys of another audit and in a store that knows another.
func TestLog_New(t *testing.T) {
	p := newFixture(t)
	p.store, p.name = storetest.NewMemory(), "one"
	p.fill(1, 3)
	p.name, p.dir = "two", p.dir+"2"
	p.fill(1, 3)
	if r := p.verified(); r.Records != 3 || r.Head != 3 {
		t.Errorf("%+v", r)
	}
	if heads, err := p.store.AuditHeads(t.Context()); err != nil || len(heads) != 2 {
		t.Errorf("%v, %v", heads, err)
	}
}

// TestLog_Adopted opens an audit of a version without heads, after a kill that
// left records without a checkpoint. It is taken over if it is intact.
func TestLog_Adopted(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	for i := range 3 {
		if err := l.Append(t.Context(), record(i)); err != nil {
			t.Fatal(err)
		}
	}
	p = p.snapshot(t)
	p.store, p.name = storetest.NewMemory(), "audit"
	damaged := p.snapshot(t)
	damaged.edit(november, func(l []string) []string { return l[1:] })
	if _, err := damaged.try(); hearken.CodeOf(err) != hearken.AuditUnavailable {
		t.Errorf("a damaged one: %v", err)
	}
	if heads, err := p.store.AuditHeads(t.Context()); err != nil || len(heads) != 0 {
		t.Errorf("the store knows a damaged audit: %v, %v", heads, err)
	}
	l = p.start()
	if r := p.verified(); r.Records != 4 || r.Covered != 4 || r.Head != 4 {
		t.Errorf("%+v", r)
	}
	if err := l.Append(t.Context(), decision(4)); err != nil {
		t.Fatal(err)
	}
	if all := p.lines(); len(all) != 5 || !strings.Contains(all[3].Note, "3 in number, had no checkpoint") {
		t.Errorf("%+v", all[3:])
	}
}

// TestLog_Moved moves the audit: the copy beside the keys is still found, and
// so is the head in a store that knows audits by their path.
func TestLog_Moved(t *testing.T) {
	for name, where := range map[string]struct{ copied, known bool }{"Copy": {copied: true}, "Store": {known: true}, "Both": {true, true}} {
		t.Run(name, func(t *testing.T) {
			p := newFixture(t)
			if p.open = openUnsynced; where.known {
				p.store = storetest.NewMemory()
			}
			l := p.start()
			for i := range 10 {
				if err := l.Append(t.Context(), decision(i)); err != nil {
					t.Fatal(err)
				}
			}
			l.Close()
			if !where.copied {
				p.remove(CheckpointCopy(p.keys, p.dir))
			}
			to := p.dir + "-moved"
			if err := os.Rename(p.dir, to); err != nil {
				t.Fatal(err)
			}
			p.dir = to
			if r := p.verified(); where.known && r.Head != 10 {
				t.Errorf("%+v", r)
			}
			cut := p.snapshot(t)
			cut.edit(november, func(l []string) []string { return l[:9] })
			cut.edit(checkpointsFile, func(l []string) []string { return l[:9*12] })
			if _, err := Verify(cut.dir, cut.options()); err == nil || !strings.Contains(err.Error(), "the end was cut off") {
				t.Errorf("cut: %v", err)
			}
			if _, err := cut.try(); hearken.CodeOf(err) != hearken.AuditUnavailable {
				t.Errorf("cut: %v", err)
			}
			p.fill(11, 12)
			if left, err := filepath.Glob(filepath.Join(p.keys, copyPrefix+"*")); err != nil || !slices.Equal(left, []string{CheckpointCopy(p.keys, p.dir)}) {
				t.Errorf("copies %v, %v", left, err)
			}
			p.verified()
		})
	}
}

// TestVerify_CheckpointElsewhere names a checkpoint that is older than the copy
// beside the keys: both are compared.
func TestVerify_CheckpointElsewhere(t *testing.T) {
	p := newFixture(t)
	p.fill(1, 5)
	kept := filepath.Join(t.TempDir(), "kept")
	data, err := os.ReadFile(CheckpointCopy(p.keys, p.dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, data, 0o600); err != nil {
		t.Fatal(err)
	}
	p.fill(6, 9)
	opts := p.options()
	opts.Checkpoint = kept
	if _, err := Verify(p.dir, opts); err != nil {
		t.Fatal(err)
	}
	p.edit(november, func(l []string) []string { return l[:5] })
	p.edit(checkpointsFile, func(l []string) []string { return l[:12] })
	if _, err := Verify(p.dir, opts); err == nil || !strings.Contains(err.Error(), "covers 9 records: the end was cut off") {
		t.Errorf("%v", err)
	}
	// A checkpoint from before a restart belongs to the damaged files.
	l, err := p.openAny()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.now = p.now.Add(time.Hour)
	if _, err := l.Restart(t.Context(), "terminal"); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(p.dir, opts); err == nil || !strings.Contains(err.Error(), "before this audit was restarted") {
		t.Errorf("%v", err)
	}
}

// TestLog_Temporary sweeps what a kill left of a file that was being replaced.
func TestLog_Temporary(t *testing.T) {
	p := newFixture(t)
	p.fill(1, 3)
	left := []string{filepath.Join(p.dir, ".new-123"), filepath.Join(p.keys, ".new-456")}
	for _, path := range left {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.start()
	for _, path := range left {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", filepath.Base(path), err)
		}
	}
}

// TestLog_RestartWhileOpen restarts the audit of a running hub, which has lost
// its lock, its files or its keys.
func TestLog_RestartWhileOpen(t *testing.T) {
	for name, lose := range map[string]func(p *fixture){
		"Directory": func(p *fixture) { p.remove(p.dir) },
		"Keys":      func(p *fixture) { p.remove(p.keys) },
		"Both":      func(p *fixture) { p.remove(p.dir, p.keys) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newFixture(t)
			p.store, p.open = storetest.NewMemory(), openUnsynced
			l := p.start()
			if err := l.Append(t.Context(), decision(1)); err != nil {
				t.Fatal(err)
			}
			lose(p)
			if err := l.Check(t.Context()); hearken.CodeOf(err) != hearken.AuditUnavailable {
				t.Errorf("check: %v", err)
			}
			if _, err := l.Restart(t.Context(), "terminal"); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(l.Problem(), l.Check(t.Context()), l.Append(t.Context(), decision(2))); err != nil {
				t.Error(err)
			}
			if _, err := p.openAny(); hearken.CodeOf(err) != hearken.AuditUnavailable {
				t.Errorf("a second writer: %v", err)
			}
			if r := p.verified(); r.Records != 2 || r.Head != 2 || r.Break == nil {
				t.Errorf("%+v", r)
			}
		})
	}
}
