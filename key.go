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
// one where it should not be.
const KeyPrefix = "hk_"

// keyIDPrefix begins the id of every key, which is no secret.
const keyIDPrefix = "key_"

// IsKeyID reports whether a principal is a key, and not somebody on this
// computer.
func IsKeyID(principal string) bool { return strings.HasPrefix(principal, keyIDPrefix) }

// keyEncoding has no character that a URL, a shell or a WebSocket subprotocol
// would need to quote.
var keyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewKey makes a key and its secret, 256 random bits. The caller shows the
// secret once; only its hash is in the key.
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

// HashSecret is what is stored of a secret. One round of SHA-256 is enough for
// 256 random bits: there is no dictionary to try.
func HashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
