package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/pipe"
)

// clientSettings are sent to the hub in the hello. A hub that this process
// starts must not apply them to other clients.
var clientSettings = []string{"transcription-provider", "deepgram-api-key", "default-language", "toolsets"}

// stdio serves MCP on standard input and output by relaying it to the hub.
func (p *program) stdio(ctx context.Context) error {
	if !p.cfg.Spawn {
		return p.serveInProcess(ctx, errors.New("HEARKEN_SPAWN is false"))
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		conn, _, err := pipe.DialOrStart(ctx, p.cfg.DataDir, p.hello(), p.spawn)
		return conn, err
	}
	conn, err := dial(ctx)
	if errors.Is(err, pipe.ErrSpawn) {
		return p.serveInProcess(ctx, err)
	}
	if err != nil {
		return err
	}
	relay := &pipe.Relay{Dial: dial, Log: p.log}
	err = relay.Run(ctx, conn, p.stdin, p.stdout)
	if ctx.Err() != nil {
		return nil // agents end their servers with a signal
	}
	return err
}

// spawn starts a hub that outlives this process.
func (p *program) spawn(ctx context.Context) error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("%w: %w", pipe.ErrSpawn, err)
	}
	args, env := p.hubCommand()
	return pipe.Spawn(ctx, p.cfg.DataDir, path, args, env)
}

// hubCommand returns the arguments and the environment of the hub to start:
// this process's own, without its client settings.
func (p *program) hubCommand() (args, env []string) {
	args = []string{"serve", "--detached", "--data-dir=" + p.cfg.DataDir, "--key-dir=" + p.cfg.KeyDir}
	values := reflect.ValueOf(p.cfg).Elem()
	drop := []string{"TRANSPORT"}
	for _, s := range settings() {
		if slices.Contains(clientSettings, s.name) {
			drop = append(drop, s.env, s.env+"_FILE")
		} else if p.flags[s.name] && !slices.Contains([]string{"data-dir", "key-dir", "transport"}, s.name) {
			args = append(args, "--"+s.name+"="+formatValue(values.Field(s.index).Interface()))
		}
	}
	if p.configFile != "" {
		args = append(args, "--config="+p.configFile)
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(drop, name) {
			env = append(env, kv)
		}
	}
	return args, env
}

// serveInProcess runs the hub in this process, where no other process may be
// started. Other processes can join it until it ends.
func (p *program) serveInProcess(ctx context.Context, reason error) error {
	relay := &pipe.Relay{Log: p.log, Dial: func(context.Context) (net.Conn, error) {
		return nil, hearken.Errorf(hearken.Busy, "The hub ended.").WithTry("start this command again")
	}}
	conn, _, err := pipe.Dial(ctx, p.cfg.DataDir, p.hello())
	if err == nil {
		return relay.Run(ctx, conn, p.stdin, p.stdout)
	}
	if !errors.Is(err, pipe.ErrNoHub) {
		return err
	}
	app, err := p.open(ctx, Options{LazyEngine: true})
	if err != nil {
		return err
	}
	p.log.Warn("the hub runs in this process and ends with it", "reason", reason)
	if conn, err = app.connect(ctx, p.hello()); err == nil {
		err = relay.Run(ctx, conn, p.stdin, p.stdout)
	}
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, app.closeInTime())
}
