package upgrade

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamage changes copies of the fixtures, which the checks above must
// notice: one that nothing fails proves nothing.
func TestDamage(t *testing.T) {
	for name, tt := range map[string]struct {
		files  string // below the data directory
		damage func(data []byte) []byte
		says   string
	}{
		"ChangedByte": {"audit/*.jsonl", func(data []byte) []byte {
			data[len(data)/2] ^= 1
			return data
		}, "Line "},
		"LineRemoved": {"audit/*.jsonl", func(data []byte) []byte {
			lines := bytes.SplitAfter(data, []byte("\n"))
			return bytes.Join(append(lines[:5:5], lines[6:]...), nil)
		}, "Line 6 "},
		// Only the copy of the checkpoint beside the keys tells.
		"EndRemoved": {"audit/*", func(data []byte) []byte {
			if bytes.HasPrefix(data, []byte("hearken audit")) {
				return nil
			}
			lines := bytes.SplitAfter(data, []byte("\n"))
			return bytes.Join(lines[:10], nil)
		}, "the end was cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openCopy(t, newest(t, "jsonfile"), []string{"STORAGE_BACKEND=json"})
			files, err := filepath.Glob(filepath.Join(d.data, tt.files))
			if err != nil || len(files) == 0 {
				t.Fatalf("nothing to damage: %v", err)
			}
			for _, file := range files {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if len(data) == 0 {
					continue // the lock
				}
				if err := os.WriteFile(file, tt.damage(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := d.RunCommand(t.Context(), "audit", "verify")
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("verify says %q, %v", out, err)
			}
		})
	}
}

// TestDamage_Transcript removes one segment.
func TestDamage_Transcript(t *testing.T) {
	t.Parallel()
	d := openCopy(t, newest(t, "jsonfile"), []string{"STORAGE_BACKEND=json"})
	file := filepath.Join(d.data, "hearken.json.d", "sessions", d.expected.Exported, "segments.jsonl")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	if err := os.WriteFile(file, rest, 0o600); err != nil {
		t.Fatal(err)
	}
	d.start(t)
	facts, err := Read(t.Context(), &d.Program, d.expected.Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Missing(d.expected.Facts.Sessions, facts.Sessions)
	if err != nil || len(list) != 1 || !strings.Contains(list[0], ".segments has 4 entries; it had 5") {
		t.Errorf("%q, %v", list, err)
	}
}

// newest is the last fixture of a kind of store.
func newest(t *testing.T, store string) Fixture {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", "*", store))
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no fixture: %v", err)
	}
	return Fixture(found[len(found)-1])
}
