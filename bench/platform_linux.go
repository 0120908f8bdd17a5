package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo-terminal and returns its two ends.
func openTerminal() (ours, theirs *os.File, err error) {
	ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		var n int
		if n, err = unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN); err == nil {
			theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
		}
	}
	if err != nil {
		ours.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// syncData writes a file's data to disk as the audit does.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
