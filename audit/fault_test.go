package audit

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hearken-dev/hearken"
	"pgregory.net/rapid"
)

// counted counts syncs.
type counted struct{ n atomic.Int64 }

type countedFile struct {
	file
	c *counted
}

func (c *counted) open(path string) (file, error) {
	f, err := openFile(path)
	return countedFile{f, c}, err
}

func (f countedFile) Sync() error { f.c.n.Add(1); return f.file.Sync() }

// unsynced is a disk that is not waited for, where a test needs no durability.
type unsynced struct{ file }

func openUnsynced(path string) (file, error) {
	f, err := openFile(path)
	return unsynced{f}, err
}

func (unsynced) Sync() error { return nil }

// full is a disk with room for so many bytes more.
type full struct {
	room     int64
	syncs    bool // syncs fail, and writes do not
	truncate bool // truncating fails as well
}

type fullFile struct {
	file
	d *full
}

func (d *full) open(path string) (file, error) {
	f, err := openFile(path)
	return fullFile{f, d}, err
}

func (f fullFile) WriteAt(data []byte, at int64) (int, error) {
	if n := f.d.room; n < int64(len(data)) {
		f.d.room = 0
		f.file.WriteAt(data[:n], at)
		return int(n), syscall.ENOSPC
	}
	f.d.room -= int64(len(data))
	return f.file.WriteAt(data, at)
}

func (f fullFile) Sync() error {
	if f.d.syncs {
		return syscall.EIO
	}
	return nil
}

func (f fullFile) Truncate(n int64) error {
	if f.d.truncate {
		return syscall.EROFS
	}
	return f.file.Truncate(n)
}

const plenty = 1 << 40

func TestLog_DiskFull(t *testing.T) {
	for name, d := range map[string]full{
		"NoSpace": {room: 2000}, "NoSpaceNoTruncate": {room: 2000, truncate: true}, "SyncFails": {room: plenty, syncs: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newFixture(t)
			p.fill(1, 10)
			p.open = d.open
			l := p.start()
			written, failed := 0, 0
			for i := range 20 {
				r := record(i)
				if i%2 == 0 {
					r = decision(i)
				}
				err := l.Append(t.Context(), r)
				switch {
				case err == nil:
					written++
				case hearken.CodeOf(err) != hearken.AuditUnavailable || err.Error() == "":
					t.Fatal(err)
				default:
					failed++
				}
			}
			if failed == 0 || (written == 0) != d.syncs {
				t.Fatalf("%d written, %d failed", written, failed)
			}
			d = full{room: plenty}
			if err := l.Append(t.Context(), record(99)); err != nil {
				t.Fatal("does not heal:", err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			p.verified()
			all := p.lines()
			if len(all) != 10+written+2 {
				t.Errorf("%d records, %d were written", len(all), written)
			}
			note := all[len(all)-2]
			if note.Type != hearken.AuditHub || note.State != "recovered" || !strings.Contains(note.Note, "could not be written") {
				t.Errorf("%+v", note)
			}
		})
	}
}

// TestLog_Faults has the disk fail at any time: what was acknowledged is there
// and in order. What was not is not, but for what a disk that allowed neither
// to sync nor to truncate kept after all.
func TestLog_Faults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		p := newFixtureIn(rt, root)
		d := &full{room: plenty}
		p.open = d.open
		var want []string
		stuck := false
		l := p.start()
		for i := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				d.room = rapid.Int64Range(0, 1500).Draw(rt, "room")
			case 1:
				d.syncs = rapid.Bool().Draw(rt, "syncs")
			case 2:
				d.truncate = rapid.Bool().Draw(rt, "truncate")
				stuck = stuck || d.truncate
			case 3:
				*d = full{room: plenty}
			case 4:
				l.Close()
				*d = full{room: plenty}
				l = p.start()
			case 5:
				p.now = p.now.AddDate(0, 0, 9)
			default:
				r := record(i)
				if i%2 == 0 {
					r = decision(i) // with a checkpoint, which may fail as well
				}
				if l.Append(rt.Context(), r) == nil {
					want = append(want, r.Action)
				}
			}
		}
		l.Close()
		*d = full{room: plenty}
		l = p.start()
		if err := l.Append(rt.Context(), record(999)); err != nil {
			rt.Fatal(err)
		}
		l.Close()
		if _, err := Verify(p.dir, p.options()); err != nil {
			rt.Fatal(err)
		}
		var got []string
		for _, l := range p.lines() {
			if l.Type != hearken.AuditHub {
				got = append(got, l.Action)
			}
		}
		want = append(want, "evt_999")
		if !stuck && len(got) != len(want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
		for _, name := range got {
			if len(want) > 0 && name == want[0] {
				want = want[1:]
			}
		}
		if len(want) > 0 {
			rt.Fatalf("lost %v of %v", want, got)
		}
	})
}

func TestLog_TornAtStart(t *testing.T) {
	for name, tail := range map[string]string{
		"Half": `{"seq":11,"ts":"2026-11-15T10`, "Zeros": "\x00\x00\x00\x00\x00\x00\n\x00", "Newline": "{\"seq\"\x00\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := newFixture(t)
			p.fill(1, 10)
			add(t, filepath.Join(p.dir, "2026-11.jsonl"), tail)
			add(t, filepath.Join(p.dir, checkpointsFile), "hearken audit\n11\n")
			p.fill(11, 11)
			all := p.lines()
			if len(all) != 12 || all[10].State != "recovered" || !strings.Contains(all[10].Note, "unfinished") {
				t.Errorf("%d records, %+v", len(all), all[10])
			}
			p.verified()
		})
	}
}

func add(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestLog_FileTaken removes the file under a running audit: nothing is
// acknowledged that would be lost.
func TestLog_FileTaken(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	if err := l.Append(t.Context(), record(1)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.dir, "2026-11.jsonl")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), record(2)); hearken.CodeOf(err) != hearken.AuditUnavailable {
		t.Error("removed:", err)
	}
	os.Rename(path+".away", path)
	if err := l.Append(t.Context(), record(3)); err != nil {
		t.Error("put back:", err)
	}
	add(t, path, "{}\n")
	if err := l.Append(t.Context(), record(4)); hearken.CodeOf(err) != hearken.AuditUnavailable {
		t.Error("added to:", err)
	}
}
