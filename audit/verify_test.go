package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
)

// twoMonths is an audit with 150 records in October and 20 in November.
func twoMonths(t testing.TB) *fixture {
	p := newFixture(t)
	p.open = openUnsynced
	p.now = time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
	p.fill(1, 150)
	p.now = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	p.fill(151, 170)
	return p
}

const october, november = "2026-10.jsonl", "2026-11.jsonl"

// edit changes the lines of a file.
func (p *fixture) edit(name string, change func(lines []string) []string) {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	lines := change(slices.Collect(strings.Lines(string(data))))
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(strings.Join(lines, "")), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func TestVerify_NamesTheLine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(p *fixture)
		want   string // of the sentence
		file   string
		line   int
	}{
		{"Edited", func(p *fixture) {
			p.edit(october, func(l []string) []string {
				l[41] = strings.Replace(l[41], "evt_42", "evt_43", 1)
				return l
			})
		}, "Line 42 of 2026-10.jsonl was changed", october, 42},
		{"EditedChain", func(p *fixture) {
			p.edit(october, func(l []string) []string {
				at := strings.Index(l[41], `"prev":"`) + 8
				l[41] = l[41][:at] + strings.Repeat("0", 64) + l[41][at+64:]
				return l
			})
		}, "Line 42 of 2026-10.jsonl does not follow", october, 42},
		{"EditedLastOfMonth", func(p *fixture) {
			p.edit(october, func(l []string) []string {
				l[149] = strings.Replace(l[149], "evt_150", "evt_151", 1)
				return l
			})
		}, "Line 150 of 2026-10.jsonl is not the one that the checkpoint", october, 150},
		{"EditedLast", func(p *fixture) {
			p.edit(november, func(l []string) []string {
				l[19] = strings.Replace(l[19], "evt_170", "evt_171", 1)
				return l
			})
		}, "Line 20 of 2026-11.jsonl is not the one that the checkpoint", november, 20},
		{"Removed", func(p *fixture) {
			p.edit(october, func(l []string) []string { return slices.Delete(l, 10, 12) })
		}, "Line 11 of 2026-10.jsonl is record 13, but record 11 should be there", october, 11},
		{"CutLast", func(p *fixture) {
			p.edit(november, func(l []string) []string { return l[:19] })
		}, "2026-11.jsonl ends with record 169 at line 19, but the checkpoint of 2026-11-02T00:00:00Z covers 170 records", november, 19},
		{"Swapped", func(p *fixture) {
			p.edit(october, func(l []string) []string { l[4], l[5] = l[5], l[4]; return l })
		}, "Line 5 of 2026-10.jsonl is record 6", october, 5},
		{"Twice", func(p *fixture) {
			p.edit(october, func(l []string) []string { return slices.Insert(l, 5, l[4]) })
		}, "Line 6 of 2026-10.jsonl is record 5, but record 6 should be there", october, 6},
		{"NotARecord", func(p *fixture) {
			p.edit(october, func(l []string) []string { return slices.Insert(l, 5, "hello\n") })
		}, "Line 6 of 2026-10.jsonl is not a record", october, 6},
		{"MonthRemoved", func(p *fixture) { os.Remove(filepath.Join(p.dir, october)) },
			"Line 1 of 2026-11.jsonl is record 151: the records before it are missing", november, 1},
		{"LastMonthRemoved", func(p *fixture) { os.Remove(filepath.Join(p.dir, november)) },
			"2026-10.jsonl ends with record 150 at line 150, but the checkpoint", october, 150},
		{"AllRemoved", func(p *fixture) { os.Remove(filepath.Join(p.dir, november)); os.Remove(filepath.Join(p.dir, october)) },
			"The audit ends with record 0", "", 0},
		{"MonthRenamed", func(p *fixture) {
			os.Rename(filepath.Join(p.dir, october), filepath.Join(p.dir, "2026-09.jsonl"))
		}, "Line 100 of 2026-09.jsonl was at byte", "2026-09.jsonl", 100},
		{"MovedOver", func(p *fixture) {
			var moved string
			p.edit(november, func(l []string) []string { moved = l[0]; return l[1:] })
			p.edit(october, func(l []string) []string { return append(l, moved) })
		}, "Line 19 of 2026-11.jsonl was at byte", november, 19},
		{"CheckpointRemoved", func(p *fixture) {
			p.edit(checkpointsFile, func(l []string) []string { return l[12:] })
		}, "The checkpoint at line 1 of checkpoints does not follow", checkpointsFile, 1},
		{"CheckpointEdited", func(p *fixture) {
			p.edit(checkpointsFile, func(l []string) []string { l[13] = "151\n"; return l })
		}, "The checkpoint at line 13 of checkpoints is not signed by this key", checkpointsFile, 13},
		{"CheckpointsOfAnother", func(p *fixture) {
			other := twoMonths(t)
			data, _ := os.ReadFile(filepath.Join(other.dir, checkpointsFile))
			os.WriteFile(filepath.Join(p.dir, checkpointsFile), data, 0o600)
		}, "The checkpoint at line 1 of checkpoints is not signed by this key", checkpointsFile, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := twoMonths(t)
			opts := p.options()
			tt.change(p)
			_, err := Verify(p.dir, opts)
			bad, ok := errors.AsType[*Tampered](err)
			if !ok {
				t.Fatal("not found:", err)
			}
			if !strings.HasPrefix(bad.Message, tt.want) || bad.File != tt.file || bad.Line != tt.line {
				t.Errorf("%s, line %d: %s", bad.File, bad.Line, bad.Message)
			}
		})
	}
}

