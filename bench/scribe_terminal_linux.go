package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pair of a terminal's two ends.
func openTerminal() (here, there *os.File, err error) {
	here, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetPointerInt(int(here.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		var n int
		if n, err = unix.IoctlGetInt(int(here.Fd()), unix.TIOCGPTN); err == nil {
			there, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
		}
	}
	if err != nil {
		here.Close()
		return nil, nil, err
	}
	return here, there, nil
}
