package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/source/file"
	"github.com/hearken-dev/hearken/source/listen"
	"github.com/hearken-dev/hearken/source/upload"
)

// compatAPIs are the APIs of other services that the hub offers with its own
// engines.
type compatAPIs struct {
	listen *listen.Handler // Deepgram's
	upload *upload.Handler // OpenAI's
}

// openCompat makes the handlers. How far a client may send ahead of the engine
// depends on the size of the spool.
func (a *App) openCompat() compatAPIs {
	ahead := min(2*time.Minute, time.Duration(a.cfg.SpoolSeconds)*time.Second/2)
	names := a.engines.names()
	engines := make([]upload.Engine, len(names))
	for i, name := range names {
		translates := name == "openai" && (a.cfg.OpenaiAPIKey != "" || a.cfg.OpenaiBaseURL != "")
		engines[i] = upload.Engine{Name: name, Translates: translates}
	}
	maxBytes, temp := int64(a.cfg.UploadMaxMB)<<20, filepath.Join(a.cfg.DataDir, "uploads")
	return compatAPIs{
		// First: it removes what an earlier hub left in the directory.
		upload: upload.New(upload.Config{
			Sessions: a.hub, Principal: audioSender, Engines: engines, Decode: decodeFile, Read: a.allSegments, Ahead: ahead,
			MaxBytes: maxBytes, TempDir: temp, Log: a.log,
		}),
		listen: listen.New(listen.Config{
			Sessions: a.hub, Principal: audioSender, Providers: names, Version: versionString(), Ahead: ahead,
			Decode: decodeBody(temp), MaxBytes: maxBytes, Log: a.log,
		}),
	}
}

// allSegments returns all entries of a session.
func (a *App) allSegments(ctx context.Context, id string) (all []hearken.Segment, err error) {
	err = a.hub.Segments(ctx, id, true, func(batch []hearken.Segment) error {
		all = append(all, batch...)
		return nil
	})
	return all, err
}

// mountCompat adds the handlers to the API. Programs made for those services send
// keys of those services, which a hub on this computer ignores.
func (a *App) mountCompat(server *api.API) {
	c := a.compat
	server.Mount("/v1/listen", a.countReading(c.listen), api.RouteAccess{Stream: true, AnyKey: true, Refuse: listen.Refuse})
	for _, route := range upload.Routes {
		server.Mount(route, a.countReading(c.upload), api.RouteAccess{Stream: true, AnyKey: true, Refuse: upload.WriteError})
	}
	// Other routes of those services do not exist here, with or without a key.
	for _, route := range listen.UnknownRoutes {
		server.Mount(route, http.HandlerFunc(listen.Unknown), api.RouteAccess{Open: true, Refuse: listen.Refuse})
	}
	for _, route := range append(upload.UnknownRoutes, "/v1/") {
		server.Mount(route, http.HandlerFunc(upload.Unknown), api.RouteAccess{Open: true, Refuse: upload.WriteError})
	}
}

func decodeFile(ctx context.Context, path string, sink func(channels ...[]int16) error) error {
	src, err := file.Open(path, file.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	return src.Read(ctx, sink)
}

// decodeBody decodes the recording that a request brings. What ffmpeg must decode
// is saved in dir.
func decodeBody(dir string) func(ctx context.Context, body io.Reader, separate bool, sink func(channels ...[]int16) error) error {
	return func(ctx context.Context, body io.Reader, separate bool, sink func(channels ...[]int16) error) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make directory for uploads: %w", err)
		}
		src, err := file.New(body, file.Options{Separate: separate, TempDir: dir})
		if err != nil {
			return err
		}
		defer src.Close()
		return src.Read(ctx, sink)
	}
}
