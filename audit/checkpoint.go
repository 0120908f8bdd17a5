package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// origin is the first line of every checkpoint.
const origin = "hearken audit"

// A checkpoint is a signed statement about the audit: how many records there
// were, what the root of their tree was, and where the last of them ended. As a
// note it has the form of a transparency log's checkpoint, with more lines:
//
//	hearken audit
//	1200
//	nND/nri/U0xuHUrYSy0HtMeal2vzD9V4k/BO79C+QeI=
//	at 2026-11-15T10:00:00.000000Z
//	file 2026-11.jsonl 397201
//	line <the hash of the last record>
//	prev <the hash of the checkpoint before>
//	tree <the roots of the whole subtrees>
//	chain <the hash of the first record>
//
// Since each names the one before, a missing one is noticed, and the signature
// of the newest vouches for all. The last line tells the checkpoints of several
// audits apart; those of version 0.1 do not have it.
type checkpoint struct {
	state
	at   time.Time
	file string
	end  int64 // the offset in file at which the last record ends
	prev string
}

func (c *checkpoint) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%d\n%s\nat %s\nfile %s %d\nline %s\nprev %s\ntree", origin, c.n, c.root(),
		c.at.UTC().Format(timeForm), c.file, c.end, hex.EncodeToString(c.last[:]), c.prev)
	for _, h := range c.tree {
		b.WriteString(" " + h.String())
	}
	b.WriteByte('\n')
	if c.chain != "" {
		b.WriteString("chain " + c.chain + "\n")
	}
	return b.String()
}

// sign returns the checkpoint as a signed note.
func (c *checkpoint) sign(s note.Signer) ([]byte, error) {
	return note.Sign(&note.Note{Text: c.text()}, s)
}

var (
	errForm = errors.New("is not a checkpoint")
	errKey  = errors.New("is not signed by this key")
)

// readCheckpoint checks the signature of a note and parses it. It accepts only
// what sign produces, bit for bit.
func readCheckpoint(data []byte, v note.Verifier) (*checkpoint, error) {
	n, err := note.Open(data, note.VerifierList(v))
	if err != nil {
		if _, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
			return nil, errKey
		}
		if _, ok := errors.AsType[*note.InvalidSignatureError](err); ok {
			return nil, errKey
		}
		return nil, errForm
	}
	// Several spellings in base64 mean the same bytes.
	raw, err := base64.StdEncoding.Strict().DecodeString(n.Sigs[0].Base64)
	if err != nil || len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 0 || base64.StdEncoding.EncodeToString(raw) != n.Sigs[0].Base64 {
		return nil, errForm
	}
	return parseCheckpoint(n.Text)
}

// parseCheckpoint parses the text of a note, without its signature.
func parseCheckpoint(text string) (*checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 9 || len(lines) > 10 || lines[0] != origin {
		return nil, errForm
	}
	c := &checkpoint{}
	var err, fault error
	fail := func(err error) { fault = errors.Join(fault, err) }
	c.n, err = strconv.ParseInt(lines[1], 10, 64)
	fail(err)
	field := func(i int, name string) string {
		value, ok := strings.CutPrefix(lines[i], name)
		if !ok {
			fail(errForm)
		}
		return strings.TrimPrefix(value, " ")
	}
	c.at, err = time.Parse(timeForm, field(3, "at"))
	fail(err)
	name, end, _ := strings.Cut(field(4, "file"), " ")
	_, err = time.Parse(monthForm, name)
	fail(err)
	c.file = name
	c.end, err = strconv.ParseInt(end, 10, 64)
	fail(err)
	last, err := hex.DecodeString(field(5, "line"))
	fail(err)
	copy(c.last[:], last)
	c.prev = field(6, "prev")
	for word := range strings.FieldsSeq(field(7, "tree")) {
		h, err := tlog.ParseHash(word)
		fail(err)
		c.tree = append(c.tree, h)
	}
	if len(lines) == 10 {
		c.chain = field(8, "chain")
	}
	if fault != nil || c.n < 1 || len(c.tree) != bits.OnesCount64(uint64(c.n)) {
		return nil, errForm
	}
	if c.text() != text {
		return nil, errForm
	}
	return c, nil
}

// skimCheckpoint parses only what ties a checkpoint to the records and to the
// checkpoint before. There are as many checkpoints as decisions, and a later
// signature vouches for the rest.
func skimCheckpoint(text []byte) (*checkpoint, error) {
	var lines [7][]byte
	for i := range lines {
		lines[i], text, _ = bytes.Cut(text, []byte("\n"))
	}
	n, err := strconv.ParseInt(string(lines[1]), 10, 64)
	at, ok := bytes.CutPrefix(lines[3], []byte("at "))
	where, ok2 := bytes.CutPrefix(lines[4], []byte("file "))
	last, ok3 := bytes.CutPrefix(lines[5], []byte("line "))
	prev, ok4 := bytes.CutPrefix(lines[6], []byte("prev "))
	if err != nil || !ok || !ok2 || !ok3 || !ok4 || n < 1 || string(lines[0]) != origin || len(last) != 2*sha256.Size {
		return nil, errForm
	}
	file, end, _ := bytes.Cut(where, []byte(" "))
	c := &checkpoint{state: state{n: n}, file: string(file), prev: string(prev)}
	if c.end, err = strconv.ParseInt(string(end), 10, 64); err != nil {
		return nil, errForm
	}
	if c.at, err = time.Parse(timeForm, string(at)); err != nil {
		return nil, errForm
	}
	if _, err := hex.Decode(c.last[:], last); err != nil {
		return nil, errForm
	}
	return c, nil
}

// cutNote splits off the first note of data: everything up to the line with its
// signature. In the file an empty line follows each note.
func cutNote(data []byte) (n, rest []byte, ok bool) {
	i := bytes.Index(data, []byte("\n\n"))
	if i < 0 {
		return nil, data, false
	}
	j := bytes.IndexByte(data[i+2:], '\n')
	if j < 0 {
		return nil, data, false
	}
	end := i + 2 + j + 1
	if end >= len(data) || data[end] != '\n' {
		return nil, data, false
	}
	return data[:end], data[end+1:], true
}
