// Package upgrade makes sure that data written by earlier versions of Hearken
// keeps working. Each directory below testdata holds what one version wrote,
// once for every kind of store, and what that version showed of it. The tests
// open copies with the program of today and expect to find everything.
//
// The code outside of the tests is shared with the program in generate, which
// writes such a directory.
package upgrade

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// PIN is the owner's PIN in every fixture.
const PIN = "271828"

// Zone is the time zone in which the fixtures were written. It has no summer
// time, so a daily reminder comes every 24 hours.
const Zone = "Asia/Tokyo"

// Stores maps the directory of a fixture to the STORAGE_BACKEND that wrote it.
var Stores = map[string]string{"sqlite": "sqlite", "jsonfile": "json", "postgres": "postgres"}

// Files of a fixture.
const (
	dataDir      = "data"          // the data directory as the program left it
	expectedFile = "expected.json" // an [Expected]
	dumpFile     = "dump.sql"      // the database, with PostgreSQL only
)

// A Fixture is a directory with the data that one version wrote to one kind of
// store.
type Fixture string

// Data is the data directory.
func (f Fixture) Data() string { return filepath.Join(string(f), dataDir) }

// Dump is the file with the PostgreSQL database.
func (f Fixture) Dump() string { return filepath.Join(string(f), dumpFile) }

// Export is the file with the exported session.
func (f Fixture) Export(format string) string { return filepath.Join(string(f), "export."+format) }

// Expected is what the version that wrote a fixture showed of it.
type Expected struct {
	Key        string `json:"key"`        // the secret of a valid key
	RevokedKey string `json:"revokedKey"` // the secret of a revoked one

	// Interrupted is the session that was active when the hub stopped. It is
	// active again for a minute after each start, and then stops.
	Interrupted string `json:"interrupted"`
	// Sender is the path by which its sender can come back.
	Sender string `json:"sender"`
	// Waiting is the action that nobody had decided about when the hub
	// stopped. It expires at the next start.
	Waiting string `json:"waiting"`
	// Daily is the note of a reminder that repeats daily, so that it is due
	// whenever the data is opened.
	Daily string `json:"daily"`
	// Forgotten is a word that was said and then forgotten on request.
	Forgotten string `json:"forgotten"`
	// Recipient is the name of a contact, and Address where mail for it goes.
	Recipient string `json:"recipient"`
	Address   string `json:"address"`

	AuditRecords int    `json:"auditRecords"`
	AuditKey     string `json:"auditKey"` // the public key that verifies checkpoints
	AuditedText  string `json:"auditedText"`
	CalendarPath string `json:"calendarPath"` // the secret path of the calendar feed
	Exported     string `json:"exported"`     // the session in the export files

	Facts Facts `json:"facts"`
}

// Expected reads what the fixture should show.
func (f Fixture) Expected() (*Expected, error) {
	data, err := os.ReadFile(filepath.Join(string(f), expectedFile))
	if err != nil {
		return nil, err
	}
	var e Expected
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("%s: %w", expectedFile, err)
	}
	return &e, nil
}

// Write keeps e as what the fixture should show.
func (f Fixture) Write(e *Expected) error {
	data, err := layout(e)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(string(f), expectedFile), append(data, '\n'), 0o644)
}

// CopyData copies a data directory. Git keeps no file modes but the executable
// bit, so the copy gets those that the program gives its files.
//
// The name of the newest checkpoint's copy beside the keys depends on where the
// audit lies, so that file is renamed as if the original had been written here.
func CopyData(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
	if err != nil {
		return fmt.Errorf("copy data directory: %w", err)
	}
	return renameCheckpoint(to)
}

func renameCheckpoint(data string) error {
	const prefix = "audit-checkpoint-"
	found, err := filepath.Glob(filepath.Join(data, "keys", prefix+"*"))
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return errors.New("copy data directory: there is not one checkpoint beside the keys")
	}
	// Spelled out here and not taken from package audit: this is how the files
	// of the first version are named.
	sum := sha256.Sum256([]byte(filepath.Join(data, "audit")))
	return os.Rename(found[0], filepath.Join(data, "keys", prefix+hex.EncodeToString(sum[:])[:12]))
}
