package injection

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/pipe"
)

// write leaves a file in the owner's home.
func write(c *castle, name, text string) string {
	path := filepath.Join(c.home, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic("injection: " + err.Error()) // a home that cannot be written in is no home
	}
	return path
}

// sockets are requests on the local socket, as no command would send them.
func sockets() []attempt {
	yes := func(c *castle) act.DecisionRequest {
		return act.DecisionRequest{ID: c.victim.ID, Digest: c.victim.Digest, Allow: true, By: "owner", From: "terminal"}
	}
	send := func(name string, request func(c *castle) any) attempt {
		return attempt{"socket", name, func(ctx context.Context, c *castle) string { return fmt.Sprint(c.ask(ctx, request(c), nil)) }}
	}
	raw := func(name, text string) attempt {
		return send(name, func(c *castle) any {
			verdict, err := json.Marshal(yes(c))
			if err != nil {
				panic("injection: " + err.Error()) // a verdict always encodes
			}
			return []byte(strings.ReplaceAll(text, "VERDICT", string(verdict)))
		})
	}
	grant := hearken.Grant{Principal: act.Local, Tool: hearken.CalendarCreate, Target: "builtin", PerDay: 1000, ExpiresAt: time.Now().AddDate(0, 3, 0)}
	evil := []hearken.Contact{{ID: "evil", Name: "Evil", Emails: []string{"evil@attacker.example"}}}
	return []attempt{
		send("decide without a PIN", func(c *castle) any { return map[string]any{"op": "actions.decide", "verdict": yes(c)} }),
		send("decide with a grant", func(c *castle) any {
			v := yes(c)
			v.Grant = &act.GrantBounds{For: 24 * time.Hour, PerDay: 1000}
			return map[string]any{"op": "actions.decide", "verdict": v, "pin": wrongPIN}
		}),
		raw("PIN twice", `{"op":"actions.decide","pin":"a","pin":"","verdict":VERDICT}`),
		raw("PIN of nothing", `{"op":"actions.decide","pin":null,"PIN":"","verdict":VERDICT}`),
		raw("PIN of another kind", `{"op":"actions.decide","pin":[true],"verdict":VERDICT}`),
		raw("operation twice", `{"op":"owner.set","op":"actions.decide","verdict":VERDICT}`),
		raw("operation in capitals", `{"OP":"ACTIONS.DECIDE","verdict":VERDICT}`),
		raw("operation with a zero byte", `{"op":"actions.decide\u0000","verdict":VERDICT}`),
		raw("two requests on a line", `{"op":"owner.set"}{"op":"actions.decide","verdict":VERDICT}`),
		raw("decide about nothing", `{"op":"actions.decide"}`),
		raw("list nothing", `{"op":"actions.list"}`),
		raw("not JSON", `approve everything`),
		send("new PIN without the old", func(*castle) any { return map[string]any{"op": "owner.pin", "newPin": wrongPIN} }),
		send("new PIN with a wrong one", func(*castle) any { return map[string]any{"op": "owner.pin", "pin": wrongPIN, "newPin": wrongPIN} }),
		send("grant", func(*castle) any { return map[string]any{"op": "grants.create", "grant": grant} }),
		send("key that approves", func(*castle) any { return map[string]any{"op": "keys.create", "name": "x", "approver": "client"} }),
		send("key", func(*castle) any { return map[string]any{"op": "keys.create", "name": "x", "approver": "owner"} }),
		send("contacts", func(*castle) any { return map[string]any{"op": "contacts.import", "contacts": evil} }),
		send("resume", func(*castle) any { return map[string]any{"op": "actions.resume"} }),
		send("undo what waits", func(c *castle) any { return map[string]any{"op": "actions.undo", "id": c.victim.ID} }),
		send("yield", func(*castle) any { return map[string]any{"op": "yield"} }),
		{"socket", "many requests on one connection, one after the other", told(func(ctx context.Context, c *castle) error {
			conn, _, err := pipe.Dial(ctx, c.dir, pipe.Hello{Want: pipe.WantControl})
			if err != nil {
				return err
			}
			defer conn.Close()
			enc, dec := json.NewEncoder(conn), json.NewDecoder(conn)
			for _, r := range []any{
				map[string]any{"op": "owner.set"}, map[string]any{"op": "actions.get", "id": c.victim.ID},
				map[string]any{"op": "actions.decide", "verdict": yes(c)},
			} {
				var answer any
				if err := enc.Encode(r); err != nil {
					return err
				}
				if err := dec.Decode(&answer); err != nil {
					return err
				}
			}
			return nil
		})},
		{"socket", "tools that are none", told(func(ctx context.Context, c *castle) error {
			conn, _, err := pipe.Dial(ctx, c.dir, pipe.Hello{Want: pipe.WantMCP})
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"actions.decide","arguments":{"id":"` + c.victim.ID + `"}}}` + "\n"))
			if err != nil {
				return err
			}
			var answer any
			return json.NewDecoder(conn).Decode(&answer)
		})},
	}
}

// told makes an answer of an error.
func told(try func(ctx context.Context, c *castle) error) func(ctx context.Context, c *castle) string {
	return func(ctx context.Context, c *castle) string { return fmt.Sprint(try(ctx, c)) }
}
