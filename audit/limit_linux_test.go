package audit

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/hearken-dev/hearken"
)

// TestLog_FileLimit has the kernel itself write half a record. The limit holds
// for all that a program writes, also for what the test keeps for the go
// command, so it is set in a program of its own.
func TestLog_FileLimit(t *testing.T) {
	const alone = "AUDIT_LIMITED"
	if os.Getenv(alone) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestLog_FileLimit$")
		c.Env = append(os.Environ(), alone+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
		t.Fatal(err)
	}
	lift := func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
			t.Error(err)
		}
	}
	p := newFixture(t)
	l := p.start()
	t.Cleanup(lift)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 5000, Max: usual.Max}); err != nil {
		t.Fatal(err)
	}
	written, failed := 0, 0
	for i := range 40 {
		switch err := l.Append(t.Context(), record(i)); {
		case err == nil:
			written++
		case hearken.CodeOf(err) == hearken.AuditUnavailable:
			failed++
		default:
			t.Error(err)
		}
	}
	lift()
	if written == 0 || failed == 0 {
		t.Fatalf("%d written, %d failed", written, failed)
	}
	if err := l.Append(t.Context(), record(99)); err != nil {
		t.Fatal("does not heal:", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p.verified()
	all := p.lines()
	if len(all) != written+2 || !strings.Contains(all[written].Note, "could not be written") {
		t.Errorf("%d records of %d, %+v", len(all), written, all[written])
	}
}
