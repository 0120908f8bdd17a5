package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
)

// collector gives Prometheus the state of the active sessions, as
// get_session_status shows it.
type collector struct {
	hub *live.Hub

	sessions, lag, dropped, unsaved, spool *prometheus.Desc
}

func newCollector(hub *live.Hub) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("hearken_"+name, help, labels, nil)
	}
	return &collector{
		hub:      hub,
		sessions: desc("active_sessions", "Active sessions, by health.", "health"),
		lag:      desc("lag_seconds", "Audio that the engine has not transcribed yet, in the session that is furthest behind."),
		dropped:  desc("dropped_seconds", "Audio of active sessions that was lost because the spool was full."),
		unsaved:  desc("unsaved_segments", "Confirmed segments that the store does not have yet."),
		spool:    desc("spool_bytes", "Audio that waits on disk or in memory."),
	}
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements [prometheus.Collector].
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	byHealth := map[string]int{"ok": 0}
	var lag, dropped, unsaved, spool float64
	sessions, err := c.hub.Sessions(ctx, hearken.SessionFilter{Status: hearken.Active})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.sessions, err)
		return
	}
	for _, s := range sessions {
		st, err := c.hub.Status(ctx, s.ID)
		if err != nil {
			continue // it ended meanwhile
		}
		byHealth[st.Health]++
		lag = max(lag, st.Lag)
		dropped += st.Dropped
		unsaved += float64(st.Unsaved)
		spool += float64(st.SpoolBytes)
	}
	for health, n := range byHealth {
		ch <- prometheus.MustNewConstMetric(c.sessions, prometheus.GaugeValue, float64(n), health)
	}
	ch <- prometheus.MustNewConstMetric(c.lag, prometheus.GaugeValue, lag)
	ch <- prometheus.MustNewConstMetric(c.dropped, prometheus.GaugeValue, dropped)
	ch <- prometheus.MustNewConstMetric(c.unsaved, prometheus.GaugeValue, unsaved)
	ch <- prometheus.MustNewConstMetric(c.spool, prometheus.GaugeValue, spool)
}
