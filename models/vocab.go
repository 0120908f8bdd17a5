package models

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// vocabulary reads the SentencePiece pieces from the tokenizer's JavaScript
// source, which holds them as one base64 string, without running it. The result
// has one piece per line; a line break in a piece is written as \n and a
// backslash as two.
func vocabulary(source []byte) ([]byte, error) {
	_, rest, ok := bytes.Cut(source, []byte(`llama_vocab_base64 = "`))
	if !ok {
		return nil, errors.New("no vocabulary in the tokenizer's source")
	}
	encoded, _, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		return nil, errors.New("the vocabulary in the tokenizer's source has no end")
	}
	pieces, err := base64.StdEncoding.AppendDecode(nil, encoded)
	if err != nil {
		return nil, fmt.Errorf("decode vocabulary: %w", err)
	}
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	var out bytes.Buffer
	for piece := range strings.SplitSeq(string(pieces), "\n") {
		out.WriteString(escape.Replace(piece))
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}
