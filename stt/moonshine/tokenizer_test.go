package moonshine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// pieces is a small vocabulary, filled up to a credible size.
func pieces() []string {
	list := []string{"<unk>", "<s>", "</s>"}
	for b := range 256 {
		list = append(list, fmt.Sprintf("<0x%02X>", b))
	}
	list = append(list, "▁hello", ",", "▁wor", "ld", `\`, "line\nbreak", `\n`, "▁▁", "<<ST_1>>")
	for i := len(list); i < 1200; i++ {
		list = append(list, fmt.Sprintf("▁w%d", i))
	}
	return list
}

func TestVocab_Files(t *testing.T) {
	list := pieces()
	var text, binary strings.Builder
	byPiece := make(map[string]int)
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	for i, p := range list {
		text.WriteString(escape.Replace(p) + "\n")
		binary.WriteByte(byte(len(p)))
		binary.WriteString(p)
		byPiece[p] = i
	}
	long := strings.Repeat("x", 300)
	binary.Write([]byte{300%128 + 128, 300 / 128})
	binary.WriteString(long)
	object, err := json.Marshal(map[string]any{"model": map[string]any{"vocab": byPiece}})
	if err != nil {
		t.Fatal(err)
	}
	want := newVocab(list).pieces
	for name, content := range map[string]string{
		"tokenizer.txt": text.String(), "tokenizer.json": string(object), "tokenizer.bin": binary.String(),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			v, err := readVocab(dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, v.pieces[:len(want)]); diff != "" {
				t.Error(diff)
			}
			if name == "tokenizer.bin" && v.pieces[len(want)] != long {
				t.Error("a long piece was not read")
			}
		})
	}
}

func TestVocab_Text(t *testing.T) {
	v := newVocab(pieces())
	for want, tokens := range map[string][]int32{
		"":                  {},
		"hello, world":      {259, 260, 261, 262},
		"é":                 {3 + 0xc3, 3 + 0xa9},
		"hello":             {1, 259, 3 + 0xff, 2}, // a byte that makes no character
		`\line` + "\nbreak": {263, 264},
		"  hello":           {266, 259},
		"world":             {261, 262, 267, 31999, -4}, // special and unknown tokens
	} {
		if got := v.text(tokens); got != want {
			t.Errorf("%v is %q and not %q", tokens, got, want)
		}
	}
}

func TestVocab_Damaged(t *testing.T) {
	for name, content := range map[string]string{
		"tokenizer.txt": "too\nshort\n", "tokenizer.json": `{"model":{"vocab":{"a":7}}}`, "tokenizer.bin": "\x09cut",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := readVocab(filepath.Dir(path))
			e, ok := errors.AsType[*hearken.Error](err)
			if !ok || !strings.Contains(e.Message, path) || e.Try != "hearken models pull" {
				t.Errorf("error is %v", err)
			}
		})
	}
}
