package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/hearken-dev/hearken"
)

// signerName stands in front of every signature.
const signerName = "hearken-audit"

// Files of the folder with the keys.
const (
	signFile   = "audit-sign.key"   // the private key of the checkpoints
	verifyFile = "audit-verify.key" // its public half
	hmacFile   = "audit-hmac.key"
)

// Keys are what an audit signs and hashes with.
type Keys struct {
	signer   note.Signer
	verifier string
	hmac     []byte
}

// ReadKeys reads the keys of an audit that was opened before, also while it is
// open.
func ReadKeys(dir string) (*Keys, error) {
	k, err := readKeys(dir)
	if err != nil {
		return nil, hearken.Errorf(hearken.NotFound, "The keys of the audit in %s cannot be read: %w.", dir, err).
			WithTry("start the hub once, which makes them")
	}
	return k, nil
}

func readKeys(dir string) (*Keys, error) {
	read := func(name string) (string, error) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		return strings.TrimSpace(string(data)), err
	}
	sign, err := read(signFile)
	if err != nil {
		return nil, err
	}
	k := &Keys{}
	if k.signer, err = note.NewSigner(sign); err != nil {
		return nil, fmt.Errorf("%s: %w", signFile, err)
	}
	if k.verifier, err = read(verifyFile); err != nil {
		return nil, err
	}
	v, err := note.NewVerifier(k.verifier)
	if err != nil || v.KeyHash() != k.signer.KeyHash() {
		return nil, fmt.Errorf("%s: not the other half of %s", verifyFile, signFile)
	}
	secret, err := read(hmacFile)
	if err != nil {
		return nil, err
	}
	if k.hmac, err = hex.DecodeString(secret); err != nil || len(k.hmac) != sha256.Size {
		return nil, fmt.Errorf("%s: not a key", hmacFile)
	}
	return k, nil
}

// openKeys reads the keys, and makes them for an audit that does not exist
// yet. One that exists never gets new ones: a log that suddenly has another
// key proves nothing.
func openKeys(keyDir, dir string) (*Keys, error) {
	k, err := readKeys(keyDir)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	names, err := months(dir)
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		return nil, hearken.Errorf(hearken.AuditUnavailable, "There is an audit in %s, but its keys are not in %s.", dir, keyDir).
			WithTry("bring the keys back, or move the audit away to begin a new one")
	}
	return makeKeys(keyDir)
}

func makeKeys(dir string) (*Keys, error) {
	// The file that is written last says that all are there.
	if _, err := os.Stat(filepath.Join(dir, signFile)); err == nil {
		return nil, fmt.Errorf("%s is there, but others are missing", signFile)
	}
	sign, verify, err := note.GenerateKey(rand.Reader, signerName)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, sha256.Size)
	rand.Read(secret)
	for _, f := range []struct{ name, text string }{
		{hmacFile, hex.EncodeToString(secret)}, {verifyFile, verify}, {signFile, sign},
	} {
		if err := replace(filepath.Join(dir, f.name), []byte(f.text+"\n")); err != nil {
			return nil, err
		}
	}
	if err := syncDir(dir); err != nil {
		return nil, err
	}
	return readKeys(dir)
}

// Hash is how a free text stands in the audit: whoever has a text can find out
// whether it is the one, and whoever has the audit alone cannot read it.
func (k *Keys) Hash(text string) string {
	m := hmac.New(sha256.New, k.hmac)
	m.Write([]byte(text))
	return "hmac-sha256:" + hex.EncodeToString(m.Sum(nil))
}

// VerifierKey is the public key that [Verify] needs.
func (k *Keys) VerifierKey() string { return k.verifier }

// CheckpointCopy is the file beside the keys that holds the newest checkpoint of the
// audit in dir.
func CheckpointCopy(keyDir, dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(keyDir, "audit-checkpoint-"+sum([]byte(dir))[:12])
}
