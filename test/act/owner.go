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
	"github.com/hearken-dev/hearken/pipe"
)

// An Owner is the person at a terminal: each request goes over a connection of
// its own to the hub's local socket, as the commands' do.
type Owner struct {
	Dir string // the hub's data directory
	PIN string
}

// ask sends one request and reads its result.
func (o *Owner) ask(ctx context.Context, request map[string]any, result any) error {
	conn, _, err := pipe.Dial(ctx, o.Dir, pipe.Hello{Want: pipe.WantControl})
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := json.NewEncoder(conn).Encode(request); err != nil {
		return fmt.Errorf("ask hub: %w", err)
	}
	var answer struct {
		Result json.RawMessage
		Error  *pipe.WireError
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return fmt.Errorf("hub's answer: %w", err)
	}
	if answer.Error != nil {
		return answer.Error.Err()
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

// SetPIN sets the first PIN.
func (o *Owner) SetPIN(ctx context.Context) error {
	return o.ask(ctx, map[string]any{"op": "owner.pin", "newPin": o.PIN}, nil)
}

// Key makes a key and returns its secret.
func (o *Owner) Key(ctx context.Context, name string) (string, error) {
	var key struct{ Key string }
	err := o.ask(ctx, map[string]any{"op": "keys.create", "name": name, "pin": o.PIN}, &key)
	return key.Key, err
}

// Keys makes so many keys.
func (o *Owner) Keys(ctx context.Context, n int) ([]string, error) {
	var keys []string
	for i := range n {
		key, err := o.Key(ctx, fmt.Sprintf("agent %d", i))
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
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
