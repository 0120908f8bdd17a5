package hearken

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
	"time"
)

// KeyPrefix begins every secret, so that people and secret scanners recognise
// one in the wrong place.
const KeyPrefix = "hk_"

// keyIDPrefix begins the id of every key. The id is not a secret.
const keyIDPrefix = "key_"

// ActionsToolset is the toolset that has only the tools that act. A key that is
// limited to it cannot read transcripts.
const ActionsToolset = "actions"

// ReadsTranscripts reports whether the key lets its holder read what was said.
func (k *Key) ReadsTranscripts() bool {
	return len(k.Toolsets) == 0 || slices.ContainsFunc(k.Toolsets, func(name string) bool { return name != ActionsToolset })
}

// IsKeyID reports whether a principal is the id of a key, and not a process of
// this computer's user.
func IsKeyID(principal string) bool { return strings.HasPrefix(principal, keyIDPrefix) }

// keyEncoding needs no quoting in a URL, a shell or a WebSocket subprotocol.
var keyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewKey makes a key and its secret of 256 random bits. The key contains only
// the secret's hash, so the secret can be shown only now.
func NewKey(name string, now time.Time, toolsets []string) (Key, string) {
	var id [10]byte
	var random [32]byte
	rand.Read(id[:])
	rand.Read(random[:])
	secret := KeyPrefix + strings.ToLower(keyEncoding.EncodeToString(random[:]))
	return Key{
		ID:        keyIDPrefix + strings.ToLower(keyEncoding.EncodeToString(id[:])),
		Name:      name,
		Hash:      HashSecret(secret),
		CreatedAt: now.UTC(),
		Toolsets:  slices.Clone(toolsets),
	}, secret
}

// HashSecret returns the hash of a secret, which is all that is stored. One round
// of SHA-256 is enough for 256 random bits: nobody can guess them.
func HashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
