// Package owner knows the person whose hub it is: the PIN with which that
// person approves actions, and whose actions a store holds.
package owner

import (
	"cmp"
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

const (
	verifierFile = "owner.json"

	minPINLength  = 6 // characters
	maxPINLength  = 200
	defaultRounds = 600_000 // of PBKDF2, which make guessing expensive

	freeGuesses = 5 // wrong PINs in a row before the first lockout
	minLockout  = 30 * time.Second
	maxLockout  = time.Hour
)

// Config says where the owner is known.
type Config struct {
	KeyDir string // holds what verifies the PIN, apart from the data
	// Store holds the actions that the owner approves. Without one there is
	// only the PIN.
	Store     Store
	StoreName string // for errors
	DataDir   string // the hub's data directory, to which the store belongs

	Rounds int              // of PBKDF2 for a new PIN; 0 for the default
	Now    func() time.Time // nil for time.Now
}

// An Owner is the person who approves actions. Only the PIN distinguishes that
// person from a program with the same user id. The PIN itself is never stored,
// and guessing it is slow, even across restarts.
type Owner struct {
	cfg  Config
	path string

	mu      sync.Mutex
	state   verifier
	damaged error // why nobody can prove to be the owner
}

// verifier is what is stored to check a PIN.
type verifier struct {
	Salt   []byte    `json:"salt"`
	Hash   []byte    `json:"hash"`
	Rounds int       `json:"rounds"`
	SetAt  time.Time `json:"setAt"`
	Wrong  int       `json:"wrong,omitempty"` // guesses in a row
	Until  time.Time `json:"until,omitzero"`  // no guess before
}

// Open reads what verifies the PIN, if there is one.
func Open(c Config) (*Owner, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Rounds = cmp.Or(c.Rounds, defaultRounds)
	o := &Owner{cfg: c, path: filepath.Join(c.KeyDir, verifierFile)}
	raw, err := os.ReadFile(o.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return o, nil
	case err != nil:
		return nil, fmt.Errorf("read owner: %w", err)
	}
	if err := json.Unmarshal(raw, &o.state); err != nil || len(o.state.Hash) == 0 || o.state.Rounds < 1 {
		// The hub works, but nothing can be approved.
		o.damaged = hearken.Errorf(hearken.RepositoryError, "%s is damaged, so nobody can approve anything.", o.path).
			WithTry("stop the hub and restore the file from a backup, or remove it and set a new PIN with: hearken pin")
	}
	return o, nil
}

// HasPIN reports whether a PIN is set.
func (o *Owner) HasPIN() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.damaged != nil || len(o.state.Hash) > 0
}

// SetPIN sets the first PIN, or replaces the old one.
func (o *Owner) SetPIN(old, pin string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.damaged != nil {
		return o.damaged
	}
	if len(o.state.Hash) > 0 {
		if err := o.check(old); err != nil {
			return err
		}
	}
	switch n := utf8.RuneCountInString(pin); {
	case n < minPINLength:
		return hearken.Errorf(hearken.Invalid, "A PIN has at least %d characters.", minPINLength)
	case n > maxPINLength:
		return hearken.Errorf(hearken.Invalid, "A PIN has at most %d characters.", maxPINLength)
	case isSimple(pin):
		return hearken.Errorf(hearken.Invalid, "This PIN is too easy to guess.").WithTry("a few words, which are easier to remember and harder to guess")
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	hash, err := hashPIN(pin, salt, o.cfg.Rounds)
	if err != nil {
		return err
	}
	if err := o.save(verifier{Salt: salt, Hash: hash, Rounds: o.cfg.Rounds, SetAt: o.cfg.Now().UTC()}); err != nil || o.cfg.Store == nil {
		return err
	}
	// The PIN has changed, so the store must know, even if the caller is gone.
	return o.saveToStore(context.Background(), o.fingerprint())
}

// isSimple reports whether a PIN is among the first that people try: few
// different characters, a run up or down, or the same half twice.
func isSimple(pin string) bool {
	kinds, steps := map[rune]bool{}, map[rune]bool{}
	runes := []rune(pin)
	for i, r := range runes {
		kinds[r] = true
		if i > 0 {
			steps[r-runes[i-1]] = true
		}
	}
	half := len(runes) / 2
	twice := len(runes)%2 == 0 && string(runes[:half]) == string(runes[half:])
	return len(kinds) < 3 || len(steps) == 1 || twice
}

// Check fails unless this is the owner's PIN. After several wrong ones in a
// row it fails for a while, whatever the PIN.
func (o *Owner) Check(pin string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.check(pin)
}

func (o *Owner) check(pin string) error {
	if o.damaged != nil {
		return o.damaged
	}
	if len(o.state.Hash) == 0 {
		return hearken.Errorf(hearken.Unauthorized, "There is no PIN yet.").WithTry("hearken pin")
	}
	now := o.cfg.Now()
	if wait := o.state.Until.Sub(now); wait > 0 {
		// A clock that was wrong for a while must not prolong the lockout.
		if wait > maxLockout {
			wait = maxLockout
			o.state.Until = now.Add(wait).UTC()
		}
		return hearken.Errorf(hearken.RateLimited, "Too many wrong PINs. Try again in %s.", wait.Round(time.Second))
	}
	hash, err := hashPIN(pin, o.state.Salt, o.state.Rounds)
	if err != nil {
		return err
	}
	next := o.state
	if subtle.ConstantTimeCompare(hash, o.state.Hash) == 1 {
		if next.Wrong == 0 {
			return nil
		}
		next.Wrong, next.Until = 0, time.Time{}
		return o.save(next)
	}
	next.Wrong++
	if over := next.Wrong - freeGuesses; over >= 0 {
		next.Until = now.Add(min(minLockout<<min(over, 10), maxLockout)).UTC()
	}
	if err := o.save(next); err != nil {
		return err // a guess that cannot be counted gets no answer
	}
	return hearken.Errorf(hearken.Unauthorized, "Wrong PIN.")
}

// fingerprint tells one PIN from another and reveals nothing about it; nil if
// there is no PIN. The lock is held.
func (o *Owner) fingerprint() []byte {
	if len(o.state.Hash) == 0 {
		return nil
	}
	sum := sha512.Sum512_256(append([]byte("owner"), o.state.Hash...))
	return sum[:]
}

// save writes the verifier to disk before anybody learns of the change.
func (o *Owner) save(next verifier) error {
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.cfg.KeyDir, 0o700); err != nil {
		return fmt.Errorf("save owner: %w", err)
	}
	if err := files.Replace(o.path, raw, 0o600); err != nil {
		return fmt.Errorf("save owner: %w", err)
	}
	o.state = next
	return nil
}

func hashPIN(pin string, salt []byte, rounds int) ([]byte, error) {
	return pbkdf2.Key(sha256.New, pin, salt, rounds, 32)
}
