package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
	"github.com/hearken-dev/hearken/store/jsonfile"
	"github.com/hearken-dev/hearken/store/postgres"
	"github.com/hearken-dev/hearken/store/sqlite"
)

const (
	// storeTimeout is how long a store may take to open.
	storeTimeout = 15 * time.Second
	// usedStoresName is the file in the data directory that lists the stores it
	// has used.
	usedStoresName = "stores.json"
)

// openStore opens the configured store, and creates it if this data directory
// uses it for the first time. One that was there before must still be there: with
// a new one in its place, sessions, keys, grants and what was approved would be
// gone, and nobody would notice. Only with replace is it started anew.
func openStore(ctx context.Context, cfg *Config, replace bool, log *slog.Logger) (store hearken.Store, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout) // a database may hang
	defer cancel()
	used := readUsedStores(cfg.DataDir, log)
	if used.has(cfg) || replace {
		store, err = openExistingStore(ctx, cfg)
	} else {
		store, err = createStore(ctx, cfg)
	}
	lost := hearken.CodeOf(err) == hearken.NotFound
	switch {
	case replace && err == nil:
		if err := store.Close(); err != nil {
			return nil, err
		}
		return nil, hearken.Errorf(hearken.Invalid, "The store, %s, is not lost, so no new one was started.", cfg.storeName()).
			WithTry("another DATABASE_URL, for a store beside it")
	case replace && lost:
		if err = setAsideStore(cfg, log); err == nil {
			store, err = createStore(ctx, cfg)
		}
	case lost:
		return nil, lostStoreError(err)
	}
	if err == nil {
		used.add(cfg, log)
		return store, nil
	}
	if _, ok := errors.AsType[*hearken.Error](err); ok {
		return nil, err
	}
	return nil, hearken.Errorf(hearken.RepositoryError, "The store, %s, cannot be opened: %w.", cfg.storeName(), err).
		WithTry("hearken config, for where STORAGE_BACKEND and DATABASE_URL come from")
}

// lostStoreError says what to do about a store that is missing or empty.
func lostStoreError(err error) error {
	e, _ := errors.AsType[*hearken.Error](err)
	return hearken.Errorf(hearken.RepositoryError, "%s This data directory keeps its sessions, keys and grants there, so Hearken does not start a new one by itself.", e.Message).
		WithTry("restore it from a backup, or start without what was in it: hearken store new")
}

func createStore(ctx context.Context, cfg *Config) (hearken.Store, error) {
	switch cfg.StorageBackend {
	case "postgres":
		return opened(postgres.Open(ctx, cfg.DatabaseURL))
	case "json":
		return opened(jsonfile.Open(ctx, cfg.DatabaseURL))
	}
	return opened(sqlite.Open(ctx, cfg.DatabaseURL))
}

func openExistingStore(ctx context.Context, cfg *Config) (hearken.Store, error) {
	switch cfg.StorageBackend {
	case "postgres":
		return opened(postgres.OpenExisting(ctx, cfg.DatabaseURL))
	case "json":
		return opened(jsonfile.OpenExisting(ctx, cfg.DatabaseURL))
	}
	return opened(sqlite.OpenExisting(ctx, cfg.DatabaseURL))
}

// opened turns a store that could not be opened into a nil interface.
func opened[S hearken.Store](store S, err error) (hearken.Store, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}

// setAsideStore keeps what is left of a lost store under other names.
func setAsideStore(cfg *Config, log *slog.Logger) error {
	if cfg.StorageBackend != "sqlite" {
		return nil // nothing is left of the others
	}
	kept, err := sqlite.SetAside(cfg.DatabaseURL, time.Now())
	for _, path := range kept {
		log.Warn("a file of the lost store was kept", "path", path)
	}
	return err
}

// usedStores are the stores that a data directory has used, and since when.
type usedStores struct {
	Stores map[string]time.Time `json:"stores"` // by kind and address, without a password

	dir     string
	unknown bool // the list cannot be read, so any store may have been used
}

func readUsedStores(dir string, log *slog.Logger) *usedStores {
	u := &usedStores{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, usedStoresName))
	if err == nil {
		err = json.Unmarshal(data, u)
	}
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Stat(filepath.Join(dir, auditFolder))
		u.unknown = err == nil // a hub ran here, of an earlier version or before the list was removed
		return u
	}
	if err != nil {
		log.Warn("the list of used stores cannot be read", "error", err)
		u.unknown = true
	}
	return u
}

// has reports whether the data directory has used the configured store.
func (u *usedStores) has(cfg *Config) bool {
	_, ok := u.Stores[cfg.storeAddress()]
	return ok || u.unknown
}

// add records that the data directory uses the configured store. If that fails,
// the hub works, but will not notice if the store is lost.
func (u *usedStores) add(cfg *Config, log *slog.Logger) {
	if _, ok := u.Stores[cfg.storeAddress()]; ok {
		return
	}
	if u.Stores == nil {
		u.Stores = map[string]time.Time{}
	}
	u.Stores[cfg.storeAddress()] = time.Now().UTC().Truncate(time.Second)
	data, err := json.MarshalIndent(u, "", "  ")
	if err == nil {
		err = os.MkdirAll(u.dir, 0o700)
	}
	if err == nil {
		err = files.Replace(filepath.Join(u.dir, usedStoresName), append(data, '\n'), 0o600)
	}
	if err != nil {
		log.Warn("the store was not added to the list of used stores", "error", fmt.Errorf("write list: %w", err))
	}
}

// storeAddress is [Config.storeName], but relative to the data directory, which
// may be moved.
func (c *Config) storeAddress() string {
	if c.StorageBackend != "postgres" {
		if rel, inside := files.Inside(c.DataDir, c.DatabaseURL); inside {
			return c.StorageBackend + " at " + filepath.ToSlash(rel)
		}
	}
	return c.storeName()
}
