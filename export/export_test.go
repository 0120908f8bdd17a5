package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/toon"
	"github.com/hearken-dev/hearken/toon/toontest"
)

var update = flag.Bool("update", false, "write the golden files")

var started = time.Date(2026, 3, 4, 15, 30, 0, 0, time.FixedZone("", 3600))

// conversation is a session in which both sides speak, sometimes at once, with
// every case that needs care.
func conversation() (*hearken.Session, *hearken.Note, []hearken.Segment) {
	confidence := 0.93
	stop := started.Add(70 * time.Second)
	s := &hearken.Session{
		ID: "11111111-2222-3333-4444-555555555555", Title: "Budget *talk* & more", Status: hearken.Stopped, StopReason: hearken.StopRequested,
		Language: "en", Provider: "local", StartedAt: started, StoppedAt: &stop, Duration: 70, SegmentCount: 8,
		Config: hearken.SessionConfig{Encoding: "linear16", SampleRate: 16000, Channels: 2},
	}
	note := &hearken.Note{Session: s.ID, Text: "**Decided:** nothing.\n", SavedAt: stop}
	var segments []hearken.Segment
	add := func(origin hearken.Origin, status hearken.Status, from, to float64, text string, words ...hearken.Word) {
		segments = append(segments, hearken.Segment{
			ID: fmt.Sprintf("s%d", len(segments)+1), Line: len(segments) + 1, Origin: origin, Status: status, Text: text, Words: words,
			StartTime: from, EndTime: to, Confidence: &confidence, Language: "en", IsFinal: true, Durable: true,
			Timestamp: started.Add(time.Duration(from * float64(time.Second))),
		})
	}
	add("M", "C", 0.5, 2.25, "Hello, is <this> working --> yes?")
	add("S", "N", 2.5, 5, "")
	long := "I think that we should look at the numbers again before anybody signs anything, because last year it went wrong. It went wrong badly."
	var words []hearken.Word
	for i, w := range strings.Fields(long) {
		at := 6 + 0.4*float64(i)
		if i >= 20 {
			at += 2.5 // a pause
		}
		words = append(words, hearken.Word{Word: w, StartTime: at, EndTime: at + 0.35})
	}
	add("S", "C", 6, 18, long, words...)
	add("M", "C", 6.1, 6.6, "Right.")
	add("E", "C", 20, 23.5, "gap: 3.5 s of sound were lost")
	add("M", "C", 30, 31, "# 1. *Not* a heading & not_a list")
	add("S", "C", 29.2, 36, "言葉の間に空白がない言語でも字幕は読みやすい長さで改行されなければならない。そうでなければ誰も読まない。")
	add("S", "C", 40, 40.1, "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft")
	return s, note, segments
}

