package calendar

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearken-dev/hearken"
)

// tokenName is the file in the data directory that holds the secret part of
// the feed's address. Whoever removes it makes the next start choose another.
const tokenName = "calendar-address"

// openToken reads the secret, and makes it if there is none yet.
func openToken(dir string) (string, error) {
	path := filepath.Join(dir, tokenName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < 26 || strings.Trim(token, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return "", hearken.Errorf(hearken.Invalid, "The calendar's address in %s is damaged.", path).
			WithTry("remove the file, start again and subscribe to the new address")
	}
	// It may have come back from a copy with wider permissions.
	if err := os.Chmod(path, 0o600); err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	return token, nil
}

// makeToken writes a new secret under another name first, so that no crash
// leaves a half of it.
func makeToken(path string) (string, error) {
	token := strings.ToLower(rand.Text())
	temp := path + ".new"
	_ = os.Remove(temp)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	_, err = f.WriteString(token + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	return token, nil
}
