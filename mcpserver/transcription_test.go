package mcpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
)

func TestGetTranscription_Pages(t *testing.T) {
	h := newTestHub(t, local)
	var texts []string
	for i := range 120 {
		texts = append(texts, fmt.Sprintf("segment %d <b>&\"quoted\"</b> 会議", i+1))
	}
	id := h.storeSession(1, texts...)

	p := call[page](h, "get_transcription", object{"sessionId": id})
	if len(p.Segments) != 50 || p.TotalSegments != 120 || p.NextSegment != 50 || !p.More || p.Status != "stopped" {
		t.Fatalf("first page: %d segments, %+v", len(p.Segments), p)
	}
	first := p.Segments[0]
	if first.Text != texts[0] || first.Words == nil || len(first.Words) != 0 || *first.Confidence != 0.988 || first.StartTime != 2 {
		t.Errorf("first segment: %+v", first)
	}
	if p := call[page](h, "get_transcription", object{"sessionId": id, "fromSegment": -3, "includeWords": true}); len(p.Segments) != 3 || p.Segments[2].Line != 120 || p.More || len(p.Segments[0].Words) == 0 {
		t.Errorf("the newest three: %+v", p)
	}
	if p := call[page](h, "get_transcription", object{"sessionId": id, "fromSegment": 5000}); len(p.Segments) != 0 || p.TotalSegments != 120 || p.More || p.NextSegment != 120 {
		t.Errorf("beyond the end: %+v", p)
	}
	if p := call[page](h, "get_transcription", object{"sessionId": id, "cursor": p.Cursor, "fromSegment": 3, "limit": 1}); p.Segments[0].Line != 51 {
		t.Errorf("the cursor does not win: %+v", p)
	}
	lost := strings.TrimSuffix(p.Cursor, ".50") + ".700"
	if p := call[page](h, "get_transcription", object{"sessionId": id, "cursor": lost, "limit": 10}); !p.Resync || len(p.Segments) != 10 || p.Segments[9].Line != 120 {
		t.Errorf("a cursor beyond the end: %+v", p)
	}
}

// However long the segments are, a page stays small and nothing is left out.
func TestGetTranscription_BoundedPages(t *testing.T) {
	h := newTestHub(t, local)
	var texts []string
	for i := range 60 {
		texts = append(texts, strings.Repeat("漢字 word \"x\" ", 12*(i%7)+1))
	}
	id := h.storeSession(1, texts...)
	for _, words := range []bool{false, true} {
		var got []string
		for args := (object{"sessionId": id, "limit": 500, "includeWords": words}); ; {
			res, _, err := h.try("get_transcription", args)
			if err != nil {
				t.Fatal(err)
			}
			text := res.Content[0].(*mcp.TextContent).Text
			p := call[page](h, "get_transcription", args)
			if n := mcpserver.Tokens(text); n > 8200 && len(p.Segments) > 1 {
				t.Errorf("a page of %d segments costs about %d tokens", len(p.Segments), n)
			}
			for _, seg := range p.Segments {
				got = append(got, seg.Text)
			}
			// Fewer than asked for come only with a word about it.
			if p.Truncated != p.More {
				t.Errorf("after %d segments: truncated %v, more %v", len(got), p.Truncated, p.More)
			}
			if !p.More {
				break
			}
			if p.NextSegment != len(got) {
				t.Fatalf("the page after %d segments begins at %d", len(got), p.NextSegment)
			}
			args["fromSegment"] = p.NextSegment
		}
		if diff := cmp.Diff(texts, got); diff != "" {
			t.Errorf("words %v: %s", words, diff)
		}
	}
}

func TestGetTranscription_Interim(t *testing.T) {
	h := newTestHub(t, local)
	id := call[started](h, "start_transcription", object{}).SessionID
	in := h.speak(id, 0)
	// Somebody goes on speaking until the reader comes in the middle of a line.
	var p page
	for range 600 {
		h.write(in, 0.1)
		if p = call[page](h, "get_transcription", object{"sessionId": id, "includeInterim": true, "fromSegment": -1}); len(p.Interim) > 0 {
			break
		}
	}
	if len(p.Interim) != 1 {
		t.Fatalf("nothing interim in a minute of speech: %+v", p)
	}
	if seg := p.Interim[0]; seg.Status != hearken.Unconfirmed || seg.IsFinal || !strings.HasPrefix(seg.Text, "line") || seg.Line != p.TotalSegments+1 {
		t.Errorf("interim: %+v", p)
	}
	if p := call[page](h, "get_transcription", object{"sessionId": id}); len(p.Interim) != 0 {
		t.Errorf("interim without being asked for: %+v", p)
	}
}

// A client that goes away while it waits leaves nothing behind.
func TestGetTranscription_Cancelled(t *testing.T) {
	h := newTestHub(t, local)
	id := call[started](h, "start_transcription", object{}).SessionID
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := h.client.CallTool(ctx, &mcp.CallToolParams{Name: "get_transcription", Arguments: object{"sessionId": id, "waitSeconds": 20}})
		done <- err
	}()
	cancel()
	if err := <-done; err == nil {
		t.Error("the cancelled call succeeded")
	}
}
