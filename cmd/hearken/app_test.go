//go:build !windows

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/store/storetest"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// testConfig is a configuration with its own directories and free ports.
func testConfig(t *testing.T) *Config {
	t.Helper()
	cleanEnv(t)
	t.Setenv("XDG_RUNTIME_DIR", shortDir(t))
	t.Setenv("HEARKEN_DATA_DIR", filepath.Join(t.TempDir(), "data"))
	t.Setenv("PORT", "0")
	t.Setenv("WS_LISTEN", "127.0.0.1:0")
	c, err := loadConfig(t, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openApp opens a hub in this process, whose engine finds a word every second,
// and closes it after the test.
func openApp(t *testing.T, cfg *Config, opts Options) *App {
	t.Helper()
	if opts.Providers == nil {
		opts.Providers = []hearken.Provider{stttest.Every("local", 1)}
	}
	app, err := Open(t.Context(), cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.closeInTime(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if !opts.Brief {
		if _, err := app.Transports(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return app
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestApp_PortTaken(t *testing.T) {
	cfg := testConfig(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg.Port = taken.Addr().(*net.TCPAddr).Port
	cfg.WSListen = taken.Addr().String()
	app := openApp(t, cfg, Options{})
	server, _ := app.Transports(t.Context())
	for _, url := range []string{server.URL(), server.WSURL(), app.audioURL(t.Context(), "s", "t")} {
		if strings.Contains(url, fmt.Sprintf(":%d", cfg.Port)) {
			t.Errorf("%s names the port that is taken", url)
		}
	}
	if status, _ := get(t, server.URL()+"/healthz"); status != http.StatusOK {
		t.Errorf("the free port answers %d", status)
	}
	if hub, ok := pipe.ReadHubInfo(cfg.DataDir); !ok || hub.HTTP != server.URL() {
		t.Errorf("the hub is described as %+v", hub)
	}
}

func TestApp_Operations(t *testing.T) {
	cfg := testConfig(t)
	real, err := openStore(t.Context(), cfg, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.NewFaulty(real)
	app := openApp(t, cfg, Options{Store: store})
	server, _ := app.Transports(t.Context())
	if status, body := get(t, server.URL()+"/readyz"); status != http.StatusOK {
		t.Errorf("readyz answers %d %s", status, body)
	}
	if _, err := app.hub.Start(t.Context(), hearken.StartRequest{Principal: act.Local}); err != nil {
		t.Fatal(err)
	}
	_, metrics := get(t, server.URL()+"/metrics")
	for _, want := range []string{`hearken_active_sessions{health="waiting_for_audio"} 1`, "hearken_lag_seconds 0", "hearken_dropped_seconds 0", "hearken_unsaved_segments", "hearken_spool_bytes"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	store.Fail(errors.New("the disk is on fire"))
	if status, _ := get(t, server.URL()+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("readyz answers %d with a store that is down", status)
	}
	store.Fail(nil)
}

func TestApp_NewerDatabase(t *testing.T) {
	cfg := testConfig(t)
	if app, err := Open(t.Context(), cfg, Options{Brief: true}); err != nil || app.closeInTime() != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 9999"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	_, err = Open(t.Context(), cfg, Options{})
	if hearken.CodeOf(err) != hearken.RepositoryError || !strings.Contains(err.Error(), "9999") {
		t.Errorf("got %v", err)
	}
	// An Open that failed holds nothing.
	lock, err := pipe.Acquire(cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
}

func TestApp_AnotherStore(t *testing.T) {
	cfg := testConfig(t)
	openApp(t, cfg, Options{})
	_, _, err := pipe.Dial(t.Context(), cfg.DataDir, pipe.Hello{Store: "postgres at db.example.org"})
	if hearken.CodeOf(err) != hearken.Invalid {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"postgres at db.example.org", cfg.storeName(), cfg.DataDir} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestApp_Idle(t *testing.T) {
	cfg := testConfig(t)
	app := openApp(t, cfg, Options{})
	s, err := app.hub.Start(t.Context(), hearken.StartRequest{Principal: act.Local})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() {
		app.waitUntilIdle(ctx, 100*time.Millisecond)
		close(done)
	}()
	conn, _, err := pipe.Dial(t.Context(), cfg.DataDir, pipe.Hello{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.hub.Stop(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
		t.Fatal("the hub ended under a client")
	default:
	}
	conn.Close()
	<-done // nobody uses the hub any more
	if ctx.Err() != nil {
		t.Error("it ended only with its context")
	}
}

// A hub that a person starts takes over the capture of the one it replaces.
func TestScribe_TakenOver(t *testing.T) {
	ctx, cfg := t.Context(), testConfig(t)
	opts := Options{Providers: []hearken.Provider{stttest.Every("local", 0.5)}, Capture: silentCapture}
	ended, stop := context.WithCancel(ctx)
	opts.Handover = stop
	first, err := Open(ctx, cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Transports(ctx); err != nil {
		t.Fatal(err)
	}
	st, err := first.scribe.Start(ctx, hearken.CaptureRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.scribe.Tail(ctx, hearken.TailRequest{SinceLine: 1, Wait: 20 * time.Second, Filter: hearken.OnlyConfirmed}); err != nil {
		t.Fatal(err)
	}
	if _, err := first.handleControl(ctx, controlRequest{Op: "yield"}); err != nil || ended.Err() == nil {
		t.Fatalf("yield: %v, %v", err, ended.Err())
	}
	if err := first.Close(ctx); err != nil {
		t.Fatal(err)
	}
	opts.Handover = nil
	second, err := Open(ctx, cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Transports(ctx); err != nil {
		t.Fatal(err)
	}
	now, err := second.scribe.Status(ctx)
	if err != nil || !now.Running || now.Session != st.Session {
		t.Errorf("in the second hub: %+v, %v; was %s", now, err, st.Session)
	}
	if err := second.Close(ctx); err != nil {
		t.Fatal(err)
	}
	// A person stopped the second hub, so the microphone is off.
	third := openApp(t, cfg, opts)
	now, err = third.scribe.Status(ctx)
	if err != nil || now.Running || now.Session != st.Session {
		t.Errorf("in the third hub: %+v, %v", now, err)
	}
	if info, err := third.hub.Session(ctx, st.Session); err != nil || info.Status != hearken.Stopped {
		t.Errorf("the session: %+v, %v", info, err)
	}
}
