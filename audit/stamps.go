package audit

import (
	"io/fs"
	"os"
	"path/filepath"
)

// stamps are what the system says about the audit's files, by path. They tell
// at little cost that somebody else may have changed one. A file that does not
// exist has none.
type stamps map[string]fs.FileInfo

// takeStamps looks at all files of an audit, its keys and the copy of its
// newest checkpoint.
func takeStamps(dir, keyDir string) stamps {
	s := stamps{}
	entries, _ := os.ReadDir(dir) // what cannot be read now has no stamp and differs from before
	for _, e := range entries {
		if isMonth(e.Name()) || e.Name() == checkpointsFile {
			s.take(filepath.Join(dir, e.Name()))
		}
	}
	for _, name := range []string{signFile, verifyFile, hmacFile} {
		s.take(filepath.Join(keyDir, name))
	}
	s.take(CheckpointCopy(keyDir, dir))
	return s
}

// take looks at one file.
func (s stamps) take(path string) {
	delete(s, path)
	if info, err := os.Stat(path); err == nil {
		s[path] = info
	}
}

// takeOwn looks at a file that this process has just written. If it is another
// one by now, or has another size, the old stamp stays, which then differs.
func (s stamps) takeOwn(path string, written fs.FileInfo, size int64) {
	if info, err := os.Stat(path); err == nil && os.SameFile(info, written) && info.Size() == size {
		s[path] = info
	}
}

// equal reports whether all files are as they were.
func (s stamps) equal(other stamps) bool {
	if len(s) != len(other) {
		return false
	}
	for path, a := range s {
		b, ok := other[path]
		if !ok || !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
			return false
		}
	}
	return true
}
