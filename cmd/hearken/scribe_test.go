package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/pipe"
)

func TestScribeArgs(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"/usr/bin/pscribe", []string{"tail", "-n", "5"}, []string{"scribe", "tail", "-n", "5"}},
		{"pscribe.exe", nil, []string{"scribe"}},
		{"/opt/pscribe/hearken", []string{"tail"}, []string{"tail"}},
		{"pscribe", []string{"serve", "--detached"}, []string{"serve", "--detached"}},
	} {
		if got := scribeArgs(tt.name, tt.args); !slices.Equal(got, tt.want) {
			t.Errorf("%s %v: %v", tt.name, tt.args, got)
		}
	}
}

// The rows are those that the pscribe CLI prints.
func TestPrintEntries(t *testing.T) {
	sure := 0.954
	at := time.Date(2024, 1, 15, 14, 30, 0, 0, time.Local)
	zone := at.Format("-07:00")
	page := hearken.ScribePage{Session: "s1", Entries: []hearken.Segment{
		{Timestamp: at, Origin: "M", Status: "C", Line: 1, Confidence: &sure, StartTime: 1, EndTime: 3.5, Language: "en", Text: "Hello world"},
		{Timestamp: at, Origin: "S", Status: "C", Line: 2, StartTime: 4, EndTime: 7.1, Language: "sv", Text: `Hej, "där"`},
		{Timestamp: at, Origin: "M", Status: "U", Line: 2, Confidence: &sure, StartTime: 8, EndTime: 9, Language: "en", Text: "and"},
		{Timestamp: at, Origin: "M", Status: "N", Line: 3},
	}}
	var out bytes.Buffer
	p := &program{stdout: &out}
	if err := p.printEntries("", page); err != nil {
		t.Fatal(err)
	}
	stamp := "2024-01-15T14:30:00" + zone
	want := stamp + ",M,C,1,0.95,2.5,en,Hello world\n" +
		stamp + `,S,C,2,,3.1,sv,"Hej, \"där\""` + "\n" +
		stamp + ",M,U,2,,0.0,,and\n" +
		stamp + `,M,N,3,,0.0,,""` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	if err := p.printEntries(":", page); err != nil || !strings.HasPrefix(out.String(), "s1:2024-") {
		t.Errorf("with its session: %s, %v", out.String(), err)
	}
}

// A client that counts the rows from a line on knows the next line.
func TestScribeTail_RowsAreLines(t *testing.T) {
	page := func() *hearken.ScribePage {
		return &hearken.ScribePage{Next: 8, Entries: []hearken.Segment{
			{Line: 5, Status: "C", Text: "five"}, {Line: 6, Status: "C", Text: "five", Echo: true, Origin: "M"}, {Line: 7, Status: "N"}, {Line: 7, Status: "U", Text: "ei"},
		}}
	}
	for _, tt := range []struct {
		cmd  scribeTailCmd
		from int
		want []string
	}{
		{scribeTailCmd{Status: "all"}, 5, []string{"C five", "N ", "N "}},
		{scribeTailCmd{Status: "all", Echo: true}, 5, []string{"C five", "C five", "N "}},
		{scribeTailCmd{Status: "speech"}, 5, []string{"C five"}},
		{scribeTailCmd{Status: "unconfirmed"}, 5, []string{"U ei"}},
		{scribeTailCmd{Status: "all"}, 9, nil},
	} {
		p := page()
		p.Entries = slices.DeleteFunc(p.Entries, func(e hearken.Segment) bool { return !hearken.StatusFilter(tt.cmd.Status).Matches(e.Status) })
		tt.cmd.oneRowPerLine(p, tt.from)
		var got []string
		for _, e := range p.Entries {
			got = append(got, string(e.Status)+" "+e.Text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v: %s", tt.cmd, diff)
		}
	}
}

// A fakeScribe is a scribe that remembers its last request.
type fakeScribe struct{ request any }

func (r *fakeScribe) Start(_ context.Context, req hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	r.request = req
	return &hearken.ScribeStatus{Running: true, Session: "x", Length: time.Second, Notes: []string{"n"}, Levels: []float64{0.5}}, nil
}

func (r *fakeScribe) Stop(context.Context) (*hearken.ScribeStatus, error) {
	return nil, hearken.Errorf(hearken.SessionAlreadyStopped, "It is not running.").WithTry("pscribe_start")
}

func (r *fakeScribe) New(ctx context.Context, req hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	return r.Start(ctx, req)
}

func (r *fakeScribe) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	return r.Start(ctx, hearken.CaptureRequest{})
}

