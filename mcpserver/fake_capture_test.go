package mcpserver_test

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
	"github.com/hearken-dev/hearken/toon"
	"github.com/hearken-dev/hearken/toon/toontest"
)

// A twoSidedEngine follows another script on each channel.
type twoSidedEngine struct{ near, far *stttest.Scripted }

func (p twoSidedEngine) Name() string { return p.near.Name() }

func (p twoSidedEngine) Capabilities() hearken.Capabilities { return p.near.Capabilities() }

func (p twoSidedEngine) Check(ctx context.Context, cfg hearken.StreamConfig) error {
	return p.near.Check(ctx, cfg)
}

func (p twoSidedEngine) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if cfg.Origin == hearken.System {
		return p.far.Open(ctx, cfg)
	}
	return p.near.Open(ctx, cfg)
}

// A fakeCapture delivers as much silence as a test asks for, on both channels.
type fakeCapture struct {
	broken error // why it cannot be captured
	frames chan struct{}
	passed chan error
}

func newFakeCapture() *fakeCapture {
	return &fakeCapture{frames: make(chan struct{}), passed: make(chan error)}
}

func (s *fakeCapture) open(context.Context) (hearken.Capture, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	return s, nil
}

func (s *fakeCapture) Run(ctx context.Context, deliver func(channels ...[]int16) error) error {
	frame := make([]int16, hearken.SampleRate/10)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.frames:
			err := deliver(frame, frame)
			s.passed <- err
			if err != nil {
				return err
			}
		}
	}
}

func (s *fakeCapture) Notes() []string   { return []string{"Microphone: a test."} }
func (s *fakeCapture) Levels() []float64 { return []float64{0, 0} }

// advance delivers so many seconds of audio.
func (s *fakeCapture) advance(t *testing.T, seconds float64) {
	t.Helper()
	for range int(seconds*10 + 0.5) {
		select {
		case s.frames <- struct{}{}:
		case <-t.Context().Done():
			t.Error("nobody captures the audio")
			return
		}
		if err := <-s.passed; err != nil {
			t.Errorf("audio refused: %v", err)
			return
		}
	}
}

// callTOON calls a tool that returns TOON and must succeed.
func (h *testHub) callTOON(tool string, args object) toon.Object {
	h.t.Helper()
	return h.callTOONOn(h.client, tool, args)
}

func (h *testHub) callTOONOn(client *mcp.ClientSession, tool string, args object) toon.Object {
	h.t.Helper()
	res, err := client.CallTool(h.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		h.t.Fatalf("%s: %v", tool, err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError || res.StructuredContent != nil || len(res.Content) != 1 {
		h.t.Fatalf("%s %v: %+v %s", tool, args, res, text)
	}
	o, err := toontest.Decode([]byte(text))
	if err != nil {
		h.t.Fatalf("%s: %v in\n%s", tool, err, text)
	}
	return o
}

// rows are the transcript of an answer, each row by its columns.
func rows(t *testing.T, o toon.Object) []map[string]any {
	t.Helper()
	table, ok := o.Get("transcript").(toon.Table)
	if !ok {
		return nil
	}
	var out []map[string]any
	for _, row := range table.Rows {
		m := map[string]any{}
		for i, c := range table.Columns {
			m[c] = row[i]
		}
		out = append(out, m)
	}
	return out
}
