package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hearken-dev/hearken"
)

// configEnv names the configuration file.
const configEnv = "HEARKEN_CONFIG"

// grammar is the command line.
type grammar struct {
	Stdio      bool   `help:"Be an MCP server on standard input and output: join the hub of the data directory, or start it."`
	ConfigFile string `name:"config" placeholder:"FILE" help:"Configuration file (HEARKEN_CONFIG). Default: hearken/hearken.toml in the user's configuration directory."`
	Detached   bool   `hidden:"" help:"Be the hub that --stdio starts."`
	Config     `embed:""`

	Serve      serveCmd      `cmd:"" default:"1" help:"Run the hub (the default)."`
	Transcribe transcribeCmd `cmd:"" help:"Transcribe sound files, without a hub."`
	Listen     listenCmd     `cmd:"" help:"Show live captions of this computer's microphone and system audio."`
	Scribe     scribeCmd     `cmd:"" help:"Start, stop and follow the transcription of this computer's sound, as the pscribe CLI does."`
	Sessions   sessionsCmd   `cmd:"" help:"List sessions, newest first."`
	Show       showCmd       `cmd:"" help:"Show what was said in a session; --follow for one that goes on."`
	Search     searchCmd     `cmd:"" help:"Find what was said, in all sessions."`
	Export     exportCmd     `cmd:"" help:"Write a session as txt, json, srt, vtt, md or toon."`
	Delete     deleteCmd     `cmd:"" help:"Delete sessions with everything that belongs to them."`
	Approve    approveCmd    `cmd:"" help:"Allow actions that wait for you."`
	Deny       denyCmd       `cmd:"" help:"Refuse actions that wait for you."`
	Actions    actionsCmd    `cmd:"" help:"List what agents asked to be done, and undo it."`
	Why        whyCmd        `cmd:"" help:"Tell how an action came about: words, decision, effect."`
	Grants     grantsCmd     `cmd:"" help:"List, make and revoke what is allowed without asking."`
	Pause      pauseCmd      `cmd:"" help:"Stop all actions at once."`
	Resume     resumeCmd     `cmd:"" help:"Let actions go on."`
	Pin        pinCmd        `cmd:"" help:"Set or change the PIN with which you allow actions."`
	Contacts   contactsCmd   `cmd:"" help:"The contact book: who may be written to by name."`
	Audit      auditCmd      `cmd:"" help:"Prove that nothing in the record of actions was changed."`
	Keys       keysCmd       `cmd:"" help:"Make, list and revoke keys for callers from outside."`
	Models     modelsCmd     `cmd:"" help:"Fetch, list and remove what the offline engine needs."`
	Settings   configCmd     `cmd:"" name:"config" help:"Show every setting, and where its value comes from."`
	Version    versionCmd    `cmd:"" help:"Show the version."`
}

// program is one run of the command.
type program struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	cfg            *Config
	flags          map[string]bool // settings that the command line gave
	configFile     string          // empty for the user's own
	log            *slog.Logger
	level          slog.LevelVar

	providers []hearken.Provider                             // in place of the real engines, for tests
	pinRounds int                                            // see [act.Owner], for tests
	fault     func(string)                                   // see [live.Config], for tests
	capture   func(context.Context) (hearken.Capture, error) // in place of the computer's own sound, for tests
}

// open starts a hub in this process.
func (p *program) open(ctx context.Context, opts Options) (*App, error) {
	opts.Log, opts.Providers, opts.Fault, opts.Capture, opts.PINRounds = p.log, p.providers, p.fault, p.capture, p.pinRounds
	return Open(ctx, p.cfg, opts)
}

// groups gives the settings their headings in the help.
var groups = kong.ExplicitGroups([]kong.Group{
	{Key: "doors", Title: "Doors:"},
	{Key: "hearing", Title: "Hearing:"},
	{Key: "acting", Title: "Acting:"},
	{Key: "keeping", Title: "Keeping:"},
	{Key: "running", Title: "Running:"},
})

// parse reads the command line and runs the command.
func (p *program) parse(ctx context.Context) error {
	var g grammar
	exit := exitCode(-1)
	parser, err := kong.New(&g,
		kong.Name("hearken"),
		kong.Description("Hearken hears, remembers, and lets agents and people at what was said."),
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(code int) { exit = exitCode(code) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.ValueFormatter(describe),
		kong.Help(helpFor),
		groups,
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(p, &g),
	)
	if err != nil {
		return err
	}
	kctx, err := parser.Parse(p.args)
	if exit >= 0 {
		return exit // the help was shown
	}
	if err != nil {
		return &usageError{err, "hearken --help"}
	}
	p.flags = map[string]bool{}
	for _, path := range kctx.Path {
		if path.Flag != nil {
			p.flags[path.Flag.Name] = true
		}
	}
	p.cfg = &g.Config
	file := g.ConfigFile
	if file == "" {
		file = os.Getenv(configEnv)
	}
	if err := p.load(file, p.flags); err != nil {
		return err
	}
	if g.Stdio {
		return p.stdio(ctx)
	}
	if !strings.HasPrefix(kctx.Command(), "serve") && p.cfg.sources["log-level"] == "default" {
		p.level.Set(slog.LevelWarn) // a command speaks for itself
	}
	return kctx.Run()
}

// load reads the settings and prepares the log.
func (p *program) load(file string, flags map[string]bool) error {
	if p.cfg == nil {
		p.cfg = &Config{}
	}
	if file != "" {
		var err error
		if file, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	p.configFile = file
	if err := p.cfg.load(file, flags); err != nil {
		return err
	}
	if err := p.level.UnmarshalText([]byte(p.cfg.LogLevel)); err != nil {
		return err
	}
	opts := &slog.HandlerOptions{Level: &p.level}
	var h slog.Handler = slog.NewTextHandler(p.stderr, opts)
	if p.cfg.LogFormat == "json" {
		h = slog.NewJSONHandler(p.stderr, opts)
	}
	p.log = slog.New(h)
	return nil
}

// describe writes a flag's help with its variable and its allowed values.
func describe(v *kong.Value) string {
	help := v.Help
	if of := v.Tag.Get("of"); of != "" {
		help += " One of " + strings.ReplaceAll(of, ",", ", ") + "."
	}
	if env := v.Tag.Get("var"); env != "" {
		help += " ($" + env + ")"
	}
	return help
}

// helpFor shows the settings only with serve and at the top, where they are
// looked for; other commands know them too.
func helpFor(options kong.HelpOptions, ctx *kong.Context) error {
	if cmd := ctx.Command(); cmd != "" && !strings.HasPrefix(cmd, "serve") {
		for _, f := range ctx.Model.Flags {
			if f.Tag.Has("var") && f.Name != "data-dir" || f.Name == "stdio" {
				f.Hidden = true
			}
		}
	}
	return kong.DefaultHelpPrinter(options, ctx)
}
