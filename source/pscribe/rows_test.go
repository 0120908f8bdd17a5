package pscribe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

// short is an entry as tests compare it.
func short(e hearken.Segment) string {
	confidence := ""
	if e.Confidence != nil {
		confidence = fmt.Sprint(*e.Confidence)
	}
	return fmt.Sprintf("%s %s %s %s %g %s|%s", e.ID, e.Status, e.Timestamp.UTC().Format("15:04:05"), confidence, e.EndTime-e.StartTime, e.Language, e.Text)
}

func TestReadLine(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"plain":             {`2024-01-15T14:30:00+01:00,M,C,1,0.95,2.5,en,Hello world`, `M1 C 13:30:00 0.95 2.5 en|Hello world`},
		"indented, CR":      {"  2024-01-15T14:30:00Z,S,C,2,0.92,3.1,sv,Hej där\r", `S2 C 14:30:00 0.92 3.1 sv|Hej där`},
		"TOON":              {`  "2024-01-15T14:30:00Z",S,T,2,null,3,null,"a, \"b\": \\ \u00e4"`, `S2T T 14:30:00  3 |a, "b": \ ä`},
		"unquoted commas":   {`2024-01-15T14:30:00Z,M,C,3,1,0,en,well, yes, no`, `M3 C 14:30:00 1 0 en|well, yes, no`},
		"quoted as in CSV":  {`2024-01-15T14:30:00Z,M,C,3,1,0,en,"he said ""hi"", and C:\dir"`, `M3 C 14:30:00 1 0 en|he said "hi", and C:\dir`},
		"starts with quote": {`2024-01-15T14:30:00Z,M,C,3,1,0,en,"Yes", he said, "no"`, `M3 C 14:30:00 1 0 en|"Yes", he said, "no"`},
		"quote without end": {`2024-01-15T14:30:00Z,M,C,3,1,0,en,"Yes`, `M3 C 14:30:00 1 0 en|"Yes`},
		"unconfirmed":       {`2024-01-15T14:30:00Z,M,U,4,,0.0,,hel`, `M4 U 14:30:00  0 |hel`},
		"no speech":         {`2024-01-15T14:30:00Z,M,N,5,,4.0,,`, `M5 N 14:30:00  4 |`},
		"event":             {`2024-01-15T14:30:00Z,E,C,6,,,,device changed`, `E6 C 14:30:00  0 |device changed`},
		"fractions":         {`2024-01-15T14:30:00.123456+0100,M,C,7,0.5,1,pt-BR,oi`, `M7 C 13:30:00 0.5 1 pt-BR|oi`},
		"spaces":            {`2024-01-15 14:30:00Z, M, C, 8, 0.5, 1, en, a b `, `M8 C 14:30:00 0.5 1 en|a b`},
		"grep":              {`2F1C0B5E-0000-4000-8000-000000000001:2024-01-15T14:30:00Z,M,C,1,0.9,2,en,x: y`, `2F1C0B5E-0000-4000-8000-000000000001> M1 C 14:30:00 0.9 2 en|x: y`},
		"grep, around":      {`session-7-2024-01-15T14:30:00Z,M,C,1,0.9,2,en,x`, `session-7> M1 C 14:30:00 0.9 2 en|x`},
		"grep, time as id":  {`2024-01-15T14:00:00Z:2024-01-15T14:30:00Z,M,C,1,0.9,2,en,x`, `2024-01-15T14:00:00Z> M1 C 14:30:00 0.9 2 en|x`},
		"grep, quoted":      {`abc: "2024-01-15T14:30:00Z",M,C,1,0.9,2,en,x`, `abc> M1 C 14:30:00 0.9 2 en|x`},
		"spec's header":     {`transcript{timestamp,source,status,segment,confidence,duration,language,text}:`, "header"},
		"TOON's header":     {`transcript[12]{timestamp,source,status,segment,confidence,duration,language,text}:`, "header"},
		"bare header":       {`timestamp,source,status,segment,confidence,duration,language,text`, "header"},
		"empty table":       {`transcript: []`, "header"},
		"separator":         {`--`, "separator"},
		"other header":      {`transcript[1]{timestamp,text}:`, "raw"},
		"bad length":        {`transcript[x]{timestamp,source,status,segment,confidence,duration,language,text}:`, "raw"},
		"words":             {`Waiting for speech...`, "raw"},
		"seven columns":     {`2024-01-15T14:30:00Z,M,C,1,0.9,2,en`, "raw"},
		"no time":           {`2024-01-15T25:30:00Z,M,C,1,0.9,2,en,x`, "raw"},
		"unknown source":    {`2024-01-15T14:30:00Z,X,C,1,0.9,2,en,x`, "raw"},
		"unknown status":    {`2024-01-15T14:30:00Z,M,X,1,0.9,2,en,x`, "raw"},
		"no number":         {`2024-01-15T14:30:00Z,M,C,one,0.9,2,en,x`, "raw"},
		"negative":          {`2024-01-15T14:30:00Z,M,C,-1,0.9,2,en,x`, "raw"},
		"huge number":       {`2024-01-15T14:30:00Z,M,C,99999999999999999999,0.9,2,en,x`, "raw"},
		"confidence NaN":    {`2024-01-15T14:30:00Z,M,C,1,NaN,2,en,x`, "raw"},
		"confidence 95":     {`2024-01-15T14:30:00Z,M,C,1,95,2,en,x`, "raw"},
		"duration -1":       {`2024-01-15T14:30:00Z,M,C,1,0.9,-1,en,x`, "raw"},
		"language":          {`2024-01-15T14:30:00Z,M,C,1,0.9,2,no language,x`, "raw"},
		"prefix is a path":  {`a/b:2024-01-15T14:30:00Z,M,C,1,0.9,2,en,x`, "raw"},
		"session head":      {`=== Session 2024-0115 ===`, "2024-0115> raw"},
		"UUID head":         {`# 2F1C0B5E-0000-4000-8000-000000000001`, "2F1C0B5E-0000-4000-8000-000000000001> raw"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := readLine(tt.line)
			got := map[kind]string{isRaw: "raw", isHeader: "header", isSeparator: "separator", isEntry: short(r.entry)}[r.kind]
			if r.session != "" {
				got = r.session + "> " + got
			}
			if got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
			if r.kind == isRaw && r.raw != tt.line {
				t.Errorf("passed on as %q", r.raw)
			}
			if r.kind == isEntry && r.entry.IsFinal != (r.entry.Status != hearken.Unconfirmed) {
				t.Error("final or not?")
			}
		})
	}
}

