//go:build !linux

package main

import (
	"errors"
	"os"
)

func openTerminal() (ours, theirs *os.File, err error) { return nil, nil, errors.ErrUnsupported }

func syncData(f *os.File) error { return f.Sync() }
