package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// healthz reports that the process answers, and nothing else.
func (a *API) healthz(w http.ResponseWriter, _ *http.Request) {
	writeText(w, http.StatusOK, "ok\n")
}

// readyz reports whether the hub can do its work. The reason goes only to the
// log, because this route is open to everybody.
func (a *API) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if a.draining.Load() {
		writeText(w, http.StatusServiceUnavailable, "stopping\n")
		return
	}
	if a.cfg.Ready != nil {
		if err := a.cfg.Ready(ctx); err != nil {
			a.log.Warn("not ready", "error", err)
			writeText(w, http.StatusServiceUnavailable, "not ready\n")
			return
		}
	}
	writeText(w, http.StatusOK, "ready\n")
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

// logRequest writes the access log. It leaves the query out, which may contain a
// ticket or a search.
func (a *API) logRequest(rt *route, r *http.Request, res *response, start time.Time) {
	if !a.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	principal := ""
	if res.caller != nil {
		principal = res.caller.Principal
	}
	a.log.Debug("request", "route", rt.name, "method", r.Method, "path", r.URL.Path, "status", res.status,
		"principal", principal, "remote", r.RemoteAddr, "duration_ms", time.Since(start).Milliseconds())
}
