package act

import (
	"bufio"
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

func TestMain(m *testing.M) { hubtest.Main(m) }

// pin is the owner's.
const pin = "correct horse 7"

// open sets the PIN of a fresh hub and makes keys.
func open(t *testing.T, h *hubtest.Hub, keys int) (*Owner, []string) {
	t.Helper()
	o := &Owner{Dir: h.Dir, PIN: pin}
	if err := o.SetPIN(t.Context()); err != nil {
		t.Fatal(err)
	}
	secrets, err := o.Keys(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return o, secrets
}

// run runs one of the program's commands in the hub's environment.
func run(t *testing.T, h *hubtest.Hub, env []string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), hubtest.Binary(t), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(h.Env, env...), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("hearken %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// audit is all that the audit holds, after it was verified.
func audit(t *testing.T, h *hubtest.Hub) []hearken.AuditRecord {
	t.Helper()
	run(t, h, nil, "audit", "verify")
	var all []hearken.AuditRecord
	lines := bufio.NewScanner(strings.NewReader(run(t, h, nil, "audit", "export")))
	for lines.Scan() {
		var r hearken.AuditRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("audit: %v in %s", err, lines.Text())
		}
		all = append(all, r)
	}
	return all
}

// TestKills kills the hub while appointments are made and letters are sent,
// and counts them in the calendar that people subscribe to and at the mail
// server. It holds for whichever store.
func TestKills(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"sqlite", "json"} {
		t.Run(store, func(t *testing.T) { kills(t, "STORAGE_BACKEND="+store) })
	}
	t.Run("postgres", func(t *testing.T) {
		kills(t, "STORAGE_BACKEND=postgres", "DATABASE_URL="+database(t))
	})
}

// database is an empty place on the server that scripts/test starts.
func database(t *testing.T) string {
	t.Helper()
	server := os.Getenv("HEARKEN_TEST_POSTGRES")
	if server == "" {
		t.Skip("HEARKEN_TEST_POSTGRES names no server")
	}
	name := "kills_" + strings.ToLower(crand.Text())
	admin := func(query string) {
		t.Helper()
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.Connect(ctx, server)
		if err == nil {
			_, err = conn.Exec(ctx, query)
			conn.Close(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	admin("CREATE SCHEMA " + name)
	t.Cleanup(func() { admin("DROP SCHEMA " + name + " CASCADE") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

func kills(t *testing.T, env ...string) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	hold := rand.New(rand.NewPCG(seed, 1))
	holds := make(chan time.Duration, 1000)
	for range cap(holds) {
		holds <- time.Duration(hold.Int64N(int64(40 * time.Millisecond)))
	}
	post, err := OpenPost(t.TempDir(), func() { rest(t.Context(), <-holds) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(post.Close)
	h := hubtest.Start(t, slices.Concat(post.Env(), env, []string{"RATE_LIMIT=100000", "TRANSCRIPTION_PROVIDER=null", "TIMEZONE=Europe/Berlin"})...)
	o, keys := open(t, h, 2)
	rng := rand.New(rand.NewPCG(seed, 2))
	storm := &Storm{
		Wishes: Wishes(20, 20, 0, rng), Kills: 10, URL: h.URL, Keys: keys, Owner: o, Rand: rng,
		Restart: func() error {
			h.Kill()
			h.Run()
			return nil
		},
	}
	if err := storm.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	truth := Truth{Effects: feed(t, o)}
	letters, err := post.Book.Counts()
	if err != nil {
		t.Fatal(err)
	}
	for mark, n := range letters {
		truth.Effects[mark] += n
	}
	if err := json.Unmarshal([]byte(run(t, h, nil, "actions", "list", "--json", "--limit", "1000")), &truth.Actions); err != nil {
		t.Fatal(err)
	}
	h.Stop()
	truth.Audit = audit(t, h)
	j := storm.Judge(truth)
	for _, fault := range j.Faults {
		t.Error(fault)
	}
	if n := j.Done["calendar.create builtin"]; n != 20 {
		t.Errorf("%d appointments of 20", n)
	}
	if n := j.Done["message.send email"] + j.Unknown; n != 20 || j.Denied != 4 {
		t.Errorf("%d letters of 20, and %d denied of 4", n, j.Denied)
	}
	t.Logf("done %v, unknown %d of which %d arrived, denied %d", j.Done, j.Unknown, j.Arrived, j.Denied)
}

// feed counts the marks in the hub's own calendar.
func feed(t *testing.T, o *Owner) map[string]int {
	t.Helper()
	address, err := o.Calendar(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("calendar: %s, %v", resp.Status, err)
	}
	return CountEvents(string(data))
}
