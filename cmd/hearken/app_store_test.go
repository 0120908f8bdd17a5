package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// storeConfig is a configuration with a store in a data directory of its own.
func storeConfig(t *testing.T, backend string) *Config {
	t.Helper()
	dir := t.TempDir()
	return &Config{StorageBackend: backend, DataDir: dir, DatabaseURL: filepath.Join(dir, "store")}
}

func openAndClose(t *testing.T, cfg *Config) error {
	t.Helper()
	s, err := openStore(t.Context(), cfg, false, slog.New(slog.DiscardHandler))
	if err == nil {
		err = s.Close()
	}
	return err
}

func TestOpenStore_Lost(t *testing.T) {
	for _, backend := range []string{"sqlite", "json"} {
		t.Run(backend, func(t *testing.T) {
			cfg := storeConfig(t, backend)
			for range 2 {
				if err := openAndClose(t, cfg); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.RemoveAll(cfg.DatabaseURL); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first attempt must not create it
				err := openAndClose(t, cfg)
				if hearken.CodeOf(err) != hearken.RepositoryError || !strings.Contains(err.Error(), cfg.DatabaseURL+" is missing") || !strings.Contains(err.Error(), "hearken store new") {
					t.Errorf("got %v", err)
				}
			}
			// What is not known to be used may be new.
			other := *cfg
			other.DatabaseURL = filepath.Join(cfg.DataDir, "other")
			if err := openAndClose(t, &other); err != nil {
				t.Error(err)
			}
			// A list that cannot be read does not hide a loss, and stops nothing else.
			list := filepath.Join(cfg.DataDir, usedStoresName)
			if err := os.WriteFile(list, []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := openAndClose(t, cfg); hearken.CodeOf(err) != hearken.RepositoryError {
				t.Errorf("with a damaged list: %v", err)
			}
			if err := openAndClose(t, &other); err != nil {
				t.Error(err)
			}
		})
	}
}

// A directory of an earlier version has no list. Its store is added to one.
func TestOpenStore_Earlier(t *testing.T) {
	for _, backend := range []string{"sqlite", "json"} {
		cfg := storeConfig(t, backend)
		if err := openAndClose(t, cfg); err != nil {
			t.Fatal(err)
		}
		list := filepath.Join(cfg.DataDir, usedStoresName)
		first, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(list); err != nil {
			t.Fatal(err)
		}
		if err := openAndClose(t, cfg); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(list); err != nil || !bytes.Contains(again, []byte(`"`+backend+` at store"`)) || !bytes.Contains(first, []byte(`"`+backend+` at store"`)) {
			t.Errorf("the list is %s, then %s, %v", first, again, err)
		}
	}
}

func TestStoreAddress(t *testing.T) {
	for _, tt := range []struct{ backend, url, want string }{
		{"sqlite", "/data/hearken.db", "sqlite at hearken.db"},
		{"sqlite", "/data/a=b/hearken.db", "sqlite at a=b/hearken.db"},
		{"json", "/data/..x", "json at ..x"},
		{"sqlite", "/elsewhere/hearken.db", "sqlite at /elsewhere/hearken.db"},
		{"postgres", "postgres://me:secret@host/db", "postgres at postgres://me@host/db"},
	} {
		c := &Config{DataDir: "/data", StorageBackend: tt.backend, DatabaseURL: tt.url}
		if got := c.storeAddress(); got != tt.want {
			t.Errorf("%s at %s: %q", tt.backend, tt.url, got)
		}
	}
}
