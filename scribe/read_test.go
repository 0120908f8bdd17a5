package scribe_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// other makes a session that is no capture.
func (h *fixture) other() string {
	h.Helper()
	after(time.Millisecond)
	s := must[*hearken.Session](h)(h.hub.Start(h.Context(), hearken.StartRequest{Principal: "local"}))
	return s.ID
}

// TestTail_EachEntryOnce holds the polling of the specification: whoever asks
// for the last segment's number plus one sees each confirmed entry exactly
// once and in order, whatever else is shown, however the sides talk over each
// other, however small the pages are and whenever the reader comes.
func TestTail_EachEntryOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pace := rapid.Float64Range(0.7, 4)
		engine := sides{stttest.Every("scripted", pace.Draw(r, "near")), stttest.Every("scripted", pace.Draw(r, "far"))}
		filter := rapid.SampledFrom([]hearken.StatusFilter{hearken.AllEntries, hearken.OnlyConfirmed, hearken.OnlySpeech, ""}).Draw(r, "filter")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 5).Draw(r, "sizes")
		pauses := rapid.SliceOfN(rapid.IntRange(50, 7000), 1, 5).Draw(r, "pauses")
		wait, echo := rapid.Bool().Draw(r, "wait"), rapid.Bool().Draw(r, "echo")
		withFixture(t, engine, func(h *fixture) {
			id := h.start().Session
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				after(15 * time.Second)
				h.scribe.Stop(context.Background())
			}()
			var seen []hearken.Segment
			last := 0
			for i := 0; ; i++ {
				pause := time.Duration(pauses[i%len(pauses)]) * time.Millisecond
				req := hearken.TailRequest{Filter: filter, N: sizes[i%len(sizes)], SinceLine: last + 1, Echo: echo}
				if wait {
					req.Wait = pause
				} else {
					after(pause)
				}
				over := false
				select {
				case <-stopped:
					over = true
				default:
				}
				page := h.tail(req)
				if len(page.Entries) > req.N {
					h.Fatalf("%d entries where %d were asked for", len(page.Entries), req.N)
				}
				for _, seg := range page.Entries {
					if seg.Status == hearken.Confirmed {
						seen = append(seen, seg)
					}
					last = seg.Line // of any row, as the specification says
				}
				if page.Next < last+1 {
					h.Fatalf("next is %d after line %d", page.Next, last)
				}
				if over && len(page.Entries) == 0 {
					break
				}
			}
			all := must[[]hearken.ScribePage](h)(h.scribe.Cat(h.Context(), hearken.CatRequest{Sessions: []string{id}, Filter: hearken.OnlyConfirmed, Echo: echo}))
			if diff := cmp.Diff(texts(all[0].Entries), texts(seen)); diff != "" {
				h.Fatalf("what the reader saw:\n%s", diff)
			}
			if echo && len(seen) < 6 {
				h.Fatalf("only %d entries", len(seen))
			}
		})
	})
}

// A call that asks for news waits for it, and no longer.
func TestTail_Waits(t *testing.T) {
	engine := stttest.NewScripted("scripted", []stttest.Line{{Start: 10, End: 12, Text: "at last somebody speaks"}})
	withFixture(t, engine, func(h *fixture) {
		h.start()
		began := time.Now()
		if page := h.tail(hearken.TailRequest{Wait: 3 * time.Second}); len(page.Entries) != 0 || page.Next != 1 {
			h.Errorf("in silence: %+v", page)
		}
		if took := time.Since(began); took != 3*time.Second {
			h.Errorf("waited %v", took)
		}
		page := h.tail(hearken.TailRequest{SinceLine: 1, Wait: 45 * time.Second})
		if len(page.Entries) == 0 || page.Entries[0].Status != hearken.Unconfirmed || page.Entries[0].Line != 0 || page.Next != 1 {
			h.Errorf("the first words: %+v", page)
		}
		page = h.tail(hearken.TailRequest{SinceLine: 1, Wait: 45 * time.Second, Filter: hearken.OnlyConfirmed})
		// Both channels hold the same words. The microphone's are an echo, which
		// is left out and may have been the first to be confirmed.
		if first := page.Entries; len(first) != 1 && len(first) != 2 || first[0].Text != "at last somebody speaks" || first[0].Line > 2 || page.Next <= first[0].Line {
			h.Errorf("confirmed: %+v", page)
		}
		if took := time.Since(began); took > 13*time.Second {
			h.Errorf("the words came after %v", took)
		}
	})
}

