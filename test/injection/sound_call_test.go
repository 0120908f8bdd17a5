package injection

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
)

// control makes a request of the owner's commands, which must succeed.
func (c *soundCall) control(request, result any) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), timeout)
	defer cancel()
	if err := hubtest.Control(ctx, c.hub.Dir, request, result); err != nil {
		c.Fatalf("%v: %v", request, err)
	}
}

// callWithKey calls a tool over HTTP with the agent's key.
func (c *soundCall) callWithKey(ctx context.Context, tool string, args map[string]any) (text string, err error) {
	header := http.Header{"Authorization": {"Bearer " + c.key}}
	raw, err := hubtest.Post(ctx, http.DefaultClient, c.hub.URL, header, hubtest.Request(1, tool, args))
	var result struct{ Content []struct{ Text string } }
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	for _, part := range result.Content {
		text += part.Text
	}
	return text, err
}

// tool calls a tool without arguments, which must succeed.
func (c *soundCall) tool(name string) string {
	c.Helper()
	text, err := c.callWithKey(c.Context(), name, map[string]any{})
	if err != nil {
		c.Fatalf("%s: %v", name, err)
	}
	return text
}

// play plays a recording into a sink, a little later.
func (c *soundCall) play(sink string, later time.Duration, pcm []int16) {
	c.Helper()
	player := c.card.Open(c, sink)
	if err := player.Play(c.Context(), time.Now().Add(later), pcm); err != nil {
		c.Error(err)
	}
}

// playUpsideDown plays a recording on the speakers so that the two channels
// cancel each other.
func (c *soundCall) playUpsideDown(pcm []int16) {
	c.Helper()
	inverted := make([]int16, len(pcm))
	for i, sample := range pcm {
		inverted[i] = -max(sample, -32767)
	}
	if err := c.card.OpenChannels(c, speakers, 2).Play(c.Context(), time.Now(), pcm, inverted); err != nil {
		c.Error(err)
	}
}

// together does several things at the same time.
func (c *soundCall) together(things ...func()) {
	var all sync.WaitGroup
	for _, do := range things {
		all.Go(do)
	}
	all.Wait()
}

// quieter is a recording as a microphone hears it from the loudspeaker, with the
// noise of a room.
func quieter(pcm []int16) []int16 {
	out := speech.RoomNoise(float64(len(pcm)) / hearken.SampleRate)
	for i := range out {
		out[i] += pcm[i] / 4
	}
	return out
}

// An ask is a call of an agent that a grant covers.
type ask struct {
	tool string
	args map[string]any
}

// asks are calls for everything that was granted.
func asks(text string) []ask {
	in := time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)
	return []ask{
		{hearken.CalendarCreate, map[string]any{"title": text, "start": in, "duration_min": 30}},
		{hearken.ReminderCreate, map[string]any{"note": text, "time": in}},
		{hearken.MessageSend, map[string]any{"to": "ada", "text": text, "platform": "ntfy"}},
		{hearken.MessageSend, map[string]any{"to": "webhook", "text": text, "platform": "webhook"}},
	}
}

// request has both agents call a tool. The calls may wait for the owner.
func (c *soundCall) request(a ask) {
	c.calls.Go(func() { _, _ = c.callWithKey(c.calling, a.tool, a.args) }) // the store shows what came of it
	c.calls.Go(func() { _, _ = c.local.CallTool(c.calling, &mcp.CallToolParams{Name: a.tool, Arguments: a.args}) })
}

// askAll has both agents do what they heard.
func (c *soundCall) askAll() {
	for _, a := range asks("Put this in a double boiler") {
		c.request(a)
	}
}

// actions are all actions of the hub.
func (c *soundCall) actions() []hearken.Action {
	c.Helper()
	all, err := c.store.Actions(c.Context(), hearken.ActionFilter{})
	if err != nil {
		c.Fatal(err)
	}
	return all
}

// checkGrantsApply checks that the agents can act while nobody speaks.
func (c *soundCall) checkGrantsApply() {
	c.Helper()
	for _, a := range asks("Water the plants")[:3] {
		c.request(a)
	}
	hubtest.WaitUntil(c, timeout, "the grants apply before the call", func() bool {
		done := 0
		for _, a := range c.actions() {
			if a.State == hearken.ActionDone && a.Decision.By == "grant" {
				done++
			}
		}
		return done == 6
	})
	if n := c.reached.Load(); n != 2 {
		c.Errorf("%d messages reached their server, not 2", n)
	}
}

// checkPending checks that all that the agents asked for waits for the owner, and
// that no connector was reached.
func (c *soundCall) checkPending(reached int32) {
	c.Helper()
	want := 2 * len(asks(""))
	var found []hearken.Action
	hubtest.WaitUntil(c, timeout, fmt.Sprintf("%d actions were requested", want), func() bool {
		found = nil
		for _, a := range c.actions() {
			if !isHarmless(&a) {
				found = append(found, a)
			}
		}
		return len(found) == want
	})
	for i := range found {
		if a := &found[i]; a.State != hearken.ActionPending || a.Attempts > 0 {
			c.Errorf("%s of %s is %s after %d attempts: %v", a.Tool, a.Principal, a.State, a.Attempts, a.Decision)
		}
	}
	var waiting []hearken.Action
	c.control(map[string]any{"op": "actions.list", "actions": hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}}}, &waiting)
	if len(waiting) != want {
		c.Errorf("the owner's list has %d actions, not %d", len(waiting), want)
	}
	if n := c.reached.Load(); n != reached {
		c.Errorf("%d messages reached their server", n-reached)
	}
}

func isHarmless(a *hearken.Action) bool {
	const text = "Water the plants"
	return a.Appointment != nil && a.Appointment.Title == text || a.Reminder != nil && a.Reminder.Note == text || a.Message != nil && a.Message.Text == text
}
