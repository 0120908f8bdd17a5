package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

func TestMain(m *testing.M) {
	if run := os.Getenv(childEnv); run != "" {
		os.Exit(child(os.Stdout, run))
	}
	goleak.VerifyTestMain(m)
}

// A fixture is a test's audit with a clock.
type fixture struct {
	t         tester
	dir, keys string
	now       time.Time
	open      func(string) (file, error)
	store     *storetest.Memory // nil if no store knows the audit
	name      string            // of the audit there
}

// tester is what a *testing.T and a *rapid.T have in common.
type tester interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatal(...any)
	Fatalf(string, ...any)
}

func newFixture(t testing.TB) *fixture { return newFixtureIn(t, t.TempDir()) }

func newFixtureIn(t tester, root string) *fixture {
	return &fixture{t: t, dir: filepath.Join(root, "audit"), keys: filepath.Join(root, "keys"), now: time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)}
}

// try opens the audit, which fails if it is not intact.
func (p *fixture) try() (*Log, error) {
	l, err := p.openAny()
	if err != nil {
		return nil, err
	}
	if err := l.Problem(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// openAny opens the audit, intact or not.
func (p *fixture) openAny() (*Log, error) {
	cfg := Config{Dir: p.dir, KeyDir: p.keys, Name: p.name, Now: func() time.Time { return p.now }, open: p.open}
	if p.store != nil {
		cfg.Store = p.store
	}
	return Open(cfg)
}

func (p *fixture) start() *Log {
	p.t.Helper()
	l, err := p.try()
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { l.Close() })
	return l
}

// fill appends records with numbers and closes the audit.
func (p *fixture) fill(from, to int) {
	p.t.Helper()
	l := p.start()
	for i := from; i <= to; i++ {
		if err := l.Append(p.t.Context(), record(i)); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// record is one that needs no checkpoint at once; decision is one that does.
func record(i int) hearken.AuditRecord {
	r := decision(i)
	r.Type = hearken.AuditRefused
	return r
}

func decision(i int) hearken.AuditRecord {
	return hearken.AuditRecord{Type: hearken.AuditDecided, Action: fmt.Sprintf("evt_%d", i), Texts: map[string]string{"title": fmt.Sprint("title ", i)}}
}

func (p *fixture) options() Options {
	opts := Options{KeyDir: p.keys, Name: p.name}
	if p.store != nil {
		heads, err := p.store.AuditHeads(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		opts.Heads = heads
	}
	return opts
}

func (p *fixture) key() string {
	p.t.Helper()
	keys, err := ReadKeys(p.keys)
	if err != nil {
		p.t.Fatal(err)
	}
	return keys.VerifierKey()
}

// verified verifies the audit and fails the test if that fails.
func (p *fixture) verified() Report {
	p.t.Helper()
	r, err := Verify(p.dir, p.options())
	if err != nil {
		p.t.Fatalf("verify: %v", err)
	}
	return r
}

// lines returns all records.
func (p *fixture) lines() []line {
	p.t.Helper()
	var b bytes.Buffer
	if err := Export(p.dir, &b, Filter{}); err != nil {
		p.t.Fatal(err)
	}
	var all []line
	for text := range strings.Lines(b.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			p.t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

func TestLog_Append(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	when := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	texts := map[string]string{"text": "see <you> at five"}
	r := hearken.AuditRecord{Type: hearken.AuditExecuting, Action: "msg_1", Principal: "local", Tool: hearken.MessageSend, Target: "email:bob@hub.example", When: &when, Texts: texts}
	if err := l.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if texts["text"] != "see <you> at five" {
		t.Error("the caller's map was changed")
	}
	if err := l.Append(t.Context(), record(2)); err != nil {
		t.Fatal(err)
	}
	r.Texts = map[string]string{"text": l.keys.Hash("see <you> at five")}
	data, err := os.ReadFile(filepath.Join(p.dir, "2026-11.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	got := p.lines()
	want := line{Seq: 1, TS: "2026-11-15T10:00:00.000000Z", AuditRecord: r}
	if diff := cmp.Diff(want, got[0], cmp.AllowUnexported(line{})); diff != "" {
		t.Error(diff)
	}
	if got[1].Prev != hexHash(first) || got[1].Seq != 2 {
		t.Errorf("the second record follows %s as %d", got[1].Prev, got[1].Seq)
	}
	if bytes.Contains(data, []byte("you")) || bytes.Contains(data, []byte("title 2")) {
		t.Error("a text stands in clear")
	}
	if l.keys.Hash("a") == l.keys.Hash("b") || !strings.HasPrefix(l.keys.Hash("a"), "hmac-sha256:") || len(l.keys.Hash("a")) != len("hmac-sha256:")+64 {
		t.Error("hash", l.keys.Hash("a"))
	}
}

func TestLog_Reopen(t *testing.T) {
	p := newFixture(t)
	for i := range 5 {
		p.fill(i*70+1, i*70+70)
		p.now = p.now.Add(time.Hour)
	}
	r := p.verified()
	if r.Records != 350 || r.Covered != 350 || r.First != 1 || r.Removed != 0 {
		t.Errorf("%+v", r)
	}
	if len(p.lines()) != 350 {
		t.Error("lines", len(p.lines()))
	}
	for _, f := range []string{signFile, hmacFile, filepath.Base(CheckpointCopy(p.keys, p.dir))} {
		info, err := os.Stat(filepath.Join(p.keys, f))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f, info.Mode())
		}
	}
}

func TestLog_SecondWriter(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	if _, err := p.try(); hearken.CodeOf(err) != hearken.AuditUnavailable {
		t.Errorf("a second one: %v", err)
	}
	l.Close()
	p.start()
}

func TestLog_KeysInside(t *testing.T) {
	p := newFixture(t)
	p.keys = filepath.Join(p.dir, "keys")
	if _, err := p.try(); hearken.CodeOf(err) != hearken.Invalid {
		t.Error(err)
	}
}

func TestLog_KeysLost(t *testing.T) {
	p := newFixture(t)
	p.fill(1, 3)
	if err := os.Rename(p.keys, p.keys+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.try(); hearken.CodeOf(err) != hearken.AuditUnavailable {
		t.Error("went on with new keys:", err)
	}
}

func TestLog_Closed(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), record(1)); hearken.CodeOf(err) != hearken.AuditUnavailable {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.start().Append(ctx, record(1)); hearken.CodeOf(err) != hearken.AuditUnavailable {
		t.Error(err)
	}
}

func TestLog_Together(t *testing.T) {
	p := newFixture(t)
	syncs := &counted{}
	p.open = syncs.open
	l := p.start()
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			if err := l.Append(t.Context(), record(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := p.verified(); r.Records != 500 {
		t.Errorf("%+v", r)
	}
	seen := map[string]bool{}
	for _, l := range p.lines() {
		seen[l.Action] = true
	}
	if len(seen) != 500 {
		t.Errorf("%d different records", len(seen))
	}
	t.Logf("%d syncs for 500 records", syncs.n.Load())
}

// TestVerify_WhileWriting verifies and exports an audit that goes on.
func TestVerify_WhileWriting(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if err := l.Append(t.Context(), record(i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 30 {
		p.verified()
		p.lines()
	}
	close(done)
	wg.Wait()
	if r := p.verified(); r.Records != l.w.state.n {
		t.Errorf("%d records, %+v", l.w.state.n, r)
	}
}

func TestLog_CheckpointInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t)
		l := p.start()
		if err := l.Append(t.Context(), record(1)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(CheckpointCopy(p.keys, p.dir)); err == nil {
			t.Error("a checkpoint after one record")
		}
		<-time.After(checkpointAfter + time.Second)
		synctest.Wait()
		if r := p.verified(); r.Covered != 1 || r.Checkpoints != 1 {
			t.Errorf("%+v", r)
		}
		l.Close()
	})
}

func TestLog_CheckpointByCount(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	for i := range 2*checkpointRecords + 1 {
		if err := l.Append(t.Context(), record(i)); err != nil {
			t.Fatal(err)
		}
	}
	if r := p.verified(); r.Covered != 200 || r.Records != 201 || r.Checkpoints != 2 {
		t.Errorf("%+v", r)
	}
	l.Close()
	text, err := os.ReadFile(CheckpointCopy(p.keys, p.dir))
	if err != nil || !strings.HasPrefix(string(text), "hearken audit\n201\n") {
		t.Errorf("%q, %v", text, err)
	}
	if r := p.verified(); r.Covered != 201 {
		t.Errorf("%+v", r)
	}
}

func TestLog_Months(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	for m := range 4 {
		p.now = time.Date(2026, time.Month(9+m), 28, 0, 0, 0, 0, time.UTC)
		for i := range 30 {
			if err := l.Append(t.Context(), record(m*100+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A clock that was put back writes no closed month.
	p.now = time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	if err := l.Append(t.Context(), record(999)); err != nil {
		t.Fatal(err)
	}
	l.Close()
	r := p.verified()
	if want := []string{"2026-09.jsonl", "2026-10.jsonl", "2026-11.jsonl", "2026-12.jsonl"}; !slices.Equal(r.Months, want) || r.Records != 121 {
		t.Errorf("%+v", r)
	}

	// A month that was removed is missed.
	p2 := newFixture(t)
	for m := range 3 {
		p2.now = time.Date(2026, time.Month(1+m), 1, 0, 0, 0, 0, time.UTC)
		p2.fill(m*10, m*10+9)
	}
	os.Remove(filepath.Join(p2.dir, "2026-01.jsonl"))
	if _, err := Verify(p2.dir, p2.options()); err == nil || !strings.Contains(err.Error(), "the records before it are missing") {
		t.Error(err)
	}
}

func TestExport(t *testing.T) {
	p := newFixture(t)
	l := p.start()
	for i, r := range []hearken.AuditRecord{
		{Type: hearken.AuditProposed, Action: "evt_a", Principal: "local"},
		{Type: hearken.AuditDecided, Action: "evt_a", Principal: "local"},
		{Type: hearken.AuditRefused, Principal: "k1"},
		{Type: hearken.AuditProposed, Action: "evt_b", Principal: "k1"},
	} {
		p.now = time.Date(2026, time.Month(9+i), 1, 0, 0, 0, 0, time.UTC)
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		f    Filter
		want int
	}{
		{Filter{}, 4},
		{Filter{Type: "action"}, 3},
		{Filter{Type: hearken.AuditProposed}, 2},
		{Filter{Action: "evt_a"}, 2},
		{Filter{Principal: "k1"}, 2},
		{Filter{Since: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}, 2},
	} {
		var b bytes.Buffer
		if err := Export(p.dir, &b, tt.f); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n"); n != tt.want {
			t.Errorf("%+v finds %d", tt.f, n)
		}
	}
}