func TestWrite_Golden(t *testing.T) {
	s, note, segments := conversation()
	for _, format := range Formats {
		t.Run(format, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, format, s, note, List(segments)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "conversation."+format)
			if *update {
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrite_JSON(t *testing.T) {
	s, note, segments := conversation()
	var b bytes.Buffer
	if err := Write(&b, "json", s, note, List(segments)); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Session  hearken.Session
		Note     hearken.Note
		Segments []hearken.Segment
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for i := range segments {
		if segments[i].Words == nil {
			segments[i].Words = []hearken.Word{}
		}
	}
	if diff := cmp.Diff(segments, got.Segments); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(*s, got.Session); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWrite_TOON(t *testing.T) {
	s, note, segments := conversation()
	var b bytes.Buffer
	if err := Write(&b, "toon", s, note, List(segments)); err != nil {
		t.Fatal(err)
	}
	o, err := toontest.Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if rows := o.Get("transcript").(toon.Table).Rows; len(rows) != len(segments) {
		t.Errorf("%d rows", len(rows))
	}
}

func TestWrite_Empty(t *testing.T) {
	for format, want := range map[string]string{"txt": "", "srt": "", "vtt": "WEBVTT\n\n"} {
		var b bytes.Buffer
		if err := Write(&b, format, &hearken.Session{}, nil, List(nil)); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s: %q", format, &b)
		}
	}
}

func TestWrite_OneSideHasNoLabel(t *testing.T) {
	speaker := 1
	segments := []hearken.Segment{
		{Origin: "M", Status: "C", Text: "Alone.", EndTime: 1},
		{Origin: "S", Status: "U", Text: "Not yet said.", EndTime: 1},
		{Origin: "M", Status: "T", Text: "Allein.", EndTime: 1},
		{Origin: "M", Status: "C", Text: "Not quite.", StartTime: 2, EndTime: 3, Speaker: &speaker},
	}
	var b bytes.Buffer
	if err := Write(&b, "txt", &hearken.Session{}, nil, List(segments)); err != nil {
		t.Fatal(err)
	}
	if want := "Alone.\n→ Allein.\nSpeaker 2: Not quite.\n"; b.String() != want {
		t.Errorf("%q", &b)
	}
	b.Reset()
	if err := Write(&b, "srt", &hearken.Session{}, nil, List(segments)); err != nil {
		t.Fatal(err)
	}
	cues, err := parse("srt", b.String())
	if err != nil || len(cues) != 2 || cues[0].lines[0] != "Alone." || cues[1].lines[0] != "Speaker 2: Not quite." {
		t.Errorf("%v %v", cues, err)
	}
}

// Words keep the time in which they were said, whoever talks meanwhile.
func TestWrite_OverlappingCues(t *testing.T) {
	segments := []hearken.Segment{ // as they were confirmed
		{Origin: "S", Status: "C", Text: "Wait a moment.", StartTime: 2, EndTime: 4},
		{Origin: "M", Status: "C", Text: "We meet on Friday at nine.", StartTime: 1, EndTime: 6},
	}
	for _, format := range []string{"srt", "vtt"} {
		var b bytes.Buffer
		if err := Write(&b, format, &hearken.Session{}, nil, List(segments)); err != nil {
			t.Fatal(err)
		}
		got, err := parse(format, b.String())
		if err != nil {
			t.Fatal(err)
		}
		want := []subtitle{{1000, 6000, []string{"M: We meet on Friday at nine."}}, {2000, 4000, []string{"S: Wait a moment."}}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(subtitle{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// What was transcribed late is still read where it was said.
func TestWrite_SpokenOrder(t *testing.T) {
	segments := []hearken.Segment{ // as they were confirmed
		{Origin: "S", Status: "C", Text: "Wait.", StartTime: 2, EndTime: 3},
		{Origin: "M", Status: "C", Text: "We meet on Friday.", StartTime: 1, EndTime: 6},
		{Origin: "E", Status: "C", Text: "gap", StartTime: 10, EndTime: 20},
		{Origin: "M", Status: "C", Text: "Adeus.", StartTime: 3600, EndTime: 3601},
		{Origin: "M", Status: "T", Text: "Goodbye.", StartTime: 3600, EndTime: 3601},
		{Origin: "M", Status: "C", Text: "Late.", StartTime: 11, EndTime: 12},
	}
	for format, want := range map[string]string{
		"txt": "M: We meet on Friday.\nS: Wait.\n[gap]\nM: Late.\nM: Adeus.\nM: → Goodbye.\n",
		"md": "\n**00:00:01** M: We meet on Friday.\n\n**00:00:02** S: Wait.\n\n**00:00:10** *\\[gap\\]*\n\n**00:00:11** M: Late.\n" +
			"\n**01:00:00** M: Adeus.\n\n**01:00:00** M: → Goodbye.\n",
	} {
		var b bytes.Buffer
		if err := Write(&b, format, &hearken.Session{}, nil, List(segments)); err != nil {
			t.Fatal(err)
		}
		_, got, found := strings.Cut(b.String(), "## Transcript\n")
		if !found {
			got = b.String()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

func TestWrite_UnknownFormat(t *testing.T) {
	err := Write(&bytes.Buffer{}, "docx", &hearken.Session{}, nil, List(nil))
	if hearken.CodeOf(err) != hearken.Invalid {
		t.Fatalf("%v", err)
	}
	for _, f := range Formats {
		if !strings.Contains(err.Error(), f) {
			t.Errorf("%q does not name %s", err, f)
		}
	}
}

func TestWrite_Errors(t *testing.T) {
	s, note, segments := conversation()
	gone := errors.New("the store is gone")
	failing := Batches(func(yield func([]hearken.Segment) error) error {
		if err := yield(segments[:1]); err != nil {
			return err
		}
		return gone
	})
	for _, format := range Formats {
		if err := Write(&bytes.Buffer{}, format, s, note, failing); !errors.Is(err, gone) {
			t.Errorf("%s: reading: %v", format, err)
		}
		if err := Write(full{}, format, s, note, List(segments)); !errors.Is(err, errFull) {
			t.Errorf("%s: writing: %v", format, err)
		}
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// subtitle is a cue as a player sees it.
type subtitle struct {
	start, end int64
	lines      []string
}

var timing = regexp.MustCompile(`^(\d{2,}):([0-5]\d):([0-5]\d)([.,])(\d{3}) --> (\d{2,}):([0-5]\d):([0-5]\d)([.,])(\d{3})$`)

// parse reads subtitles as strictly as the most pedantic player.
func parse(format, text string) ([]subtitle, error) {
	point := ","
	if format == "vtt" {
		rest, ok := strings.CutPrefix(text, "WEBVTT\n\n")
		if !ok {
			return nil, errors.New("no header")
		}
		text, point = rest, "."
	}
	var cues []subtitle
	for block := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		if block == "" && text == "" {
			break
		}
		lines := strings.Split(block, "\n")
		if format == "srt" {
			if lines[0] != strconv.Itoa(len(cues)+1) {
				return nil, fmt.Errorf("cue %d is numbered %q", len(cues)+1, lines[0])
			}
			lines = lines[1:]
		}
		if len(lines) < 2 {
			return nil, fmt.Errorf("a cue without text: %q", block)
		}
		m := timing.FindStringSubmatch(lines[0])
		if m == nil || m[4] != point || m[9] != point {
			return nil, fmt.Errorf("timing %q", lines[0])
		}
		at := func(i int) int64 {
			n := [4]int64{}
			for k, s := range []string{m[i], m[i+1], m[i+2], m[i+4]} {
				n[k], _ = strconv.ParseInt(s, 10, 64)
			}
			return ((n[0]*60+n[1])*60+n[2])*1000 + n[3]
		}
		c := subtitle{start: at(1), end: at(6), lines: lines[1:]}
		for i, line := range c.lines {
			if strings.TrimSpace(line) != line || line == "" || strings.Contains(line, "-->") {
				return nil, fmt.Errorf("line %q", line)
			}
			if format == "vtt" {
				if strings.ContainsAny(line, "<>") {
					return nil, fmt.Errorf("line %q is not escaped", line)
				}
				c.lines[i] = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(line)
			}
		}
		cues = append(cues, c)
	}
	return cues, nil
}

func TestWrite_Subtitles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.StringMatching(`[a-zäß<&>-]{1,12}[.,?!]?`), rapid.StringMatching(`[a-z]{30,90}`), rapid.StringMatching(`[ぁ-ん一-亀。、]{1,40}`), rapid.Just("-->"))
		var segments []hearken.Segment
		at := 0.0
		said := map[string]int{}
		for range rapid.IntRange(0, 12).Draw(t, "segments") {
			at += rapid.Float64Range(-3, 10).Draw(t, "silence")
			seg := hearken.Segment{StartTime: max(0, at), Status: hearken.Confirmed, Origin: rapid.SampledFrom([]hearken.Origin{"M", "S"}).Draw(t, "side")}
			list := rapid.SliceOfN(word, 1, 60).Draw(t, "words")
			seg.Text = strings.Join(list, " ")
			end := seg.StartTime
			for _, w := range list {
				end += rapid.Float64Range(0.05, 1.5).Draw(t, "word")
				seg.Words = append(seg.Words, hearken.Word{Word: w, StartTime: end - 0.04, EndTime: end})
			}
			seg.EndTime = end
			if rapid.Bool().Draw(t, "wordless") {
				seg.Words = nil
			}
			for _, r := range strings.ReplaceAll(strings.ReplaceAll(seg.Text, "-->", "→"), " ", "") {
				said[string(r)]++
			}
			segments = append(segments, seg)
			at = end
		}
		for _, format := range []string{"srt", "vtt"} {
			var b bytes.Buffer
			if err := Write(&b, format, &hearken.Session{Config: hearken.SessionConfig{Channels: 1}}, nil, List(segments)); err != nil {
				t.Fatal(err)
			}
			cues, err := parse(format, b.String())
			if err != nil {
				t.Fatalf("%v in\n%s", err, &b)
			}
			shown := map[string]int{}
			last := int64(0)
			for _, c := range cues {
				if c.start < last || c.end < c.start+shortest {
					t.Fatalf("from %d to %d after %d in\n%s", c.start, c.end, last, &b)
				}
				last = c.start
				if len(c.lines) > cueLines {
					t.Fatalf("%d lines in\n%s", len(c.lines), &b)
				}
				for _, line := range c.lines {
					if textWidth(line) > lineWidth {
						t.Fatalf("line %q is %d wide", line, textWidth(line))
					}
					for _, r := range strings.ReplaceAll(strings.ReplaceAll(line, "-->", "→"), " ", "") {
						shown[string(r)]++
					}
				}
			}
			if diff := cmp.Diff(said, shown); diff != "" {
				t.Fatalf("%s: words were lost (-said +shown):\n%s\n%s", format, diff, &b)
			}
		}
	})
}
