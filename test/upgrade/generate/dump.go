package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

var (
	// unportable are the lines of a dump that an older or a newer server, or
	// anything but psql, would refuse, and those that name this server.
	unportable = regexp.MustCompile(`(?m)^(?:\\(?:un)?restrict .*|SET transaction_timeout .*|SET default_table_access_method .*|-- Dumped (?:from|by) .*)\n`)
	// headings stand above each object, and say what the statement says.
	headings = regexp.MustCompile(`(?m)^--\n-- (?:Name|Data for Name): .*\n--\n\n`)
)

// dump writes a database as SQL statements that restore it.
func dump(ctx context.Context, database, file string) error {
	program, err := findDump()
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "--inserts", "--no-owner", "--no-privileges", "--no-comments", database)
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("pg_dump: %w: %s", err, &stderr)
	}
	return os.WriteFile(file, headings.ReplaceAll(unportable.ReplaceAll(text, nil), nil), 0o644)
}

// findDump finds pg_dump, the newest if there are several.
func findDump() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	if err != nil || len(found) == 0 {
		return exec.LookPath("pg_dump")
	}
	slices.Sort(found)
	return found[len(found)-1], nil
}
