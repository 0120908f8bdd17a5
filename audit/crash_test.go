package audit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
)

// child appends for ever and tells w of each record that is acknowledged.
func child(w io.Writer, dir string) int {
	l, err := Open(Config{Dir: filepath.Join(dir, "audit"), KeyDir: filepath.Join(dir, "keys")})
	if err != nil {
		fmt.Fprintln(w, err)
		return 1
	}
	var mu sync.Mutex
	next := 0
	for range 4 {
		go func() {
			for {
				mu.Lock()
				next++
				name := fmt.Sprintf("%d-%d", os.Getpid(), next)
				mu.Unlock()
				if err := l.Append(context.Background(), hearken.AuditRecord{Type: hearken.AuditExecuting, Action: name}); err != nil {
					fmt.Fprintln(w, err)
					os.Exit(1)
				}
				fmt.Fprintln(w, "ok "+name)
			}
		}()
	}
	select {}
}

// TestLog_Killed kills a program that appends, many times: no record is lost
// that was acknowledged.
func TestLog_Killed(t *testing.T) {
	root := t.TempDir()
	p := &fixture{t: t, dir: filepath.Join(root, "audit"), keys: filepath.Join(root, "keys")}
	var acknowledged []string
	for round := range 12 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "AUDIT_CHILD="+root)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for n := 0; in.Scan(); n++ {
			name, ok := strings.CutPrefix(in.Text(), "ok ")
			if !ok {
				t.Error(in.Text())
				break
			}
			acknowledged = append(acknowledged, name)
			if n == 20+round*17 {
				c.Process.Kill()
			}
		}
		c.Process.Kill()
		c.Wait()
	}
	there := map[string]bool{}
	for _, l := range p.lines() {
		there[l.Action] = true
	}
	for _, name := range acknowledged {
		if !there[name] {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
	if len(acknowledged) < 12*21 {
		t.Errorf("only %d records", len(acknowledged))
	}
	p.now = p.start().cfg.Now() // opens after the last kill
	p.verified()
	t.Log(strconv.Itoa(len(acknowledged)) + " acknowledged, " + strconv.Itoa(len(there)) + " there")
}
