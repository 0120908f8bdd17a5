//go:build !windows

package mic

import "runtime"

// platform is the way to reach devices on this system.
func platform(cfg Config, n *notes) backend {
	if runtime.GOOS == "darwin" {
		return newFFmpeg(cfg, n)
	}
	return &pulse{cfg: cfg, notes: n}
}
