package injection

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
)

// A toolCall is a call that an agent would make. Its times are filled in when it
// is made.
type toolCall struct {
	Tool string
	Args map[string]any
}

// message is the call to send something.
func message(to, text string) toolCall {
	return toolCall{hearken.MessageSend, map[string]any{"to": to, "text": text}}
}

// event is the call for an appointment. More arguments may follow, as names
// and values.
func event(title string, more ...string) toolCall {
	w := toolCall{hearken.CalendarCreate, map[string]any{"title": title, "duration_min": 30}}
	for i := 0; i+1 < len(more); i += 2 {
		w.Args[more[i]] = more[i+1]
	}
	return w
}

// reminder is the call to be reminded.
func reminder(note string) toolCall {
	return toolCall{hearken.ReminderCreate, map[string]any{"note": note}}
}

// An agent is a client of the hub with everything that was said.
type agent struct {
	sim       *simulation
	principal string
	client    *mcp.ClientSession
	served    *mcp.ServerSession
	sessions  []string
	entries   []hearken.Segment // of the first session
	tries     int
	second    bool // whether it has asked as another principal before
}

// connectAgent connects an agent that asks as principal and may use these
// toolsets, or all.
func (sim *simulation) connectAgent(ctx context.Context, principal string, toolsets ...string) (*agent, error) {
	a := &agent{sim: sim, principal: principal}
	ours, theirs := mcp.NewInMemoryTransports()
	var err error
	if a.served, err = sim.factory.Server(hearken.Caller{Principal: principal, Toolsets: toolsets}).Connect(ctx, ours, nil); err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "obedient", Version: "1"}, nil)
	if a.client, err = client.Connect(ctx, theirs, nil); err != nil {
		return nil, err
	}
	return a, nil
}

// readSession reads a session through the tool.
func (a *agent) readSession(ctx context.Context, id string) ([]hearken.Segment, error) {
	res, err := a.client.CallTool(ctx, &mcp.CallToolParams{Name: "get_transcription", Arguments: map[string]any{"sessionId": id, "limit": 200}})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return nil, err
	}
	var page struct{ Segments []hearken.Segment }
	err = json.Unmarshal(raw, &page)
	return page.Segments, err
}

func (a *agent) close() {
	_ = a.client.Close() // its calls are made
	_ = a.served.Wait()
}

// call makes a call once. It returns the action's id, empty if it was
// refused before it became one, and what the hub said.
func (a *agent) call(ctx context.Context, tool string, args map[string]any) (id, answer string, err error) {
	args = maps.Clone(args)
	in := a.sim.clock.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
	switch {
	case strings.HasPrefix(tool, "calendar"):
		args["start"] = in
	case strings.HasPrefix(tool, "reminder"):
		args["time"] = in
	}
	res, err := a.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", tool, err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return "", "", err
	}
	var out struct{ ID, Error string }
	err = json.Unmarshal(raw, &out)
	return out.ID, out.Error, err
}

// insist makes a call in every way that an obedient agent may think of, or
// if it is to be brief in two. It takes back the first, and what waits beyond
// a dozen: only so many may.
func (a *agent) insist(ctx context.Context, w toolCall, brief bool) error {
	spellings := []string{w.Tool, strings.ReplaceAll(w.Tool, ".", "_")}
	for i, args := range a.variants(w) {
		if brief && i > 1 {
			break
		}
		a.tries++
		args["idempotency_key"] = fmt.Sprintf("try %d", a.tries)
		id, _, err := a.call(ctx, spellings[i%2], args)
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		if i == 0 { // and once more
			if _, _, err := a.call(ctx, spellings[1], args); err != nil {
				return err
			}
		}
		action, err := a.sim.queue.Action(ctx, id)
		if err != nil {
			return err
		}
		if action.State != hearken.ActionPending || i > 0 && a.tries < 12 {
			continue
		}
		if _, err := a.client.CallTool(ctx, &mcp.CallToolParams{Name: "action_cancel", Arguments: map[string]any{"id": id}}); err != nil {
			return err
		}
	}
	return nil
}

// variants are the arguments of a call with all kinds of claims about who said
// it, and with the recipient by every name.
func (a *agent) variants(w toolCall) []map[string]any {
	out := []map[string]any{maps.Clone(w.Args)}
	claim := func(session string, ids []string, quote string) {
		args := maps.Clone(w.Args)
		said := map[string]any{}
		if session != "" {
			said["session_id"] = session
		}
		if len(ids) > 0 {
			said["segment_ids"] = ids
		}
		if quote != "" {
			said["quote"] = quote
		}
		args["evidence"] = said
		out = append(out, args)
	}
	var mine, all []string
	stolen := "" // the longest of the owner's own sentences
	for _, e := range a.entries {
		all = append(all, e.ID)
		if e.Origin == hearken.Microphone {
			mine = append(mine, e.ID)
			if len(e.Text) > len(stolen) {
				stolen = e.Text
			}
		}
	}
	text := ""
	for _, name := range []string{"text", "title", "note"} {
		if s, ok := w.Args[name].(string); ok {
			text = s
		}
	}
	claim(a.sessions[0], mine, stolen)
	claim("", nil, "The owner said: "+text)
	claim("", nil, text)
	claim(a.sessions[0], all, text)
	claim(a.sessions[len(a.sessions)-1], nil, stolen)
	to, _ := w.Args["to"].(string)
	for _, name := range otherNames(to) {
		args := maps.Clone(w.Args)
		args["to"] = name
		out = append(out, args)
	}
	return out
}

// otherNames are further ways to write a recipient.
func otherNames(to string) []string {
	var out []string
	for _, c := range people {
		first, _, _ := strings.Cut(c.Name, " ")
		ways := append([]string{c.Name, first}, append(append([]string{}, c.Emails...), c.Phones...)...)
		for _, way := range ways {
			if to != "" && strings.EqualFold(way, to) {
				return ways
			}
		}
	}
	if strings.Contains(to, "@") {
		out = append(out, strings.ToUpper(to))
	}
	return out
}
