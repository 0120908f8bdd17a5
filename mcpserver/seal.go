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

// A request is what a client carries from a question to its answer, and all
// that the answer must agree with.
type request struct {
	Principal string `json:"p"`
	Tool      string `json:"t"`
	Arguments string `json:"a"` // a digest of the call's
	Action    string `json:"i"`
	Digest    string `json:"d"` // of the action as it was shown
	Expires   int64  `json:"e"` // Unix seconds
	Nonce     string `json:"n"`
}

// maxNonces bounds the questions that are remembered; more than that are open
// only if somebody floods the hub.
const maxNonces = 4096

// seals makes request states that nobody else can make or change. It also
// knows which of them were not used yet, as long as the process lives; that an
// action is decided once is the desk's to hold.
type seals struct {
	key []byte

	mu     sync.Mutex
	unused map[string]int64 // nonces of open questions, and when they expire
	used   map[string]int64 // of those that were answered
}

func newSeals(key []byte) *seals {
	if len(key) == 0 {
		key = make([]byte, sha256.Size)
		rand.Read(key)
	}
	return &seals{key: key, unused: map[string]int64{}, used: map[string]int64{}}
}

func (s *seals) seal(r request) string {
	r.Nonce = rand.Text()
	s.mu.Lock()
	if len(s.unused) >= maxNonces {
		s.sweep(time.Now().Unix())
	}
	s.unused[r.Nonce] = r.Expires
	s.mu.Unlock()
	body, err := json.Marshal(r)
	if err != nil {
		panic("encode request state: " + err.Error()) // strings always encode
	}
	return base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(s.mac(body))
}

// sweep is called with mu held.
func (s *seals) sweep(now int64) {
	for _, nonces := range []map[string]int64{s.unused, s.used} {
		for nonce, expires := range nonces {
			if expires <= now {
				delete(nonces, nonce)
			}
		}
		if len(nonces) >= maxNonces {
			clear(nonces) // those are counted as requests, and decided once all the same
		}
	}
}

// open returns what a state holds, and whether it is one of ours.
func (s *seals) open(state string) (r request, ok bool) {
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

// take uses a state, and reports whether it was the first time. Of one that an
// earlier process made nobody knows.
func (s *seals) take(nonce string) (first, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	expires, first := s.unused[nonce]
	_, again = s.used[nonce]
	if first {
		delete(s.unused, nonce)
		if len(s.used) >= maxNonces {
			s.sweep(time.Now().Unix())
		}
		s.used[nonce] = expires
	}
	return first, again
}

func (s *seals) mac(body []byte) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte("hearken request state 1\n"))
	m.Write(body)
	return m.Sum(nil)
}