func TestPages(t *testing.T) {
	row := func(at string, status hearken.Status, line int, text string) string {
		return fmt.Sprintf("2024-01-15T%sZ,M,%s,%d,,1,en,%s", at, status, line, text)
	}
	tests := map[string]struct {
		lines []string
		want  []string // session / entries / raw / next
	}{
		"nothing": {nil, nil},
		"one": {
			[]string{row("14:00:00", "C", 1, "a"), "", "what?", row("14:00:05", "C", 2, "b")},
			[]string{`"" [M1 a, M2 b] "what?" 3`},
		},
		"refined": {
			[]string{row("14:00:00", "U", 1, "a"), row("14:00:00", "U", 1, "a b"), row("14:00:00", "C", 1, "a b."), row("14:00:00", "T", 1, "x"), row("14:00:04", "U", 2, "c"), row("14:00:05", "U", 2, "c d"), row("14:00:05", "U", 1, "late")},
			[]string{`"" [M1 a b., M1T x, M2 c d] "" 2`},
		},
		"numbers begin again": {
			[]string{row("14:00:00", "C", 1, "a"), row("14:00:05", "C", 2, "b"), row("15:00:00", "C", 1, "c"), row("15:00:05", "C", 2, "d")},
			[]string{`"" [M1 a, M2 b] "" 3`, `"" [M1 c, M2 d] "" 3`},
		},
		"soon, and the first is missing": {
			[]string{row("14:00:00", "C", 2, "a"), row("14:00:05", "C", 3, "b"), row("14:00:15", "C", 1, "c"), row("14:00:20", "C", 2, "d")},
			[]string{`"" [M2 a, M3 b] "" 4`, `"" [M1 c, M2 d] "" 3`},
		},
		"newest first": {
			[]string{row("15:00:00", "C", 1, "c"), row("15:00:05", "C", 2, "d"), row("14:00:00", "C", 1, "a")},
			[]string{`"" [M1 c, M2 d] "" 3`, `"" [M1 a] "" 2`},
		},
		"one entry each": {
			[]string{row("14:00:00", "C", 1, "a"), row("14:00:30", "C", 1, "b")},
			[]string{`"" [M1 a] "" 2`, `"" [M1 b] "" 2`},
		},
		"confirmed out of order": {
			[]string{row("14:00:00", "C", 1, "a"), row("14:00:09", "C", 3, "c"), row("14:00:05", "C", 2, "b")},
			[]string{`"" [M1 a, M2 b, M3 c] "" 4`},
		},
		"printed twice": {
			[]string{row("14:00:00", "C", 1, "a"), row("14:00:00", "C", 1, "a")},
			[]string{`"" [M1 a] "" 2`},
		},
		"heads": {
			[]string{"transcript{" + columns + "}:", row("14:00:00", "C", 1, "a"), "transcript[1]{" + columns + "}:", row("14:00:05", "C", 2, "b")},
			[]string{`"" [M1 a] "" 2`, `"" [M2 b] "" 3`},
		},
		"named": {
			[]string{"Session: abc1", "transcript{" + columns + "}:", row("14:00:00", "C", 1, "a"), "Session: abc2", row("14:00:05", "C", 2, "b")},
			[]string{`"abc1" [M1 a] "Session: abc1" 2`, `"abc2" [M2 b] "Session: abc2" 3`},
		},
		"grep": {
			[]string{"abc1:" + row("14:00:00", "C", 1, "a"), "abc1-" + row("14:00:05", "C", 2, "b"), "--", "abc1:" + row("14:00:50", "C", 9, "c"), "abc2:" + row("15:00:05", "C", 20, "d")},
			[]string{`"abc1" [M1 a, M2 b, M9 c] "" 10`, `"abc2" [M20 d] "" 21`},
		},
		"only words": {[]string{"a", "b"}, []string{`"" [] "a\nb" 1`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range pages(readLines(strings.Join(tt.lines, "\n"))) {
				var entries []string
				for _, e := range p.Entries {
					entries = append(entries, e.ID+" "+e.Text)
				}
				got = append(got, fmt.Sprintf("%q [%s] %q %d", p.Session, strings.Join(entries, ", "), p.Raw, p.Next))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzRead holds that nothing that is printed gets lost: each line is an
// entry, structure, or passed on as it is; and that an entry that is written
// again is the same.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "--\n\r\n", "2024-01-15T14:30:00+01:00,M,C,1,0.95,2.5,en,Hello world\nabc:2024-01-15T14:30:00Z,S,U,2,,0.0,,\"Hej, där\"\nno\n",
		"transcript[1]{" + columns + "}:\n  \"2024-01-15T14:30:00Z\",M,N,0,null,1,null,\"\\u0001\"\nSession abc1\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, raw, entries := 0, 0, 0
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) == "" {
				continue
			}
			lines++
			line = strings.TrimRight(line, "\r\n")
			switch r := readLine(line); r.kind {
			case isRaw:
				raw++
				if r.raw != line {
					t.Errorf("%q is passed on as %q", line, r.raw)
				}
			case isEntry:
				entries++
				checkEntry(t, line, r.entry)
			default:
				lines--
				if bare := strings.TrimSpace(line); bare != "--" && bare != columns && !strings.HasPrefix(bare, "transcript") {
					t.Errorf("%q is taken for structure", line)
				}
			}
		}
		if raw+entries != lines {
			t.Errorf("%d lines, %d entries, %d passed on", lines, entries, raw)
		}
		var paged int
		for _, p := range pages(readLines(text)) {
			if p.Raw != "" {
				paged += strings.Count(p.Raw, "\n") + 1
			}
			if p.Next < 1 {
				t.Errorf("go on from %d", p.Next)
			}
		}
		if paged != raw {
			t.Errorf("%d lines passed on, %d in pages", raw, paged)
		}
		readStatus(text)
		readStarted(text)
		readList(text)
	})
}

func checkEntry(t *testing.T, line string, e hearken.Segment) {
	t.Helper()
	if e.Line < 0 || e.EndTime < e.StartTime || e.Timestamp.IsZero() || e.ID == "" {
		t.Errorf("%q is read as %+v", line, e)
	}
	confidence := ""
	if e.Confidence != nil {
		confidence = fmt.Sprint(*e.Confidence)
	}
	text, err := json.Marshal(e.Text)
	if err != nil {
		t.Fatal(err)
	}
	again := fmt.Sprintf(`%s,%s,%s,%d,%s,%g,%s,%s`, e.Timestamp.Format(time.RFC3339Nano), e.Origin, e.Status, e.Line, confidence, e.EndTime, e.Language, text)
	if !utf8.ValidString(e.Text) {
		return // it is made valid before it gets here
	}
	got := readLine(again)
	if got.kind != isEntry || short(got.entry) != short(e) {
		t.Errorf("%q is not the same again: %s, not %s", again, short(got.entry), short(e))
	}
}
