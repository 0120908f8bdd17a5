package pipe

import "os"

// lockDirectory does nothing: Windows removes and renames no file that is open.
func lockDirectory(string) (directory *os.File, held bool) { return nil, false }