func (r *fakeScribe) Sessions(_ context.Context, limit int) ([]hearken.ScribeSession, error) {
	r.request = limit
	return []hearken.ScribeSession{{ID: "x", Entries: -1, Running: true}}, nil
}

func (r *fakeScribe) Tail(_ context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	r.request = req
	return &hearken.ScribePage{Session: "x", Next: 7, Entries: []hearken.Segment{{Line: 6, Text: "six", Words: []hearken.Word{}}}}, nil
}

func (r *fakeScribe) Cat(_ context.Context, req hearken.CatRequest) ([]hearken.ScribePage, error) {
	r.request = req
	return []hearken.ScribePage{{Session: "x"}, {Session: "y"}}, nil
}

func (r *fakeScribe) Grep(_ context.Context, req hearken.GrepRequest) ([]hearken.ScribePage, error) {
	r.request = req
	return nil, nil
}

// Requests reach the hub's scribe unchanged, and so do the results.
func TestRemoteScribe(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	s := &fakeScribe{}
	go func() {
		dec, enc := json.NewDecoder(there), json.NewEncoder(there)
		for {
			var req struct {
				Op     string
				Scribe *scribeCall
			}
			if dec.Decode(&req) != nil {
				return
			}
			var res controlResult
			out, err := handleScribe(t.Context(), nil, s, req.Scribe)
			if err == nil && req.Op == "scribe" {
				res.Result, err = json.Marshal(out)
			}
			if err != nil {
				res.Error = pipe.SendableError(err)
			}
			if enc.Encode(res) != nil {
				return
			}
		}
	}()
	r, ctx := &remoteScribe{here}, t.Context()
	capture := hearken.CaptureRequest{Provider: "deepgram,local", Language: "sv", APIKey: "k"}
	if st, err := r.Start(ctx, capture); err != nil || !st.Running || st.Length != time.Second || len(st.Notes) != 1 || s.request != capture {
		t.Errorf("start: %+v, %v, asked %+v", st, err, s.request)
	}
	if _, err := r.New(ctx, capture); err != nil || s.request != capture {
		t.Errorf("new: %v, asked %+v", err, s.request)
	}
	if _, err := r.Stop(ctx); hearken.CodeOf(err) != hearken.SessionAlreadyStopped || !strings.Contains(err.Error(), "Try: hearken scribe start") {
		t.Errorf("stop: %v", err)
	}
	tail := hearken.TailRequest{Session: "x", N: 3, SinceLine: 5, Filter: hearken.OnlySpeech, Wait: time.Second, Echo: true}
	if page, err := r.Tail(ctx, tail); err != nil || page.Next != 7 || page.Entries[0].Text != "six" || s.request != tail {
		t.Errorf("tail: %+v, %v, asked %+v", page, err, s.request)
	}
	cat := hearken.CatRequest{Sessions: []string{"x", "y"}, Since: time.Unix(1, 0).UTC(), Last: 2, Filter: hearken.OnlyConfirmed}
	if pages, err := r.Cat(ctx, cat); err != nil || len(pages) != 2 {
		t.Errorf("cat: %+v, %v", pages, err)
	} else if diff := cmp.Diff(cat, s.request); diff != "" {
		t.Error(diff)
	}
	grep := hearken.GrepRequest{Pattern: "a|b", IgnoreCase: true, Before: 1, After: 2, Limit: 3}
	if pages, err := r.Grep(ctx, grep); err != nil || pages != nil || s.request != grep {
		t.Errorf("grep: %+v, %v, asked %+v", pages, err, s.request)
	}
	if list, err := r.Sessions(ctx, 9); err != nil || len(list) != 1 || list[0].Entries != -1 || s.request != 9 {
		t.Errorf("sessions: %+v, %v", list, err)
	}
	if m, err := r.meter(ctx); err != nil || !m.Running || m.Levels[0] != 0.5 {
		t.Errorf("meter: %+v, %v", m, err)
	}
	if _, err := callScribe[any](ctx, r, scribeCall{Do: "sing"}); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("an unknown call: %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Status(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled call: %v", err)
	}
}

func TestHubLost(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{context.Canceled, false},
		{fmt.Errorf("ask hub: %w", io.EOF), true},
		{hearken.Errorf(hearken.Busy, "The hub is ending."), true},
		{hearken.Errorf(hearken.SessionAlreadyStopped, "The capture has ended."), false},
	} {
		if got := hubLost(tt.err); got != tt.want {
			t.Errorf("%v: %t", tt.err, got)
		}
	}
}
