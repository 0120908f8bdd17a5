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
	"github.com/hearken-dev/hearken/files"
)

// signerName is the signer's name in every signature.
const signerName = "hearken-audit"

// The files in the directory with the keys.
const (
	signFile   = "audit-sign.key"   // the private key of the checkpoints
	verifyFile = "audit-verify.key" // its public half
	hmacFile   = "audit-hmac.key"
)

// Keys sign and hash the contents of an audit.
type Keys struct {
	signer   note.Signer
	verifier string
	hmac     []byte
}

// ReadKeys reads the keys of an existing audit. It may be called while the
// audit is open.
func ReadKeys(dir string) (*Keys, error) {
	k, err := readKeys(dir)
	if err != nil {
		return nil, noKeys(dir, err)
	}
	return k, nil
}

func noKeys(dir string, err error) error {
	return hearken.Errorf(hearken.NotFound, "The audit's keys in %s cannot be read: %w.", dir, err).
		WithTry("start the hub once, which creates them")
}

func readKeys(dir string) (*Keys, error) {
	sign, err := readKey(dir, signFile)
	if err != nil {
		return nil, err
	}
	k := &Keys{}
	if k.signer, err = note.NewSigner(sign); err != nil {
		return nil, fmt.Errorf("%s: %w", signFile, err)
	}
	if k.verifier, err = readKey(dir, verifyFile); err != nil {
		return nil, err
	}
	v, err := note.NewVerifier(k.verifier)
	if err != nil || v.KeyHash() != k.signer.KeyHash() {
		return nil, fmt.Errorf("%s: not the other half of %s", verifyFile, signFile)
	}
	if k.hmac, err = readSecret(dir); err != nil {
		return nil, err
	}
	return k, nil
}

// readSecret reads the key of the texts' hashes.
func readSecret(dir string) ([]byte, error) {
	text, err := readKey(dir, hmacFile)
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(text)
	if err != nil || len(secret) != sha256.Size {
		return nil, fmt.Errorf("%s: not a key", hmacFile)
	}
	return secret, nil
}

func readKey(dir, name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(data)), err
}

// makeKeys creates the keys of a new audit. Texts can still be found by a hash
// that was made with an earlier secret, so an existing one stays.
func makeKeys(dir string) (*Keys, error) {
	sign, verify, err := note.GenerateKey(rand.Reader, signerName)
	if err != nil {
		return nil, err
	}
	secret, err := readSecret(dir)
	if err != nil {
		secret = make([]byte, sha256.Size)
		rand.Read(secret)
	}
	// The signing key is written last: if it exists, all others must.
	for _, f := range []struct{ name, text string }{
		{hmacFile, hex.EncodeToString(secret)}, {verifyFile, verify}, {signFile, sign},
	} {
		if err := files.Replace(filepath.Join(dir, f.name), []byte(f.text+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	return readKeys(dir)
}

// replaceKeys creates keys in place of damaged ones, which stay under a longer
// name.
func replaceKeys(dir, suffix string) (*Keys, error) {
	for _, name := range []string{signFile, verifyFile} {
		path := filepath.Join(dir, name)
		if err := os.Rename(path, path+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return makeKeys(dir)
}

// Hash returns the form in which the audit stores a free text. Whoever has a
// text can check whether it is the one; nobody can read it from the audit.
func (k *Keys) Hash(text string) string {
	m := hmac.New(sha256.New, k.hmac)
	m.Write([]byte(text))
	return "hmac-sha256:" + hex.EncodeToString(m.Sum(nil))
}

// VerifierKey returns the public key that [Verify] needs.
func (k *Keys) VerifierKey() string { return k.verifier }
