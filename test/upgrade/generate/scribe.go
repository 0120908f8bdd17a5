package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// scribeScript stands in for ParrotScribe's command line: it says whether it
// runs, and prints all rows whichever are asked for.
const scribeScript = `#!/bin/sh
cd "$(dirname "$0")"
case $1 in
start) : >pscribe.running; echo "Started session fixture-1" ;;
stop) rm -f pscribe.running; echo "Status: stopped" ;;
status) if [ -e pscribe.running ]; then echo "Status: running, session fixture-1"; else echo "Status: stopped"; fi ;;
tail) cat pscribe.rows ;;
esac
`

// scribeTexts is how many entries the stand-in has.
const scribeTexts = 5

// writeScribe makes a stand-in for ParrotScribe in a directory. What it says
// was captured by this computer, so its microphone is the owner's own word.
func writeScribe(dir string) (path string, err error) {
	at := time.Now().UTC().Add(-30 * time.Second).Truncate(time.Second)
	row := func(after int, source, status string, segment int, language, text string) string {
		t := at.Add(time.Duration(after) * time.Second).Format(time.RFC3339)
		return fmt.Sprintf("  %s,%s,%s,%d,0.875,2.5,%s,%q", t, source, status, segment, language, text)
	}
	rows := []string{
		row(0, "M", "C", 1, "en", "Tell Bob that lunch is at one."),
		row(4, "S", "C", 2, "pt", "Então nos vemos no café."),
		row(4, "S", "T", 2, "en", "Then we will meet at the café."),
		row(8, "M", "N", 3, "", ""),
		row(12, "E", "C", 4, "", "The microphone was changed."),
	}
	path = filepath.Join(dir, "pscribe")
	text := "transcript{timestamp,source,status,segment,confidence,duration,language,text}:\n" + strings.Join(rows, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "pscribe.rows"), []byte(text), 0o600); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(scribeScript), 0o700)
}