func TestVerify_WrongKey(t *testing.T) {
	p, other := twoMonths(t), twoMonths(t)
	_, err := Verify(p.dir, Options{Key: other.key()})
	if err == nil || !strings.Contains(err.Error(), "is not signed by this key") {
		t.Error(err)
	}
	if _, err := Verify(p.dir, Options{Key: "nonsense"}); hearken.CodeOf(err) != hearken.Invalid {
		t.Error(err)
	}
}

// TestVerify_Mutations changes one thing in any of the files. Whatever it is,
// it is found.
func TestVerify_Mutations(t *testing.T) {
	p := twoMonths(t)
	opts := p.options()
	whole := map[string][]byte{}
	for _, name := range []string{october, november, checkpointsFile} {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		whole[name] = data
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{october, november, checkpointsFile}).Draw(rt, "file")
		data := bytes.Clone(whole[name])
		lines := slices.Collect(bytes.Lines(data))
		i := rapid.IntRange(0, len(lines)-1).Draw(rt, "line")
		switch rapid.SampledFrom([]string{"flip", "delete", "swap", "duplicate", "truncate", "rename", "remove"}).Draw(rt, "mutation") {
		case "flip":
			at := rapid.IntRange(0, len(data)-1).Draw(rt, "byte")
			data[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "by"))
		case "delete":
			data = bytes.Join(slices.Delete(lines, i, i+1), nil)
		case "swap":
			j := rapid.IntRange(0, len(lines)-1).Draw(rt, "other")
			if bytes.Equal(lines[i], lines[j]) {
				return
			}
			lines[i], lines[j] = lines[j], lines[i]
			data = bytes.Join(lines, nil)
		case "duplicate":
			j := rapid.IntRange(0, len(lines)).Draw(rt, "to")
			data = bytes.Join(slices.Insert(lines, j, lines[i]), nil)
		case "truncate":
			data = data[:rapid.IntRange(0, len(data)-1).Draw(rt, "at")]
		case "rename":
			from, to := []byte("evt_"), []byte("msg_")
			if data = bytes.Replace(data, from, to, 1); name == checkpointsFile {
				return
			}
		case "remove":
			data = nil
		}
		if err := os.WriteFile(filepath.Join(p.dir, name), data, 0o600); err != nil {
			rt.Fatal(err)
		}
		_, err := Verify(p.dir, opts)
		if restore := os.WriteFile(filepath.Join(p.dir, name), whole[name], 0o600); restore != nil {
			rt.Fatal(restore)
		}
		if err == nil {
			rt.Fatal("not found")
		}
	})
}

