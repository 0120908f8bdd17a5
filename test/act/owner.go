package act

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// An Owner is the person at a terminal. Each request uses a connection of its
// own to the hub's local socket, like the commands do.
type Owner struct {
	Dir string // the hub's data directory
	PIN string
}

func (o *Owner) ask(ctx context.Context, request map[string]any, result any) error {
	return hubtest.Control(ctx, o.Dir, request, result)
}

// SetUp sets the first PIN and makes so many keys.
func (o *Owner) SetUp(ctx context.Context, keys int) ([]string, error) {
	if err := o.ask(ctx, map[string]any{"op": "owner.pin", "newPin": o.PIN}, nil); err != nil {
		return nil, err
	}
	var secrets []string
	for i := range keys {
		var key struct{ Key string }
		if err := o.ask(ctx, map[string]any{"op": "keys.create", "name": fmt.Sprintf("agent %d", i), "pin": o.PIN}, &key); err != nil {
			return nil, err
		}
		secrets = append(secrets, key.Key)
	}
	return secrets, nil
}

// Actions lists actions in these states, or all.
func (o *Owner) Actions(ctx context.Context, states ...hearken.ActionState) ([]hearken.Action, error) {
	var list []hearken.Action
	err := o.ask(ctx, map[string]any{"op": "actions.list", "actions": hearken.ActionFilter{States: states}}, &list)
	return list, err
}

// Calendar is the address of the built-in calendar.
func (o *Owner) Calendar(ctx context.Context) (address string, err error) {
	err = o.ask(ctx, map[string]any{"op": "actions.calendar"}, &address)
	return address, err
}

// Decide says yes or no to an action as it was seen, and returns whether this
// decided.
func (o *Owner) Decide(ctx context.Context, a *hearken.Action, allow bool) (bool, error) {
	var got struct{ Decided bool }
	v := act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: allow, From: "terminal"}
	err := o.ask(ctx, map[string]any{"op": "actions.decide", "pin": o.PIN, "verdict": v}, &got)
	return got.Decided, err
}

// A Decider is an owner somewhere: at a terminal ([Owner]) or at the page
// ([Page]).
type Decider interface {
	Decide(ctx context.Context, a *hearken.Action, allow bool) (decided bool, err error)
}

// A Page is the approvals page in a browser in which the PIN was typed. Its
// Decide may be called concurrently.
type Page struct {
	url, token string
	cookies    []*http.Cookie
	client     http.Client
}

// SignIn types the PIN on the page.
func SignIn(ctx context.Context, url, pin string) (*Page, error) {
	p := &Page{url: url}
	var in struct{ Token string }
	if err := p.post(ctx, "login", map[string]any{"pin": pin}, &in); err != nil {
		return nil, err
	}
	p.token = in.Token
	return p, nil
}

// Decide does what [Owner.Decide] does.
func (p *Page) Decide(ctx context.Context, a *hearken.Action, allow bool) (bool, error) {
	var got struct{ Decided bool }
	err := p.post(ctx, "actions/"+a.ID+"/decision", map[string]any{"digest": a.Digest, "allow": allow}, &got)
	return got.Decided, err
}

// post sends what the page's own code would.
func (p *Page) post(ctx context.Context, path string, body, result any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/approvals/api/"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", p.url)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("X-Hearken-Token", p.token)
	for _, c := range p.cookies {
		req.AddCookie(c)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if data, err = io.ReadAll(resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("page: %s: %.200s", resp.Status, data)
	}
	if set := resp.Cookies(); len(set) > 0 { // at the sign-in, before anybody shares the page
		p.cookies = set
	}
	return json.Unmarshal(data, result)
}
