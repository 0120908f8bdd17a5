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
	"github.com/hearken-dev/hearken/files"
)

// tokenName is the file in the data directory that holds the secret part of the
// feed's URL. If it is removed, the next start chooses another.
const tokenName = "calendar-address"

// openToken reads the secret, or makes one if there is none yet.
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
	// A backup may have restored it with wider permissions.
	if err := os.Chmod(path, 0o600); err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	return token, nil
}

func makeToken(path string) (string, error) {
	token := strings.ToLower(rand.Text())
	if err := files.Replace(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	return token, nil
}
