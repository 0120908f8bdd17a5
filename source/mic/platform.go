//go:build !windows

package mic

import "runtime"

// platform returns this system's backend.
func platform(cfg Config, n *notes) backend {
	if runtime.GOOS == "darwin" {
		return newFFmpeg(cfg, n)
	}
	return &pulse{cfg: cfg, notes: n}
}
