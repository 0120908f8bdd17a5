package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
)

// A talk is a session whose words occur nowhere else.
type talk struct {
	session *hearken.Session
	mark    string // begins each of its words
	lines   int
	words   []string
}

func newTalk(n int) *talk {
	mark := "q" + strings.Map(func(r rune) rune { return r - '0' + 'k' }, fmt.Sprintf("%03d", n))
	return &talk{mark: mark, session: &hearken.Session{
		ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), Status: hearken.Active,
		StartedAt: time.Unix(1_800_000_000+int64(n), 0),
	}}
}

// say makes n more entries of about ten words each, which differ in length.
func (k *talk) say(n int) []hearken.Segment {
	var all []hearken.Segment
	for range n {
		k.lines++
		var text []string
		var words []hearken.Word
		for i := range 6 + k.lines%9 {
			// The mark is at both ends, because an index may keep only one.
			word := fmt.Sprintf("%sx%dz%s%s", k.mark, k.lines*20+i, strings.Repeat("w", (k.lines*7+i)%23), k.mark)
			text, words = append(text, word), append(words, hearken.Word{Word: word, StartTime: float64(i)})
			k.words = append(k.words, word)
		}
		all = append(all, hearken.Segment{
			ID: fmt.Sprint(k.mark, k.lines), Line: k.lines, Origin: hearken.Microphone, Status: hearken.Confirmed,
			Text: strings.Join(text, " "), Words: words, Original: strings.Join(text, "  "),
			StartTime: float64(k.lines), EndTime: float64(k.lines) + 0.5,
			Timestamp: k.session.StartedAt.Add(time.Duration(k.lines) * 3 * time.Second),
		})
	}
	k.session.SegmentCount = k.lines
	return all
}

// bytesOf is the content of all files of the store.
func bytesOf(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var all []byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.ToLower(data)...)
	}
	return all
}

// traces counts how often a text occurs in the files of the store.
func traces(t *testing.T, dir, text string) int {
	t.Helper()
	return bytes.Count(bytesOf(t, dir), []byte(text))
}

// wantIntact has SQLite check every page and the full-text index, because
// deleting writes pages past SQLite.
func wantIntact(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var says string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&says); err != nil || says != "ok" {
		t.Fatalf("integrity: %s, %v", says, err)
	}
	if _, err := db.Exec(`INSERT INTO spoken (spoken) VALUES ('integrity-check')`); err != nil {
		t.Fatalf("integrity of the index: %v", err)
	}
}

func saveTalk(t *testing.T, s *sqlite.Store, k *talk, segments []hearken.Segment) {
	t.Helper()
	if err := s.Save(t.Context(), k.session, segments); err != nil {
		t.Fatal(err)
	}
}

// Sessions are written in turns, changed, and deleted in another order. No byte
// of their words, titles, notes and vocabulary remains.
func TestStore_Delete_LeavesNoByte(t *testing.T) {
	for _, rounds := range []int{1, 5, 25} {
		t.Run(fmt.Sprint(rounds), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, filepath.Join(dir, "hearken.db"))
			var talks []*talk
			for n := range 12 {
				talks = append(talks, newTalk(n))
			}
			for round := range rounds {
				for n, k := range talks {
					k.session.Title = fmt.Sprintf("%s title %d", k.mark, round)
					k.session.Config.Vocabulary = append(k.session.Config.Vocabulary, k.mark+"vocabulary")
					saveTalk(t, s, k, k.say(1+(round+n)%4))
				}
			}
			for i, k := range talks {
				for _, text := range []string{k.mark + " note", strings.Repeat(k.mark+" long ", 1000*(i%3)), k.mark} {
					if err := s.SaveNote(t.Context(), &hearken.Note{Session: k.session.ID, Text: text}); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i, n := range []int{3, 0, 11, 5, 6, 7, 1, 2, 10, 4, 9, 8} {
				k := talks[n]
				if traces(t, dir, k.mark) == 0 {
					t.Fatalf("the scan does not find %s", k.mark)
				}
				if err := s.Delete(t.Context(), k.session.ID); err != nil {
					t.Fatal(err)
				}
				if left := traces(t, dir, k.mark); left > 0 {
					t.Fatalf("%d traces of session %d, the %d. to be deleted", left, n, i+1)
				}
				wantIntact(t, filepath.Join(dir, "hearken.db"))
			}
		})
	}
}

// No byte remains of forgotten lines, and the lines before them stay.
func TestStore_Forget_LeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "hearken.db"))
	keep, other := newTalk(1), newTalk(2)
	for range 20 {
		saveTalk(t, s, other, other.say(3))
		saveTalk(t, s, keep, keep.say(3))
	}
	for line := 55; line > 0; line -= 9 {
		if err := s.Forget(t.Context(), keep.session.ID, float64(line)-0.4, 1000); err != nil {
			t.Fatal(err)
		}
		all := bytesOf(t, dir)
		for n := 20; n/20 <= keep.lines; n++ {
			word := fmt.Sprintf("%sx%dz", keep.mark, n)
			if !slices.ContainsFunc(keep.words, func(w string) bool { return strings.HasPrefix(w, word) }) {
				continue
			}
			if left := bytes.Count(all, []byte(word)); (left > 0) != (n/20 < line) {
				t.Fatalf("after forgetting from line %d there are %d traces of %s", line, left, word)
			}
		}
	}
}
