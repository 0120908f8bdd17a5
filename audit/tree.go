package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// A state is what is needed to continue after a record: the number of records,
// the hash of the last one, and the roots of the complete subtrees on the right
// edge of the tree, largest first.
type state struct {
	n    int64
	last [sha256.Size]byte
	tree []tlog.Hash
}

// prev is the hash by which the next line refers to the last one.
func (s *state) prev() string {
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
	return state{s.n, s.last, slices.Clone(s.tree)}
}