// Whoever waits when the hub ends is sent away, and does not ask again and
// again. On this test's clock that would take for ever.
func TestTail_HubEnds(t *testing.T) {
	withFixture(t, stttest.NewScripted("scripted", nil), func(h *fixture) {
		h.start()
		go h.scribe.Tail(context.Background(), hearken.TailRequest{SinceLine: 1, Wait: time.Hour, Filter: hearken.OnlyConfirmed})
		after(time.Second)
	})
}

// keep makes a stopped capture with these entries.
func keep(store hearken.Store, n int, entries ...hearken.Segment) string {
	start := time.Date(2026, 11, n, 9, 0, 0, 0, time.UTC)
	s := &hearken.Session{
		ID: fmt.Sprintf("019a0000-0000-7000-8000-%012x", n), Status: hearken.Stopped, StartedAt: start, SegmentCount: len(entries),
		Config: hearken.SessionConfig{Capture: true},
	}
	for i := range entries {
		e := &entries[i]
		e.Line, e.Timestamp = i+1, start.Add(time.Duration(i)*time.Second)
		if e.Origin == "" {
			e.Origin = hearken.Microphone
		}
		if e.Status == "" {
			e.Status = hearken.Confirmed
		}
	}
	if err := store.Save(context.Background(), s, entries); err != nil {
		panic(err)
	}
	return s.ID
}

func said(texts ...string) []hearken.Segment {
	var out []hearken.Segment
	for _, text := range texts {
		out = append(out, hearken.Segment{Text: text})
	}
	return out
}

func lines(entries []hearken.Segment) []int {
	out := []int{}
	for i := range entries {
		out = append(out, entries[i].Line)
	}
	return out
}

func TestTail_Stored(t *testing.T) {
	h := newStored(t)
	var entries []hearken.Segment
	for i := range 1000 {
		e := hearken.Segment{Text: fmt.Sprintf("entry %d", i+1)}
		switch {
		case i%10 == 3:
			e.Status, e.Text = hearken.NoSpeech, ""
		case i%10 == 5:
			e.Echo = true
		case i == 7:
			e.Status = hearken.Translated
		}
		entries = append(entries, e)
	}
	id := keep(h.store, 3, entries...)
	for _, tt := range []struct {
		name string
		req  hearken.TailRequest
		want []int
		next int
	}{
		{"Newest", hearken.TailRequest{N: 3}, []int{998, 999, 1000}, 1001},
		{"Default", hearken.TailRequest{}, []int{990, 991, 992, 993, 994, 995, 997, 998, 999, 1000}, 1001},
		{"Echo", hearken.TailRequest{N: 6, Echo: true, Filter: hearken.OnlySpeech}, []int{995, 996, 997, 998, 999, 1000}, 1001},
		{"Speech", hearken.TailRequest{N: 6, Filter: hearken.OnlySpeech}, []int{993, 995, 997, 998, 999, 1000}, 1001},
		{"FarBack", hearken.TailRequest{N: 5, Filter: hearken.OnlyTranslations}, []int{8}, 1001},
		{"None", hearken.TailRequest{N: 5, Filter: hearken.OnlyUnconfirmed}, []int{}, 1001},
		{"Since", hearken.TailRequest{N: 3, SinceLine: 4, Filter: hearken.OnlyConfirmed}, []int{5, 7, 9}, 10},
		{"SinceNearTheEnd", hearken.TailRequest{N: 10, SinceLine: 999}, []int{999, 1000}, 1001},
		{"SinceTheEnd", hearken.TailRequest{N: 10, SinceLine: 1001}, []int{}, 1001},
		{"SinceBeyondTheEnd", hearken.TailRequest{N: 2, SinceLine: 1500, Wait: time.Minute}, []int{1, 2}, 3},
		{"BySession", hearken.TailRequest{N: 1, Session: strings.ToUpper(id)}, []int{1000}, 1001},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page, err := h.Tail(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(page.Entries)); diff != "" || page.Next != tt.next || page.Session != id {
				t.Errorf("next %d, session %s\n%s", page.Next, page.Session, diff)
			}
		})
	}
	for _, bad := range []string{"../x", "a/b", "--help", strings.Repeat("a", 500), "019a0000-0000-7000-8000-00000000ffff"} {
		if _, err := h.Tail(t.Context(), hearken.TailRequest{Session: bad}); hearken.CodeOf(err) != hearken.SessionNotFound {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	all, err := h.Tail(t.Context(), hearken.TailRequest{N: 5000, Echo: true})
	if err != nil || len(all.Entries) != 1000 || !slices.IsSortedFunc(all.Entries, func(a, b hearken.Segment) int { return a.Line - b.Line }) {
		t.Errorf("all of them: %d, %v", len(all.Entries), err)
	}
}

func TestCat(t *testing.T) {
	h := newStored(t)
	first := keep(h.store, 1, said("one", "two")...)
	second := keep(h.store, 2, append(said("three"), hearken.Segment{Status: hearken.NoSpeech}, hearken.Segment{Text: "three", Echo: true})...)
	third := keep(h.store, 3)
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name string
		req  hearken.CatRequest
		want map[string][]string
	}{
		{"Last", hearken.CatRequest{}, map[string][]string{third: {}}},
		{"LastTwo", hearken.CatRequest{Last: 2}, map[string][]string{second: {"C three", "N "}, third: {}}},
		{"Confirmed", hearken.CatRequest{Last: 2, Filter: hearken.OnlyConfirmed}, map[string][]string{second: {"C three"}, third: {}}},
		{"WithEcho", hearken.CatRequest{Sessions: []string{second}, Filter: hearken.OnlySpeech, Echo: true}, map[string][]string{second: {"C three", "C three"}}},
		{"Named", hearken.CatRequest{Sessions: []string{second, first}, Filter: hearken.OnlyConfirmed}, map[string][]string{first: {"C one", "C two"}, second: {"C three"}}},
		{"Between", hearken.CatRequest{Since: day(1), Until: day(2)}, map[string][]string{first: {"C one", "C two"}}},
		{"NobodyThen", hearken.CatRequest{Since: day(9)}, map[string][]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pages, err := h.Cat(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			var order []string
			for _, p := range pages {
				got[p.Session] = texts(p.Entries)
				order = append(order, p.Session)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if !slices.IsSorted(order) {
				t.Errorf("the oldest is not first: %v", order)
			}
		})
	}
	if _, err := h.Cat(t.Context(), hearken.CatRequest{Since: day(3), Until: day(2)}); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("since after until: %v", err)
	}
}

