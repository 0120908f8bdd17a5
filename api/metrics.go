package api

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hearken-dev/hearken"
)

// metrics counts requests, connections and sessions.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refusals *prometheus.CounterVec
	overflow prometheus.Counter
	sessions prometheus.Gauge
	sockets  prometheus.Gauge
	open     atomic.Int64 // connections
	answered atomic.Int64 // requests; streams count when they end
}

func newMetrics(reg *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hearken_http_requests_total", Help: "Requests answered, by route and class of status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hearken_http_request_seconds", Help: "Time to answer a request, streams left out.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5, 20},
		}, []string{"route"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hearken_http_refused_total", Help: "Requests refused by the guard, by reason.",
		}, []string{"reason"}),
		overflow: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hearken_http_connections_refused_total", Help: "Connections closed because there were too many.",
		}),
		sessions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hearken_mcp_sessions", Help: "MCP sessions over HTTP.",
		}),
		sockets: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hearken_mcp_websockets", Help: "MCP connections over WebSocket.",
		}),
	}
	connections := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hearken_http_connections", Help: "Open connections on all listeners.",
	}, func() float64 { return float64(m.open.Load()) })
	reg.MustRegister(m.requests, m.seconds, m.refusals, connections, m.overflow, m.sessions, m.sockets)
	return m
}

func (m *metrics) refused(code hearken.Code) {
	if code == "" {
		code = "internal"
	}
	m.refusals.WithLabelValues(string(code)).Inc()
}

// A routeMeter holds the counters of one route, looked up in advance.
type routeMeter struct {
	byClass [6]prometheus.Counter
	seconds prometheus.Observer
}

func (m *metrics) route(name string) routeMeter {
	r := routeMeter{seconds: m.seconds.WithLabelValues(name)}
	for i, class := range []string{"1xx", "2xx", "3xx", "4xx", "5xx"} {
		r.byClass[i+1] = m.requests.WithLabelValues(name, class)
	}
	return r
}

func (r *routeMeter) count(status int, d time.Duration, stream bool) {
	if status == 0 {
		status = http.StatusOK
	}
	if class := status / 100; class > 0 && class < len(r.byClass) {
		r.byClass[class].Inc()
	}
	if !stream {
		r.seconds.Observe(d.Seconds())
	}
}

// A limitListener counts connections and closes those above the limit at once: a
// queue would only hide that there are too many.
type limitListener struct {
	net.Listener
	metrics *metrics
	limit   int64
}

func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.metrics.open.Add(1) > l.limit {
			l.metrics.open.Add(-1)
			l.metrics.overflow.Inc()
			c.Close()
			continue
		}
		return &limitConn{Conn: c, metrics: l.metrics}, nil
	}
}

type limitConn struct {
	net.Conn
	metrics *metrics
	once    sync.Once
}

func (c *limitConn) Close() error {
	c.once.Do(func() { c.metrics.open.Add(-1) })
	return c.Conn.Close()
}

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
