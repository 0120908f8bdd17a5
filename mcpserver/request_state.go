package mcpserver

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"time"
)

// A requestState is what a client carries from a question to its answer, and
// what the answer must agree with.
type requestState struct {
	Principal string `json:"p"`
	Tool      string `json:"t"`
	Arguments string `json:"a"` // a digest of the call's arguments
	Action    string `json:"i"`
	Digest    string `json:"d"` // of the action as it was shown
	Expires   int64  `json:"e"` // Unix seconds
	Nonce     string `json:"n"`
}

// maxNonces bounds how many nonces are remembered. More questions than that
// are open only if somebody floods the hub.
const maxNonces = 4096

// requestStates signs request states, so that nobody else can make or change
// one. For as long as the process lives it also knows which of them were used.
// That an action is decided only once is ensured by the action queue.
type requestStates struct {
	key []byte

	mu     sync.Mutex
	unused map[string]int64 // nonces of open questions, and when they expire
	used   map[string]int64 // nonces of answered questions
}

// newRequestStates signs with a key; an empty one is replaced by a random key.
func newRequestStates(key []byte) *requestStates {
	if len(key) == 0 {
		key = make([]byte, sha256.Size)
		rand.Read(key)
	}
	return &requestStates{key: key, unused: map[string]int64{}, used: map[string]int64{}}
}

// sign returns a state as text, with a new nonce.
func (s *requestStates) sign(r requestState) string {
	r.Nonce = rand.Text()
	s.mu.Lock()
	if len(s.unused) >= maxNonces {
		s.removeExpired(time.Now().Unix())
	}
	s.unused[r.Nonce] = r.Expires
	s.mu.Unlock()
	body, err := json.Marshal(r)
	if err != nil {
		panic("encode request state: " + err.Error()) // strings always encode
	}
	return base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(s.mac(body))
}

// verify returns what a state holds, and whether we signed it.
func (s *requestStates) verify(state string) (r requestState, ok bool) {
	body, mac, _ := strings.Cut(state, ".")
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return r, false
	}
	m, err := base64.RawURLEncoding.DecodeString(mac)
	if err != nil || !hmac.Equal(m, s.mac(b)) {
		return r, false
	}
	return r, json.Unmarshal(b, &r) == nil
}

// markUsed marks a nonce as used. It reports whether this was the first use, and
// whether the nonce was used before. A nonce of an earlier process is neither.
func (s *requestStates) markUsed(nonce string) (first, usedBefore bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	expires, first := s.unused[nonce]
	_, usedBefore = s.used[nonce]
	if first {
		delete(s.unused, nonce)
		if len(s.used) >= maxNonces {
			s.removeExpired(time.Now().Unix())
		}
		s.used[nonce] = expires
	}
	return first, usedBefore
}

// removeExpired is called with mu held.
func (s *requestStates) removeExpired(now int64) {
	for _, nonces := range []map[string]int64{s.unused, s.used} {
		for nonce, expires := range nonces {
			if expires <= now {
				delete(nonces, nonce)
			}
		}
		if len(nonces) >= maxNonces {
			clear(nonces) // their answers count as requests, and still decide only once
		}
	}
}

func (s *requestStates) mac(body []byte) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte("hearken request state 1\n"))
	m.Write(body)
	return m.Sum(nil)
}
