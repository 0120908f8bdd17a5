package audit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

// killed is an audit that a store knows, with 30 decisions in October and 21 in
// November, right after its hub was killed.
func killed(t *testing.T) *fixture {
	p := newFixture(t)
	p.store, p.name, p.open = storetest.NewMemory(), "audit", openUnsynced
	l := p.start()
	for i := range 51 {
		p.now = time.Date(2026, 10, 30, 0, 0, i, 0, time.UTC)
		if i >= 30 {
			p.now = time.Date(2026, 11, 2, 0, 0, i, 0, time.UTC)
		}
		if err := l.Append(t.Context(), decision(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return p.snapshot(t)
}

// snapshot returns a copy of the audit as it is on disk.
func (p *fixture) snapshot(t *testing.T) *fixture {
	t.Helper()
	root := t.TempDir()
	c := *p
	c.t, c.dir, c.keys = t, filepath.Join(root, "audit"), filepath.Join(root, "keys")
	for from, to := range map[string]string{p.dir: c.dir, p.keys: c.keys} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	// The copy of the checkpoint has a name that depends on the directory.
	if err := os.Rename(filepath.Join(c.keys, filepath.Base(CheckpointCopy(p.keys, p.dir))), CheckpointCopy(c.keys, c.dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return &c
}

func (p *fixture) remove(paths ...string) {
	p.t.Helper()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			p.t.Fatal(err)
		}
	}
}

// keepCheckpoints removes all checkpoints but the first ones, also beside the
// keys.
func (p *fixture) keepCheckpoints(n int) {
	p.edit(checkpointsFile, func(l []string) []string { return l[:n*12] })
	p.remove(CheckpointCopy(p.keys, p.dir))
}

// attacks are what somebody may do to an audit while no hub runs, with
// everything but the store.
var attacks = map[string]func(p *fixture){
	"TailCut": func(p *fixture) {
		p.remove(filepath.Join(p.dir, november))
		p.edit(october, func(l []string) []string { return l[:5] })
	},
	"TailCutWithCheckpoints": func(p *fixture) {
		p.remove(filepath.Join(p.dir, november))
		p.edit(october, func(l []string) []string { return l[:5] })
		p.keepCheckpoints(5)
	},
	"LastCutWithCheckpoint": func(p *fixture) {
		p.edit(november, func(l []string) []string { return l[:20] })
		p.keepCheckpoints(50)
	},
	"CheckpointsRemoved": func(p *fixture) {
		p.remove(filepath.Join(p.dir, checkpointsFile), CheckpointCopy(p.keys, p.dir))
	},
	"LastCheckpointRemoved": func(p *fixture) { p.keepCheckpoints(50) },
	"KeysRemoved":           func(p *fixture) { p.remove(p.keys) },
	"SigningKeyRemoved":     func(p *fixture) { p.remove(filepath.Join(p.keys, signFile)) },
	"KeyDamaged": func(p *fixture) {
		if err := os.WriteFile(filepath.Join(p.keys, hmacFile), []byte("no key\n"), 0o600); err != nil {
			p.t.Fatal(err)
		}
	},
	"CheckpointsAndKeysRemoved": func(p *fixture) { p.remove(filepath.Join(p.dir, checkpointsFile), p.keys) },
	"DirectoryRemoved":          func(p *fixture) { p.remove(p.dir) },
	"DirectoryEmptied":          func(p *fixture) { p.remove(p.dir); os.Mkdir(p.dir, 0o700) },
	"AllRemoved":                func(p *fixture) { p.remove(p.dir, p.keys) },
	"AllRemovedButKeys":         func(p *fixture) { p.remove(p.dir, CheckpointCopy(p.keys, p.dir)) },
	"AnotherInPlace": func(p *fixture) {
		p.remove(p.dir, p.keys)
		other := *p
		other.store = nil
		other.fill(1, 60)
	},
	"AnotherInPlaceSameKeys": func(p *fixture) {
		p.remove(p.dir, CheckpointCopy(p.keys, p.dir))
		other := *p
		other.store = nil
		other.fill(1, 60)
	},
	"FilesSwapped": func(p *fixture) {
		for _, names := range [][2]string{{october, "x"}, {november, october}, {"x", november}} {
			if err := os.Rename(filepath.Join(p.dir, names[0]), filepath.Join(p.dir, names[1])); err != nil {
				p.t.Fatal(err)
			}
		}
	},
	"LinesSwapped": func(p *fixture) {
		p.edit(october, func(l []string) []string { l[4], l[5] = l[5], l[4]; return l })
	},
	"MonthRemoved": func(p *fixture) { p.remove(filepath.Join(p.dir, october)) },
	"LastMonthRemoved": func(p *fixture) {
		p.remove(filepath.Join(p.dir, november))
		p.keepCheckpoints(30)
	},
	"Edited": func(p *fixture) {
		p.edit(october, func(l []string) []string {
			l[9] = strings.Replace(l[9], "evt_10", "evt_99", 1)
			return l
		})
	},
	"EditedWithoutCheckpoints": func(p *fixture) {
		p.remove(filepath.Join(p.dir, checkpointsFile), CheckpointCopy(p.keys, p.dir))
		p.edit(november, func(l []string) []string {
			l[20] = strings.Replace(l[20], "evt_51", "evt_99", 1)
			return l
		})
	},
}

// TestLog_Attacked does all of that to an audit right after its hub was killed.
// Verify finds it, so does the next start and the one after it, and nothing is
// appended until the owner restarts the audit.
func TestLog_Attacked(t *testing.T) {
	p := killed(t)
	if r := p.verified(); r.Records != 51 || r.Covered != 51 || r.Head != 51 {
		t.Fatalf("%+v", r)
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			p := p.snapshot(t)
			p.store = copyStore(t, p.store)
			attack(p)
			_, err := Verify(p.dir, p.options())
			found, ok := errors.AsType[*Tampered](err)
			if !ok {
				t.Fatalf("verify: %v", err)
			}
			for range 2 {
				l, err := p.openAny()
				if err != nil {
					t.Fatal(err)
				}
				problem := l.Problem()
				if hearken.CodeOf(problem) != hearken.AuditUnavailable || !strings.Contains(problem.Error(), found.Message) ||
					!strings.HasSuffix(problem.Error(), "Try: hearken audit verify, then hearken audit restart") {
					t.Errorf("problem: %v; verify: %v", problem, err)
				}
				if err := l.Append(t.Context(), decision(60)); hearken.CodeOf(err) != hearken.AuditUnavailable {
					t.Errorf("append: %v", err)
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			p.checkRestart(t, found.Message)
		})
	}
}

func copyStore(t *testing.T, from *storetest.Memory) *storetest.Memory {
	t.Helper()
	heads, err := from.AuditHeads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to := storetest.NewMemory()
	for i := range heads {
		if err := to.SaveAuditHead(t.Context(), &heads[i]); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// checkRestart restarts an audit that is not intact.
func (p *fixture) checkRestart(t *testing.T, found string) {
	t.Helper()
	damaged := map[string]string{}
	for _, name := range []string{october, november, checkpointsFile} {
		if data, err := os.ReadFile(filepath.Join(p.dir, name)); err == nil {
			damaged[name] = string(data)
		}
	}
	p.now = p.now.Add(time.Hour)
	l, err := p.openAny()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b, err := l.Restart(t.Context(), "terminal")
	if err != nil {
		t.Fatal(err)
	}
	if b.Found != found || !strings.HasPrefix(b.Head, "hearken audit\n51\n") || b.Key == "" || len(b.Files) != len(damaged) {
		t.Errorf("%+v", b)
	}
	var records int64
	for _, f := range b.Files {
		kept, err := os.ReadFile(filepath.Join(p.dir, b.Dir, f.Name))
		if err != nil || string(kept) != damaged[f.Name] || f.SHA256 != hexHash(kept) || f.Size != int64(len(kept)) {
			t.Errorf("%+v: %d bytes are kept of %d, %v", f, len(kept), len(damaged[f.Name]), err)
		}
		if f.Name != checkpointsFile {
			records += int64(strings.Count(string(kept), "\n"))
		}
	}
	if b.Records != records {
		t.Errorf("%d records in the damaged files, not %d", records, b.Records)
	}
	if err := errors.Join(l.Problem(), l.Append(t.Context(), decision(61))); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	if _, err := l.Restart(t.Context(), "terminal"); hearken.CodeOf(err) != hearken.Invalid || !strings.Contains(err.Error(), "intact") {
		t.Errorf("restarted twice: %v", err)
	}
	r := p.verified()
	if r.Records != 2 || r.Covered != 2 || r.Head != 2 || r.Break == nil || r.Break.Found != found || r.Break.Dir != b.Dir {
		t.Errorf("%+v", r)
	}
	first := p.lines()[0]
	if first.Type != hearken.AuditHub || first.State != "restarted" || first.By != "owner" || first.From != "terminal" || first.Break == nil {
		t.Errorf("%+v", first)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err := p.try(); err != nil {
		t.Errorf("the next start: %v", err)
	} else {
		l.Close()
	}
}

// TestVerify_CutAnywhere cuts records and checkpoints off at any place. As long
// as the store is not cut as well, it is found.
func TestVerify_CutAnywhere(t *testing.T) {
	whole := killed(t)
	for records := range 51 {
		for _, checkpoints := range []int{0, records / 2, records} {
			p := whole.snapshot(t)
			p.edit(october, func(l []string) []string { return l[:min(records, 30)] })
			p.edit(november, func(l []string) []string { return l[:max(0, records-30)] })
			p.keepCheckpoints(checkpoints)
			if _, err := Verify(p.dir, p.options()); err == nil {
				t.Errorf("%d records and %d checkpoints: not found", records, checkpoints)
			}
			opts := p.options()
			opts.Heads = nil
			if _, err := Verify(p.dir, opts); err != nil && checkpoints > 0 {
				t.Errorf("the cut at %d records and %d checkpoints is found without the store: %v", records, checkpoints, err)
			}
		}
	}
}

// Where something was done there must be an audit, also if nothing else is left
// of it.
func TestLog_Expected(t *testing.T) {
	for _, expected := range []bool{false, true} {
		dir := t.TempDir()
		l, err := Open(Config{
			Dir: filepath.Join(dir, "audit"), KeyDir: filepath.Join(dir, "keys"), Store: storetest.NewMemory(),
			Expected: func(context.Context) (bool, error) { return expected, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		if problem := l.Problem(); (problem != nil) != expected {
			t.Errorf("expected %v: %v", expected, problem)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
