package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// healthz says that the process answers, and nothing else.
func (a *API) healthz(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusOK, "ok\n")
}

// readyz says whether the hub can do its work. Why not is for the log: this
// door is open to everybody.
func (a *API) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if a.draining.Load() {
		plain(w, http.StatusServiceUnavailable, "stopping\n")
		return
	}
	if a.cfg.Ready != nil {
		if err := a.cfg.Ready(ctx); err != nil {
			a.log.Warn("not ready", "error", err)
			plain(w, http.StatusServiceUnavailable, "not ready\n")
			return
		}
	}
	plain(w, http.StatusOK, "ready\n")
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

// logRequest writes the access log. The query is left out, because it may hold
// a ticket or what somebody searched for.
func (a *API) logRequest(rt *route, r *http.Request, res *response, start time.Time) {
	if !a.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	who := ""
	if res.id != nil {
		who = res.id.Principal
	}
	a.log.Debug("request", "route", rt.name, "method", r.Method, "path", r.URL.Path, "status", res.status,
		"principal", who, "remote", r.RemoteAddr, "duration_ms", time.Since(start).Milliseconds())
}
