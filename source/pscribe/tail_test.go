package pscribe

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// A parrot stands for ParrotScribe, in this process: a log of rows, of two
// sides that speak at the same time.
type parrot struct {
	now      time.Time
	log      []string
	status   []string
	segments []int // of each row
	next     int
	open     map[string]opened // by side

	countSegments bool // +N is a segment, not a line of the log
	filterFirst   bool // lines are counted after filtering
	calls         []string
}

type opened struct {
	line int
	at   time.Time
}

func (p *parrot) write(side, status string, o opened, text string) {
	p.log = append(p.log, fmt.Sprintf("%s,%s,%s,%d,,1,en,%s", o.at.Format(time.RFC3339), side, status, o.line, text))
	p.status = append(p.status, status)
	p.segments = append(p.segments, o.line)
}

// speak begins a segment or refines the open one.
func (p *parrot) speak(side string) {
	o, ok := p.open[side]
	if !ok {
		p.next++
		o = opened{p.next, p.now}
		p.open[side] = o
	}
	p.write(side, "U", o, p.now.Format("15:04:05"))
}

func (p *parrot) settle(side, status string) {
	if o, ok := p.open[side]; ok {
		delete(p.open, side)
		p.write(side, status, o, "line "+strconv.Itoa(o.line))
	}
}

// pass lets time go by. Nothing stays unconfirmed for a minute.
func (p *parrot) pass(d time.Duration) {
	p.now = p.now.Add(d)
	for _, side := range []string{"M", "S"} {
		if o, ok := p.open[side]; ok && p.now.Sub(o.at) > 50*time.Second {
			p.settle(side, "C")
		}
	}
}

// run answers tail.
func (p *parrot) run(_ context.Context, args []string) (output, error) {
	p.calls = append(p.calls, strings.Join(args, " "))
	filter := hearken.AllEntries
	if i := slices.Index(args, "--status"); i > 0 {
		filter = hearken.StatusFilter(args[i+1])
	}
	var rows []int
	for i := range p.log {
		if !p.filterFirst || filter.Matches(hearken.Status(p.status[i])) {
			rows = append(rows, i)
		}
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return output{}, err
	}
	switch {
	case args[2][0] != '+':
		rows = rows[max(len(rows)-n, 0):]
	case p.countSegments:
		rows = slices.DeleteFunc(rows, func(i int) bool { return p.segments[i] < n })
	default:
		rows = rows[min(n-1, len(rows)):]
	}
	var out output
	for _, i := range rows {
		if filter.Matches(hearken.Status(p.status[i])) {
			out.stdout += p.log[i] + "\n"
		}
	}
	return out, nil
}

func (p *parrot) scribe() *Scribe {
	s := New(Config{})
	s.runOnce, s.now = p.run, func() time.Time { return p.now }
	return s
}

// Whoever goes on from Next sees each confirmed entry exactly once and in
// order, and so does whoever goes on from the last line it saw where it sees
// only confirmed ones.
func TestTail_ExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &parrot{
			now: noon, open: map[string]opened{},
			countSegments: rapid.Bool().Draw(t, "count segments"), filterFirst: rapid.Bool().Draw(t, "filter first"),
		}
		byNext := rapid.Bool().Draw(t, "by next")
		req := hearken.TailRequest{
			N:      rapid.IntRange(1, 6).Draw(t, "n"),
			Filter: rapid.SampledFrom([]hearken.StatusFilter{"", hearken.AllEntries, hearken.OnlyConfirmed, hearken.OnlySpeech}).Draw(t, "filter"),
		}
		s := p.scribe()
		var seen []int
		var want []int // what the first look showed, and all from there on
		first := 0
		poll := func() {
			page, err := s.Tail(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Entries) > req.N {
				t.Fatalf("%d entries, not %d", len(page.Entries), req.N)
			}
			for _, e := range page.Entries {
				if e.Status == hearken.Confirmed {
					seen = append(seen, e.Line)
				}
			}
			if page.Next < req.SinceLine {
				t.Fatalf("back from %d to %d", req.SinceLine, page.Next)
			}
			req.SinceLine = page.Next
			if !byNext && req.Filter == hearken.OnlyConfirmed && len(seen) > 0 {
				req.SinceLine = max(seen[len(seen)-1]+1, 1)
			}
			if first == 0 {
				want, first = slices.Clone(seen), req.SinceLine
				for _, o := range p.open {
					if o.line < first {
						t.Fatalf("%d is still open, and %d next", o.line, first)
					}
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"M speaks":     func(*rapid.T) { p.speak("M") },
			"S speaks":     func(*rapid.T) { p.speak("S") },
			"M confirmed":  func(*rapid.T) { p.settle("M", "C") },
			"S confirmed":  func(*rapid.T) { p.settle("S", "C") },
			"S was silent": func(*rapid.T) { p.settle("S", "N") },
			"M gives up":   func(*rapid.T) { delete(p.open, "M") },
			"time passes":  func(t *rapid.T) { p.pass(time.Duration(rapid.IntRange(1, 20).Draw(t, "s")) * time.Second) },
			"poll":         func(*rapid.T) { poll() },
		})
		p.settle("M", "C")
		p.settle("S", "C")
		p.pass(2 * time.Minute)
		for range len(p.log) + 2 {
			poll()
		}
		for i, status := range p.status {
			if status == "C" && p.segments[i] >= first {
				want = append(want, p.segments[i])
			}
		}
		slices.Sort(want)
		if !slices.Equal(want, seen) {
			t.Errorf("confirmed %v, seen %v\n%s\n%s", want, seen, strings.Join(p.log, "\n"), strings.Join(p.calls, "\n"))
		}
	})
}