func TestGrep(t *testing.T) {
	h := newStored(t)
	first := keep(h.store, 1, said("zero", "The Budget is late", "two", "three", "the budget again", "five")...)
	second := keep(h.store, 2, append(said("nothing", "a budget of 4.2 million"), hearken.Segment{Text: "a budget", Echo: true}, hearken.Segment{Text: "[budget]", Origin: hearken.EventOrigin})...)
	type hits map[string][]string
	for _, tt := range []struct {
		name string
		req  hearken.GrepRequest
		want hits
	}{
		{"Word", hearken.GrepRequest{Pattern: "budget"}, hits{first: {"C the budget again"}, second: {"C a budget of 4.2 million"}}},
		{"AnyCase", hearken.GrepRequest{Pattern: "budget is|AGAIN$", IgnoreCase: true}, hits{first: {"C The Budget is late", "C the budget again"}}},
		{"Around", hearken.GrepRequest{Pattern: "Budget", Before: 1, After: 2}, hits{first: {"C zero", "C The Budget is late", "C two", "C three"}}},
		{"AroundOverlaps", hearken.GrepRequest{Pattern: "(?i)the budget", Before: 2, After: 2}, hits{first: {"C zero", "C The Budget is late", "C two", "C three", "C the budget again", "C five"}}},
		{"Limit", hearken.GrepRequest{Pattern: "(?i)budget", Limit: 2}, hits{first: {"C The Budget is late"}, second: {"C a budget of 4.2 million"}}},
		{"Until", hearken.GrepRequest{Pattern: "budget", Until: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)}, hits{first: {"C the budget again"}}},
		{"AFlag", hearken.GrepRequest{Pattern: "--help"}, hits{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pages, err := h.Grep(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			got := hits{}
			for _, p := range pages {
				got[p.Session] = texts(p.Entries)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, bad := range []string{"", "(", "a{1000000}"} {
		if _, err := h.Grep(t.Context(), hearken.GrepRequest{Pattern: bad}); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
