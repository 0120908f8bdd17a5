//go:build !windows

package main

// terminalName is the terminal that the program runs in.
const terminalName = "/dev/tty"