func row(at time.Time, side, status string, line int, text string) string {
	return fmt.Sprintf("%s,%s,%s,%d,,1,en,%s\n", at.Format(time.RFC3339), side, status, line, text)
}

func TestTail_Pages(t *testing.T) {
	old := noon.Add(-time.Hour)
	two := row(old, "M", "C", 4, "four") + row(old, "S", "C", 5, "five") + row(old, "S", "T", 5, "fem") + row(old, "M", "N", 6, "") + row(old, "M", "U", 7, "sev") + row(old, "M", "U", 7, "seven")
	open := row(noon, "M", "C", 4, "four") + row(noon, "M", "U", 5, "fi") + row(noon, "S", "C", 6, "six")
	tests := map[string]struct {
		stdout string
		req    hearken.TailRequest
		want   string
	}{
		"newest":              {two, hearken.TailRequest{N: 2}, `[M6 M7:seven] "" 7`},
		"all":                 {two, hearken.TailRequest{N: 9}, `[M4:four S5:five S5T:fem M6 M7:seven] "" 7`},
		"oldest of many":      {two, hearken.TailRequest{N: 1, SinceLine: 4}, `[M4:four] "" 5`},
		"a line is not cut":   {two, hearken.TailRequest{N: 2, SinceLine: 4}, `[M4:four] "" 5`},
		"or must be":          {two, hearken.TailRequest{N: 1, SinceLine: 5}, `[S5:five] "" 6`},
		"lines before":        {two, hearken.TailRequest{N: 9, SinceLine: 6}, `[M6 M7:seven] "" 7`},
		"confirmed":           {two, hearken.TailRequest{N: 9, SinceLine: 1, Filter: hearken.OnlyConfirmed}, `[M4:four S5:five] "" 6`},
		"translated":          {two, hearken.TailRequest{N: 9, SinceLine: 1, Filter: hearken.OnlyTranslations}, `[S5T:fem] "" 6`},
		"speech":              {two, hearken.TailRequest{N: 9, SinceLine: 5, Filter: hearken.OnlySpeech}, `[S5:five S5T:fem M7:seven] "" 6`},
		"unconfirmed":         {two, hearken.TailRequest{N: 9, SinceLine: 5, Filter: hearken.OnlyUnconfirmed}, `[M7:seven] "" 5`},
		"newest unconfirmed":  {two, hearken.TailRequest{N: 9, Filter: hearken.OnlyUnconfirmed}, `[M7:seven] "" 7`},
		"nothing new":         {two, hearken.TailRequest{N: 9, SinceLine: 8}, `[] "" 8`},
		"nothing":             {"", hearken.TailRequest{N: 9}, `[] "" 1`},
		"nothing, polling":    {"", hearken.TailRequest{N: 9, SinceLine: 3}, `[] "" 3`},
		"later one waits":     {open, hearken.TailRequest{N: 9}, `[M4:four M5:fi] "" 5`},
		"also when polling":   {open, hearken.TailRequest{N: 9, SinceLine: 5}, `[M5:fi] "" 5`},
		"also unseen":         {open, hearken.TailRequest{N: 9, SinceLine: 4, Filter: hearken.OnlyConfirmed}, `[M4:four] "" 5`},
		"not for those below": {open, hearken.TailRequest{N: 9, SinceLine: 6}, `[S6:six] "" 7`},
		"nor for long":        {strings.ReplaceAll(open, "12:00:00", "11:58:59"), hearken.TailRequest{N: 9, SinceLine: 4}, `[M4:four M5:fi S6:six] "" 7`},
		"words too":           {"Listening...\n" + two + "bye", hearken.TailRequest{N: 1}, `[M7:seven] "Listening...\nbye" 7`},
		"only words":          {"Listening...", hearken.TailRequest{N: 1, SinceLine: 2}, `[] "Listening..." 2`},
		"segment 0":           {row(old, "M", "C", 0, "zero"), hearken.TailRequest{N: 1}, `[M0:zero] "" 1`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := New(Config{})
			s.now = func() time.Time { return noon }
			s.runOnce = func(context.Context, []string) (output, error) { return output{stdout: tt.stdout}, nil }
			page, err := s.Tail(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			var entries []string
			for _, e := range page.Entries {
				entries = append(entries, strings.TrimSuffix(e.ID+":"+e.Text, ":"))
			}
			if got := fmt.Sprintf("%s %q %d", entries, page.Raw, page.Next); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

// A segment that was refined often does not hide the entries before it.
func TestTail_ManyRefinements(t *testing.T) {
	p := &parrot{now: noon, open: map[string]opened{}}
	for range 5 {
		for range 30 {
			p.speak("M")
		}
		p.settle("M", "C")
		p.pass(time.Second)
	}
	p.pass(time.Hour)
	page, err := p.scribe().Tail(t.Context(), hearken.TailRequest{N: 4})
	if err != nil || len(page.Entries) != 4 || page.Entries[0].Line != 2 {
		t.Errorf("%+v, %v", page, err)
	}
	if diff := cmp.Diff([]string{"tail -n 4", "tail -n 16", "tail -n 64", "tail -n 256"}, p.calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A filter does not hide what is still to be confirmed, and what was said long
// ago is asked for only once.
func TestTail_Doubt(t *testing.T) {
	p := &parrot{now: noon, open: map[string]opened{}}
	p.speak("M")
	p.settle("M", "C")
	p.speak("M")
	p.speak("S")
	p.settle("S", "C")
	for _, filter := range []hearken.StatusFilter{hearken.OnlyConfirmed, hearken.OnlySpeech} {
		p.calls = nil
		page, err := p.scribe().Tail(t.Context(), hearken.TailRequest{N: 9, Filter: filter})
		if err != nil || page.Next != 2 || lastFinal(page.Entries) != 1 {
			t.Errorf("%s: %+v, %v", filter, page, err)
		}
		if diff := cmp.Diff([]string{"tail -n 9 --status " + string(filter), "tail -n +2"}, p.calls); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	p.settle("M", "N")
	p.pass(time.Hour)
	page, err := p.scribe().Tail(t.Context(), hearken.TailRequest{N: 9, Filter: hearken.OnlyUnconfirmed})
	if err != nil || len(page.Entries) > 0 {
		t.Errorf("confirmed since: %+v, %v", page, err)
	}
	p.calls = nil
	page, err = p.scribe().Tail(t.Context(), hearken.TailRequest{N: 9, Filter: hearken.OnlyConfirmed})
	if err != nil || page.Next != 4 || len(page.Entries) != 2 || len(p.calls) != 1 {
		t.Errorf("%+v, %v after %q", page, err, p.calls)
	}
}

func TestTail_Wait(t *testing.T) {
	t.Run("until there is news", func(t *testing.T) {
		p := &parrot{now: noon, open: map[string]opened{}}
		s := p.scribe()
		s.poll = time.Nanosecond
		s.runOnce = func(ctx context.Context, args []string) (output, error) {
			out, err := p.run(ctx, args)
			switch p.pass(time.Second); len(p.calls) {
			case 2:
				p.speak("M") // which is not news yet
			case 4:
				p.settle("M", "C")
			}
			return out, err
		}
		page, err := s.Tail(t.Context(), hearken.TailRequest{N: 4, SinceLine: 1, Wait: 45 * time.Second})
		if err != nil || len(page.Entries) != 1 || page.Next != 2 || len(p.calls) != 5 {
			t.Errorf("%+v, %v after %q", page, err, p.calls)
		}
	})
	t.Run("until the time is over", func(t *testing.T) {
		p := &parrot{now: noon, open: map[string]opened{}}
		s := p.scribe()
		s.poll = time.Nanosecond
		s.runOnce = func(ctx context.Context, args []string) (output, error) {
			p.pass(time.Second)
			p.speak("M")
			return p.run(ctx, args)
		}
		page, err := s.Tail(t.Context(), hearken.TailRequest{N: 4, SinceLine: 1, Wait: 3 * time.Second})
		if err != nil || len(page.Entries) != 1 || page.Next != 1 || len(p.calls) != 3 {
			t.Errorf("%+v, %v after %q", page, err, p.calls)
		}
	})
	t.Run("until it is given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := &parrot{now: noon, open: map[string]opened{}}
		s := p.scribe()
		s.poll = time.Hour
		s.runOnce = func(ctx context.Context, args []string) (output, error) {
			cancel()
			return p.run(ctx, args)
		}
		_, err := s.Tail(ctx, hearken.TailRequest{N: 4, Wait: time.Hour})
		if hearken.CodeOf(err) != hearken.Busy {
			t.Error(err)
		}
	})
	t.Run("with the program", func(t *testing.T) {
		news := says("2024-01-15T14:30:00Z,M,C,3,0.9,2,en,news\n")
		c := newCLI(t, map[string]reply{"tail": {Stdout: []byte("2024-01-15T14:30:00Z,M,U,3,,0.0,,ne\n"), Last: &news}})
		page, err := c.scribe().Tail(t.Context(), hearken.TailRequest{N: 4, SinceLine: 3, Wait: time.Minute})
		if err != nil || len(page.Entries) != 1 || page.Entries[0].Text != "news" {
			t.Errorf("%+v, %v", page, err)
		}
		if diff := cmp.Diff([]string{"tail -n +3", "tail -n +3"}, c.calls()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
