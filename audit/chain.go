package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hearken-dev/hearken"
	"golang.org/x/mod/sumdb/tlog"
)

// timeForm is the form of all times in the audit, always in UTC.
const timeForm = "2006-01-02T15:04:05.000000Z"

// longestLine is the most bytes a record may have. Texts are hashed, so an
// honest record has a few hundred.
const longestLine = 64 << 10

// A line is a record as it is stored. Its first three fields come first in
// every line, so that the chain can be checked without decoding the rest.
type line struct {
	Seq  int64  `json:"seq"` // 1 for the first record of all
	TS   string `json:"ts"`
	Prev string `json:"prev"` // SHA-256 of the previous line, without its newline; empty in the first
	hearken.AuditRecord
	Note  string `json:"note,omitempty"`  // what happened to the audit itself
	Break *Break `json:"break,omitempty"` // in the first record of a restarted audit
}

// encode returns the line that follows after a state, with its newline. It
// fills in the fields that form the chain.
func encode(s *state, now time.Time, l line, hash func(string) string) ([]byte, error) {
	if len(l.Texts) > 0 {
		hashed := make(map[string]string, len(l.Texts))
		for name, text := range l.Texts {
			hashed[name] = hash(text)
		}
		l.Texts = hashed
	}
	l.Seq, l.TS, l.Prev = s.n+1, now.UTC().Format(timeForm), s.lastHash()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, err
	}
	if b.Len() > longestLine {
		return nil, hearken.Errorf(hearken.AuditUnavailable, "An audit record may have at most %d bytes; this one has %d.", longestLine, b.Len())
	}
	return b.Bytes(), nil
}

// readHead parses the fields at the beginning of a line, which form the chain.
// It accepts only what encode writes.
func readHead(l []byte) (seq int64, prev string, ok bool) {
	rest, ok := bytes.CutPrefix(l, []byte(`{"seq":`))
	number, rest, ok2 := bytes.Cut(rest, []byte(`,"ts":"`))
	seq, err := strconv.ParseInt(string(number), 10, 64)
	if !ok || !ok2 || err != nil || seq < 1 || len(rest) < len(timeForm) {
		return 0, "", false
	}
	rest, ok = bytes.CutPrefix(rest[len(timeForm):], []byte(`","prev":"`))
	hash, _, ok2 := bytes.Cut(rest, []byte(`"`))
	return seq, string(hash), ok && ok2 && l[len(l)-1] == '}'
}

// mismatch says why a line does not follow after s, in words that continue
// "Line N of FILE"; empty if it does.
func (s *state) mismatch(l []byte) string {
	seq, prev, ok := readHead(l)
	switch {
	case !ok:
		return "is not a record"
	case seq > s.n+1:
		return fmt.Sprintf("is record %d, but record %d should be there: something was removed or moved", seq, s.n+1)
	case seq < s.n+1:
		return fmt.Sprintf("is record %d, but record %d should be there: something was moved or duplicated", seq, s.n+1)
	case prev != s.lastHash():
		return "does not follow from the line before: one of the two was changed"
	}
	return ""
}

// hexHash is the SHA-256 of data in hex.
func hexHash(l []byte) string {
	h := sha256.Sum256(l)
	return hex.EncodeToString(h[:])
}

// A state is what is needed to continue after a record: the number of records,
// the hash of the last one, and the roots of the complete subtrees on the right
// edge of the tree, largest first. The hash of the first record identifies the
// audit.
type state struct {
	n     int64
	last  [sha256.Size]byte
	tree  []tlog.Hash
	chain string // the hash of the first record; empty if it is not known
}

// lastHash is the hash by which the next line refers to the last one.
func (s *state) lastHash() string {
	if s.n == 0 {
		return ""
	}
	return hex.EncodeToString(s.last[:])
}

// add appends a line, given without its newline.
func (s *state) add(l []byte) {
	s.tree = append(s.tree, tlog.RecordHash(l))
	for k := s.n; k&1 == 1; k >>= 1 {
		i := len(s.tree) - 2
		s.tree = append(s.tree[:i], tlog.NodeHash(s.tree[i], s.tree[i+1]))
	}
	s.last = sha256.Sum256(l)
	s.n++
	if s.n == 1 {
		s.chain = s.lastHash()
	}
}

// root is the hash of the whole tree as in RFC 6962.
func (s *state) root() tlog.Hash {
	if s.n == 0 {
		return tlog.Hash(sha256.Sum256(nil))
	}
	h := s.tree[len(s.tree)-1]
	for i := len(s.tree) - 2; i >= 0; i-- {
		h = tlog.NodeHash(s.tree[i], h)
	}
	return h
}

func (s *state) clone() state {
	return state{s.n, s.last, slices.Clone(s.tree), s.chain}
}
