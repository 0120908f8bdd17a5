package act

import (
	"bufio"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

func TestMain(m *testing.M) { hubtest.Main(m) }

// pin is the owner's PIN.
const pin = "correct horse 7"

// size is a number that an environment variable may raise.
func size(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// setUp sets the PIN of a fresh hub and makes keys.
func setUp(t *testing.T, h *hubtest.Hub, keys int) (*Owner, []string) {
	t.Helper()
	o := &Owner{Dir: h.Dir, PIN: pin}
	secrets, err := o.SetUp(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return o, secrets
}

// audit is the whole audit, after it was verified.
func audit(t *testing.T, h *hubtest.Hub) []hearken.AuditRecord {
	t.Helper()
	h.Command(nil, "audit", "verify")
	var all []hearken.AuditRecord
	lines := bufio.NewScanner(strings.NewReader(h.Command(nil, "audit", "export")))
	for lines.Scan() {
		var r hearken.AuditRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("audit: %v in %s", err, lines.Text())
		}
		all = append(all, r)
	}
	return all
}

// pending waits for an action that waits for its owner.
func pending(t *testing.T, o *Owner) (a *hearken.Action) {
	t.Helper()
	hubtest.WaitUntil(t, 20*time.Second, "an action is pending", func() bool {
		list, err := o.Actions(t.Context(), hearken.ActionPending)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 {
			a = &list[0]
		}
		return a != nil
	})
	return a
}

// database is an empty schema on the server that scripts/test starts.
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