// TestVerify_Rewritten is somebody who has the folder and not the key: they
// write the end of the audit anew, with a chain that is right. Only a
// checkpoint that is kept elsewhere tells.
func TestVerify_Rewritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		p := newFixtureIn(rt, root)
		p.open = openUnsynced
		p.now = time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
		n := rapid.IntRange(101, 130).Draw(rt, "records")
		p.fill(1, n)
		kept := filepath.Join(t.TempDir(), "kept")
		data, err := os.ReadFile(CheckpointCopy(p.keys, p.dir))
		if err != nil {
			rt.Fatal(err)
		}
		if err := os.WriteFile(kept, data, 0o600); err != nil {
			rt.Fatal(err)
		}
		from := rapid.IntRange(100, n-1).Draw(rt, "from")
		to := rapid.IntRange(from, n+20).Draw(rt, "to")
		p.edit(october, func(lines []string) []string {
			var s state
			for _, l := range lines[:from] {
				s.add([]byte(strings.TrimSuffix(l, "\n")))
			}
			lines = lines[:from]
			for i := from; i < to; i++ {
				l, err := encode(&s, p.now, line{AuditRecord: hearken.AuditRecord{Type: "forged"}}, strings.ToUpper)
				if err != nil {
					rt.Fatal(err)
				}
				s.add(l[:len(l)-1])
				lines = append(lines, string(l))
			}
			return lines
		})
		p.edit(checkpointsFile, func(l []string) []string { return l[:12] })
		opts := Options{Key: p.key()}
		if r, err := Verify(p.dir, opts); err != nil || r.Covered != 100 {
			rt.Fatalf("the forgery is not good enough: %+v, %v", r, err)
		}
		opts.Checkpoint = kept
		if _, err := Verify(p.dir, opts); err == nil {
			rt.Fatal("not found")
		}
		if _, err := p.try(); hearken.CodeOf(err) != hearken.AuditUnavailable {
			rt.Fatal("goes on:", err)
		}
	})
}

// TestState_Root holds our tree against the library's.
func TestState_Root(t *testing.T) {
	var s state
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range at {
			out = append(out, hashes[i])
		}
		return out, nil
	})
	for n := range int64(300) {
		want, err := tlog.TreeHash(n, reader)
		if err != nil || s.root() != want {
			t.Fatalf("%d: %v, want %v, %v", n, s.root(), want, err)
		}
		l := fmt.Appendf(nil, "line %d", n)
		s.add(l)
		more, err := tlog.StoredHashes(n, l, reader)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, more...)
	}
}

func BenchmarkAppend(b *testing.B) {
	l := newFixture(b).start()
	for i := 0; b.Loop(); i++ {
		if err := l.Append(context.Background(), record(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendDecision also signs a checkpoint for each record.
func BenchmarkAppendDecision(b *testing.B) {
	l := newFixture(b).start()
	for i := 0; b.Loop(); i++ {
		if err := l.Append(context.Background(), decision(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendTogether(b *testing.B) {
	l := newFixture(b).start()
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if err := l.Append(context.Background(), record(i)); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkVerify100000(b *testing.B) {
	p := newFixture(b)
	l := p.start()
	if err := fill(l, 100_000); err != nil {
		b.Fatal(err)
	}
	l.Close()
	for b.Loop() {
		if r := p.verified(); r.Records != 100_000 {
			b.Fatal(r)
		}
	}
}

func BenchmarkOpen1000000(b *testing.B) {
	p := newFixture(b)
	l := p.start()
	if err := fill(l, 1_000_000); err != nil {
		b.Fatal(err)
	}
	l.Close()
	for b.Loop() {
		l, err := p.try()
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}

// fill appends n records, many at the same time.
func fill(l *Log, n int) error {
	errs := make(chan error, n)
	limit := make(chan struct{}, 1000)
	for i := range n {
		limit <- struct{}{}
		go func() {
			errs <- l.Append(context.Background(), record(i))
			<-limit
		}()
	}
	var all error
	for range n {
		all = errors.Join(all, <-errs)
	}
	return all
}
