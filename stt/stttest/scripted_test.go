package stttest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var script = []stttest.Line{{1, 2, "one two"}, {3, 4, "three four"}, {6, 7, "five"}}

// play writes sound from..to seconds in frames of 100 ms, closes the stream
// if asked to, and returns its finals.
func play(t *testing.T, s hearken.Stream, from, to float64, closing bool) (finals []hearken.Segment, failed error) {
	t.Helper()
	const chunk = hearken.SampleRate / 10
	for pos := int64(from * hearken.SampleRate); pos < int64(to*hearken.SampleRate); pos += chunk {
		if err := s.Write(hearken.Frame{Pos: pos, PCM: make([]int16, chunk)}); err != nil {
			break
		}
	}
	if closing {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Final:
			finals = append(finals, e.Segment)
		case hearken.Failed:
			failed = e.Err
		}
	}
	return finals, failed
}

func texts(segments []hearken.Segment) (out []string) {
	for _, s := range segments {
		out = append(out, s.Text)
	}
	return out
}

func open(t *testing.T, p hearken.Provider, start float64) hearken.Stream {
	t.Helper()
	s, err := p.Open(t.Context(), hearken.StreamConfig{Start: int64(start * hearken.SampleRate), Interim: true, Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScripted(t *testing.T) {
	for _, tt := range []struct {
		name            string
		start, from, to float64
		want            []string
	}{
		{"Whole", 0, 0, 8, []string{"one two", "three four", "five"}},
		{"CloseFlushesWhatBegan", 0, 0, 3.5, []string{"one two", "three four"}},
		{"NothingBegan", 0, 0, 0.5, nil},
		{"FromTheMiddle", 2, 2, 8, []string{"three four", "five"}},
		{"LineThatBeganEarlierIsNotSaid", 1.5, 1.5, 5, []string{"three four"}},
		{"GapIsNotHeard", 0, 4.5, 8, []string{"five"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := stttest.NewScripted("script", script)
			got, err := play(t, open(t, p, tt.start), tt.from, tt.to, true)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, texts(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScripted_Fails(t *testing.T) {
	p := stttest.NewScripted("script", script)
	boom := errors.New("boom")
	p.FailAt(3.5, 1, boom)
	got, err := play(t, open(t, p, 0), 0, 8, false)
	if !errors.Is(err, boom) {
		t.Errorf("failed with %v", err)
	}
	if diff := cmp.Diff([]string{"one two"}, texts(got)); diff != "" {
		t.Error(diff)
	}
	got, err = play(t, open(t, p, 2), 2, 8, true)
	if err != nil {
		t.Errorf("second stream: %v", err)
	}
	if diff := cmp.Diff([]string{"three four", "five"}, texts(got)); diff != "" {
		t.Error(diff)
	}
	p.FailOpen(1, boom)
	if _, err := p.Open(t.Context(), hearken.StreamConfig{}); !errors.Is(err, boom) {
		t.Errorf("open: %v", err)
	}
}

func TestScripted_Stalls(t *testing.T) {
	p := stttest.NewScripted("script", script)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := p.Open(ctx, hearken.StreamConfig{})
	if err != nil {
		t.Fatal(err)
	}
	p.Stall()
	written := make(chan error)
	go func() { written <- s.Write(hearken.Frame{PCM: make([]int16, 160)}) }()
	p.Resume()
	if err := <-written; err != nil {
		t.Error(err)
	}
	p.Stall()
	go func() { written <- s.Write(hearken.Frame{Pos: 160, PCM: make([]int16, 160)}) }()
	cancel()
	if err := <-written; !errors.Is(err, context.Canceled) {
		t.Errorf("write after cancel: %v", err)
	}
	for range s.Events() {
	}
}

func TestEvery(t *testing.T) {
	p := stttest.Every("endless", 2)
	got, err := play(t, open(t, p, 34), 34, 37, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"word 17 at 34.0", "word 18 at 36.0"}, texts(got)); diff != "" {
		t.Error(diff)
	}
}

func TestNull(t *testing.T) {
	s := open(t, stttest.Null{}, 5)
	for i := range int64(30) {
		if err := s.Write(hearken.Frame{Pos: 80000 + i*1600, PCM: make([]int16, 1600)}); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	var through int64
	for e := range s.Events() {
		if e.Kind != hearken.Progress {
			t.Errorf("kind %d", e.Kind)
		}
		through = e.FinalUntil
	}
	if want := int64(80000 + 48000); through != want {
		t.Errorf("through %d, want %d", through, want)
	}
}
