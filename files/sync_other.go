//go:build !linux

package files

import "os"

// SyncData syncs a file's bytes and length, but where possible not its
// timestamps, which a full sync writes as well.
func SyncData(f *os.File) error { return f.Sync() }
