package act

import (
	"cmp"
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
)

const (
	ownerName = "owner.json"
	shortest  = 6 // characters of a PIN
	longest   = 200
	rounds    = 600_000 // of PBKDF2: a guess costs the guesser as much as the owner
	freeWrong = 5       // wrong ones in a row before the first wait
	firstWait = 30 * time.Second
	longWait  = time.Hour
)

// An Owner is the person whom actions ask. What makes the person different
// from every process with the person's user id is a PIN: it is typed and never
// stored, and guessing it is slow, also across restarts.
type Owner struct {
	// Rounds is how many rounds of PBKDF2 a new PIN gets; 0 for as many as are
	// good today.
	Rounds int
	// Changed is called with the fingerprint of a PIN that was set; may be nil.
	Changed func(fingerprint []byte) error

	path string
	now  func() time.Time

	mu      sync.Mutex
	state   ownerState
	damaged error // why nobody can be told to be the owner
}

// ownerState is what is kept of the PIN.
type ownerState struct {
	Salt   []byte    `json:"salt"`
	Hash   []byte    `json:"hash"`
	Rounds int       `json:"rounds"`
	SetAt  time.Time `json:"setAt"`
	Wrong  int       `json:"wrong,omitempty"` // in a row
	Until  time.Time `json:"until,omitzero"`  // no guess before
}

// OpenOwner reads what is known of the owner. The verifier lies in keys, apart
// from the data.
func OpenOwner(keys string, now func() time.Time) (*Owner, error) {
	if now == nil {
		now = time.Now
	}
	o := &Owner{path: filepath.Join(keys, ownerName), now: now}
	raw, err := os.ReadFile(o.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return o, nil
	case err != nil:
		return nil, fmt.Errorf("read owner: %w", err)
	}
	if err := json.Unmarshal(raw, &o.state); err != nil || len(o.state.Hash) == 0 || o.state.Rounds < 1 {
		// Nothing can be approved then; all else goes on.
		o.damaged = hearken.Errorf(hearken.RepositoryError, "%s is damaged, so nobody can approve anything.", o.path).
			WithTry("stop the hub, put the file back from a copy, or remove it and set a new PIN with: hearken pin")
	}
	return o, nil
}

// Set reports whether there is a PIN.
func (o *Owner) Set() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.damaged != nil || len(o.state.Hash) > 0
}

// Damaged says why nobody can be told to be the owner; nil if all is well.
func (o *Owner) Damaged() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.damaged
}

// Fingerprint tells one PIN from another without telling anything about it;
// nil if there is none. It is kept with what was allowed under that PIN.
func (o *Owner) Fingerprint() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fingerprint()
}

func (o *Owner) fingerprint() []byte {
	if len(o.state.Hash) == 0 {
		return nil
	}
	sum := sha512.Sum512_256(append([]byte("owner"), o.state.Hash...))
	return sum[:]
}

// SetPIN sets the first PIN, or a new one in place of the old.
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
	if n := utf8.RuneCountInString(pin); n < shortest || n > longest {
		return hearken.Errorf(hearken.Invalid, "A PIN has at least %d characters.", shortest)
	}
	if simple(pin) {
		return hearken.Errorf(hearken.Invalid, "This PIN is too easy to guess.").WithTry("a few words, which are easier to remember and harder to guess")
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	n := cmp.Or(o.Rounds, rounds)
	hash, err := stretch(pin, salt, n)
	if err != nil {
		return err
	}
	if err := o.save(ownerState{Salt: salt, Hash: hash, Rounds: n, SetAt: o.now().UTC()}); err != nil || o.Changed == nil {
		return err
	}
	return o.Changed(o.fingerprint())
}

// simple reports whether a PIN is among the first that are tried: few
// different characters, a run up or down, or one half said twice.
func simple(pin string) bool {
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

// Check tells whether this is the owner.
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
	now := o.now()
	// A clock that was wrong for a while must not make the wait any longer.
	if wait := min(o.state.Until.Sub(now), longWait); wait > 0 {
		if o.state.Until.Sub(now) > longWait {
			o.state.Until = now.Add(longWait).UTC()
		}
		return hearken.Errorf(hearken.RateLimited, "Too many wrong PINs; the next may be tried in %s.", wait.Round(time.Second))
	}
	hash, err := stretch(pin, o.state.Salt, o.state.Rounds)
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
	if over := next.Wrong - freeWrong; over >= 0 {
		next.Until = now.Add(min(firstWait<<min(over, 10), longWait)).UTC()
	}
	if err := o.save(next); err != nil {
		return err // a guess that cannot be counted is not answered
	}
	return hearken.Errorf(hearken.Unauthorized, "Wrong PIN.")
}

// save keeps the state before anybody is told of it.
func (o *Owner) save(next ownerState) error {
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.path), 0o700); err != nil {
		return fmt.Errorf("keep owner: %w", err)
	}
	if err := replaceFile(o.path, raw); err != nil {
		return fmt.Errorf("keep owner: %w", err)
	}
	o.state = next
	return nil
}

// replaceFile puts a file in place of another, whole or not at all, also if the
// power fails.
func replaceFile(path string, data []byte) error {
	fresh := path + ".new"
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

func stretch(pin string, salt []byte, n int) ([]byte, error) {
	return pbkdf2.Key(sha256.New, pin, salt, n, 32)
}
