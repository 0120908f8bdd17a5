package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// checkAnonymous looks for names and addresses of this computer and its user in
// what was written.
func checkAnonymous(dir string) error {
	names, err := ownNames()
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, name := range names {
			if strings.Contains(string(data), name) {
				err = errors.Join(err, fmt.Errorf("%s holds %q", path, name))
			}
		}
		return err
	})
}

// ownNames are what this computer and its user are called. Short ones are left
// out: they are found in random ids.
func ownNames() ([]string, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	names := []string{here, me.HomeDir + string(filepath.Separator), "/" + me.Username + "/"}
	for _, name := range []string{host, me.Username} {
		if len(name) > 4 {
			names = append(names, name)
		}
	}
	addrs, err := net.InterfaceAddrs()
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			names = append(names, ip.IP.String())
		}
	}
	return names, err
}
