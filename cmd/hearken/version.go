package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/hearken-dev/hearken/pipe"
)

type versionCmd struct {
	JSON bool `help:"Write JSON."`
	Hub  bool `help:"Show the version of the running hub, if any."`
}

func (c *versionCmd) Run(ctx context.Context, p *program) error {
	if c.Hub {
		return c.hub(ctx, p)
	}
	v := versionString()
	if c.JSON {
		return p.writeJSON(map[string]string{"version": v, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	fmt.Fprintf(p.stdout, "hearken %s (%s, %s/%s)\n", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// hub shows the running hub. It starts none.
func (c *versionCmd) hub(ctx context.Context, p *program) error {
	conn, hub, err := pipe.Dial(ctx, p.cfg.DataDir, p.commandHello(pipe.WantControl))
	if errors.Is(err, pipe.ErrNoHub) {
		if h, ok := pipe.ReadHubInfo(p.cfg.DataDir); ok && pipe.Alive(h.PID) {
			fmt.Fprintf(p.stdout, "the hub is starting or stopping (process %d)\n", h.PID)
			return nil
		}
		fmt.Fprintf(p.stdout, "no hub is running for %s\n", p.cfg.DataDir)
		return nil
	}
	if err != nil {
		return err
	}
	conn.Close()
	if c.JSON {
		return p.writeJSON(hub)
	}
	fmt.Fprintf(p.stdout, "hearken %s (process %d, %s)\n", hub.Version, hub.PID, hub.HTTP)
	return nil
}
