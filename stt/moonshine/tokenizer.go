package moonshine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A vocab holds the pieces that tokens stand for. Three kinds of files are
// read, the first that is there:
//
//   - tokenizer.txt: one piece on each line, in the order of the tokens. In a
//     piece a newline is written as \n and a backslash as \\.
//   - tokenizer.json: as Hugging Face publishes it; model.vocab maps pieces to
//     tokens and added_tokens lists special ones.
//   - tokenizer.bin: as the Moonshine project publishes it; each piece is
//     preceded by its length, in one byte or, from 128 on, in two.
//
// In all of them "▁" is a space and <0xNN> a single byte.
type vocab struct {
	pieces []string // as they appear in a text; empty for special tokens
}

func readVocab(dir string) (*vocab, error) {
	for _, f := range []struct {
		name  string
		parse func([]byte) ([]string, error)
	}{
		{"tokenizer.txt", parseText}, {"tokenizer.json", parseJSON}, {"tokenizer.bin", parseBinaryTokenizer},
	} {
		path := filepath.Join(dir, f.name)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, unreadableError(path, err)
		}
		pieces, err := f.parse(data)
		if err == nil && len(pieces) < 1000 {
			err = fmt.Errorf("it holds only %d tokens", len(pieces))
		}
		if err != nil {
			return nil, damagedError(path, err)
		}
		return newVocab(pieces), nil
	}
	return nil, unreadableError(filepath.Join(dir, "tokenizer.txt"), fs.ErrNotExist)
}

// newVocab prepares pieces for [vocab.text].
func newVocab(pieces []string) *vocab {
	v := &vocab{pieces: make([]string, len(pieces))}
	for i, p := range pieces {
		if b, ok := bytePiece(p); ok {
			v.pieces[i] = string([]byte{b})
		} else if !isSpecial(i, p) {
			v.pieces[i] = strings.ReplaceAll(p, "▁", " ")
		}
	}
	return v
}

// isSpecial reports whether a token controls the model and stands for no text.
func isSpecial(i int, piece string) bool {
	return i <= endToken || strings.HasPrefix(piece, "<<") && strings.HasSuffix(piece, ">>")
}

func bytePiece(p string) (byte, bool) {
	if len(p) != len("<0x00>") || !strings.HasPrefix(p, "<0x") || p[5] != '>' {
		return 0, false
	}
	n, err := strconv.ParseUint(p[3:5], 16, 8)
	return byte(n), err == nil
}

// text joins the pieces of tokens. It leaves out what is not a token of the
// vocabulary, and bytes that make no character.
func (v *vocab) text(tokens []int32) string {
	var b strings.Builder
	for _, t := range tokens {
		if t >= 0 && int(t) < len(v.pieces) {
			b.WriteString(v.pieces[t])
		}
	}
	return strings.TrimPrefix(strings.ToValidUTF8(b.String(), ""), " ")
}

func parseText(data []byte) ([]string, error) {
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i, l := range lines {
		lines[i] = unescape.Replace(l)
	}
	return lines, nil
}

func parseJSON(data []byte) ([]string, error) {
	var file struct {
		Model struct {
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	pieces := make([]string, len(file.Model.Vocab))
	for p, i := range file.Model.Vocab {
		if i < 0 || i >= len(pieces) {
			return nil, fmt.Errorf("token %d of %d", i, len(pieces))
		}
		pieces[i] = p
	}
	return pieces, nil
}

func parseBinaryTokenizer(data []byte) ([]string, error) {
	var pieces []string
	for r := bytes.NewBuffer(data); r.Len() > 0; {
		n, err := r.ReadByte()
		size := int(n)
		if n >= 128 && err == nil {
			n, err = r.ReadByte()
			size += int(n)*128 - 128
		}
		if err != nil || r.Len() < size {
			return nil, fmt.Errorf("it ends in token %d", len(pieces))
		}
		pieces = append(pieces, string(r.Next(size)))
	}
	return pieces, nil
}
