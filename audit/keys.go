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
		return nil, hearken.Errorf(hearken.NotFound, "The audit's keys in %s cannot be read: %w.", dir, err).
			WithTry("start the hub once, which creates them")
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

// openKeys reads the keys, or creates them for an audit that does not exist
// yet. An existing audit never gets new keys: a log whose key changes proves
// nothing.
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
			WithTry("restore the keys, or move the audit away to start a new one")
	}
	return makeKeys(keyDir)
}

func makeKeys(dir string) (*Keys, error) {
	// The signing key is written last: if it exists, all others must.
	if _, err := os.Stat(filepath.Join(dir, signFile)); err == nil {
		return nil, fmt.Errorf("%s exists, but other keys are missing", signFile)
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
		if err := files.Replace(filepath.Join(dir, f.name), []byte(f.text+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	return readKeys(dir)
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

// CheckpointCopy returns the file in keyDir that holds a copy of the newest
// checkpoint of the audit in dir.
func CheckpointCopy(keyDir, dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(keyDir, "audit-checkpoint-"+hexHash([]byte(dir))[:12])
}
