package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

// TestLog_ChangedWhileOpen changes files under a running hub. The next append
// finds it, and works again when the files are as they were.
func TestLog_ChangedWhileOpen(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(p *fixture)
		says   string
	}{
		"LinesSwapped": {func(p *fixture) {
			p.edit(october, func(l []string) []string { l[4], l[5] = l[5], l[4]; return l })
		}, "Line 5 of 2026-10.jsonl is record 6"},
		"Edited": {func(p *fixture) {
			p.edit(october, func(l []string) []string {
				l[4] = strings.Replace(l[4], "evt_5", "evt_6", 1)
				return l
			})
		}, "Line 5 of 2026-10.jsonl was changed"},
		"LastEdited": {func(p *fixture) {
			p.edit(november, func(l []string) []string {
				l[9] = strings.Replace(l[9], "evt_20", "evt_21", 1)
				return l
			})
		}, "Line 10 of 2026-11.jsonl is not the one"},
		"TailCut": {func(p *fixture) {
			p.edit(november, func(l []string) []string { return l[:5] })
			p.keepCheckpoints(15)
		}, "the end was cut off"},
		"MonthRemoved":       {func(p *fixture) { p.remove(filepath.Join(p.dir, october)) }, "the records before it are missing"},
		"CheckpointsRemoved": {func(p *fixture) { p.remove(filepath.Join(p.dir, checkpointsFile)) }, "missing in checkpoints"},
		"DirectoryRemoved":   {func(p *fixture) { p.remove(p.dir) }, "the end was cut off"},
		"KeysRemoved":        {func(p *fixture) { p.remove(p.keys) }, "keys are missing"},
		"Appended": {func(p *fixture) {
			var s state
			for _, l := range p.rawLines() {
				s.add([]byte(strings.TrimSuffix(l, "\n")))
			}
			l, err := encode(&s, p.now, line{AuditRecord: decision(99)}, strings.ToUpper)
			if err != nil {
				p.t.Fatal(err)
			}
			p.edit(november, func(lines []string) []string { return append(lines, string(l)) })
		}, "somebody else added some"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newFixture(t)
			p.open = openUnsynced // without a store: the hub itself remembers what it wrote
			p.now = time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
			l := p.start()
			for i := range 20 {
				if i == 10 {
					p.now = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
				}
				if err := l.Append(t.Context(), decision(i+1)); err != nil {
					t.Fatal(err)
				}
			}
			whole := p.snapshot(t)
			tt.change(p)
			for range 2 {
				err := l.Append(t.Context(), decision(21))
				if hearken.CodeOf(err) != hearken.AuditUnavailable || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("append: %v", err)
				}
				if l.Problem() == nil {
					t.Error("there is no problem")
				}
			}
			p.remove(p.dir, p.keys)
			if err := errors.Join(os.CopyFS(p.dir, os.DirFS(whole.dir)), os.CopyFS(p.keys, os.DirFS(whole.keys)),
				os.Rename(CheckpointCopy(p.keys, whole.dir), CheckpointCopy(p.keys, p.dir))); err != nil {
				t.Fatal(err)
			}
			if err := l.Append(t.Context(), decision(22)); err != nil {
				t.Errorf("put back: %v", err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if r := p.verified(); r.Records != 21 || r.Covered != 21 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// rawLines returns all lines as they are stored.
func (p *fixture) rawLines() (all []string) {
	for _, name := range []string{october, november} {
		p.edit(name, func(l []string) []string { all = append(all, l...); return l })
	}
	return all
}

// TestLog_ReadsOnce appends many records without reading the whole audit again,
// also after another program only looked at a file or saved it unchanged.
func TestLog_ReadsOnce(t *testing.T) {
	p := newFixture(t)
	p.open = openUnsynced
	l := p.start()
	first := p.now
	appendAt := func(second int) {
		t.Helper()
		p.now = first.Add(time.Duration(second) * time.Second)
		if err := l.Append(t.Context(), decision(second)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		appendAt(i)
	}
	if !l.checkedAt.Equal(first) {
		t.Errorf("read again at %v", l.checkedAt)
	}
	path := filepath.Join(p.dir, november)
	if _, err := os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	appendAt(300)
	if !l.checkedAt.Equal(first) {
		t.Errorf("read again at %v", l.checkedAt)
	}
	if err := os.Chtimes(path, time.Time{}, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	appendAt(400)
	if l.checkedAt.Equal(first) {
		t.Error("not read again after a change")
	}
}

// TestLog_VerifiesRegularly changes an old record so that nothing about the file
// tells it. The next regular verification finds it.
func TestLog_VerifiesRegularly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t)
		p.open = openUnsynced
		l := p.start()
		for i := range 10 {
			if err := l.Append(t.Context(), decision(i)); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(p.dir, november)
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		p.edit(november, func(l []string) []string {
			l[3] = strings.Replace(l[3], "evt_3", "evt_4", 1)
			return l
		})
		if err := os.Chtimes(path, time.Time{}, before.ModTime()); err != nil {
			t.Fatal(err)
		}
		<-time.After(verifyInterval + time.Second)
		synctest.Wait()
		if err := l.Problem(); err == nil || !strings.Contains(err.Error(), "Line 4 of 2026-11.jsonl was changed") {
			t.Errorf("%v", err)
		}
		l.Close()
	})
}

// slowStore is a store that answers when it is told to.
type slowStore struct {
	HeadStore
	answer chan struct{}
}

func (s *slowStore) AuditHeads(ctx context.Context) ([]hearken.AuditHead, error) {
	select {
	case <-s.answer:
		return s.HeadStore.AuditHeads(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestLog_VerifiesInBackground opens a long audit: the hub can start, and
// records wait until all of it is verified.
func TestLog_VerifiesInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t)
		p.open = openUnsynced
		p.fill(1, 3)
		store := &slowStore{storetest.NewMemory(), make(chan struct{})}
		l, err := Open(Config{Dir: p.dir, KeyDir: p.keys, Store: store, Now: time.Now, quick: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Problem(); hearken.CodeOf(err) != hearken.AuditUnavailable || !strings.Contains(err.Error(), "still being verified") {
			t.Errorf("problem: %v", err)
		}
		if err := l.Append(t.Context(), decision(4)); hearken.CodeOf(err) != hearken.AuditUnavailable || !strings.Contains(err.Error(), "still being verified") {
			t.Errorf("after %v: %v", patience, err)
		}
		appended := make(chan error, 1)
		go func() { appended <- l.Append(t.Context(), decision(5)) }()
		synctest.Wait()
		close(store.answer)
		if err := errors.Join(<-appended, l.Problem()); err != nil {
			t.Errorf("verified: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if all := p.lines(); len(all) != 4 || all[3].Action != "evt_5" {
			t.Errorf("%+v", all)
		}

		// Closing does not wait for the rest.
		store = &slowStore{storetest.NewMemory(), make(chan struct{})}
		if l, err = Open(Config{Dir: p.dir, KeyDir: p.keys, Store: store, Now: time.Now, quick: -1}); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// TestLog_StoreFails has the store fail: nothing is acknowledged that the store
// does not know of, and refusals need no store.
func TestLog_StoreFails(t *testing.T) {
	p := newFixture(t)
	p.open = openUnsynced
	memory := storetest.NewMemory()
	store := storetest.NewFaulty(memory)
	l, err := Open(Config{Dir: p.dir, KeyDir: p.keys, Store: store, Name: "audit", Now: func() time.Time { return p.now }, open: p.open})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Append(t.Context(), decision(1)); err != nil {
		t.Fatal(err)
	}
	down := errors.New("the database is down")
	store.Fail(down)
	if err := l.Append(t.Context(), decision(2)); hearken.CodeOf(err) != hearken.AuditUnavailable || !errors.Is(err, down) {
		t.Errorf("a decision: %v", err)
	}
	if err := l.Append(t.Context(), record(3)); err != nil {
		t.Errorf("a refusal: %v", err)
	}
	store.Fail(nil)
	if err := l.Append(t.Context(), decision(4)); err != nil {
		t.Errorf("the store works again: %v", err)
	}
	p.store, p.name = memory, "audit"
	if r := p.verified(); r.Head != r.Records || r.Records != 4 {
		t.Errorf("%+v", r)
	}
}

// TestLog_TimerAfterClose has the timer fire late: another hub may have the
// audit by then.
func TestLog_TimerAfterClose(t *testing.T) {
	p := newFixture(t)
	store := storetest.NewFaulty(storetest.NewMemory())
	l, err := Open(Config{Dir: p.dir, KeyDir: p.keys, Store: store, Name: "audit", Now: func() time.Time { return p.now }, open: openUnsynced})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Append(t.Context(), record(1)); err != nil {
		t.Fatal(err)
	}
	store.Fail(errors.New("the database is down"))
	if err := l.Close(); err == nil {
		t.Fatal("nothing is left to write")
	}
	store.Fail(nil)
	before := store.Calls("SaveAuditHead")
	for range 100 {
		l.checkpointOnTimer()
	}
	if n := store.Calls("SaveAuditHead") - before; n != 0 {
		t.Errorf("written %d times", n)
	}
}

// TestLog_CheckpointAtOnce covers each record but refusals and the hub's own.
func TestLog_CheckpointAtOnce(t *testing.T) {
	atOnce := map[string]bool{
		hearken.AuditProposed: true, hearken.AuditDecided: true, hearken.AuditExecuting: true, hearken.AuditResult: true,
		hearken.AuditUndone: true, hearken.AuditFired: true, hearken.AuditKey: true, hearken.AuditGrant: true,
		hearken.AuditOwner: true, hearken.AuditPaused: true,
		hearken.AuditRefused: false, hearken.AuditLimited: false, hearken.AuditHub: false,
	}
	for kind, want := range atOnce {
		p := newFixture(t)
		p.store, p.open = storetest.NewMemory(), openUnsynced
		l := p.start()
		if err := l.Append(t.Context(), hearken.AuditRecord{Type: kind}); err != nil {
			t.Fatal(err)
		}
		if r := p.verified(); (r.Covered == 1) != want || (r.Head == 1) != want {
			t.Errorf("%s: %d covered, the store knows %d", kind, r.Covered, r.Head)
		}
	}
}
