package main

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

// configEnv is the variable that names the configuration file.
const configEnv = "HEARKEN_CONFIG"

// grammar is the command line.
type grammar struct {
	Stdio      bool   `help:"Run as an MCP server on standard input and output. It connects to the running hub, or starts one."`
	ConfigFile string `name:"config" placeholder:"FILE" help:"Configuration file (HEARKEN_CONFIG). Default: hearken/hearken.toml in your configuration directory."`
	Detached   bool   `hidden:"" help:"Run as the hub that --stdio starts."`
	Config     `embed:""`

	Serve      serveCmd       `cmd:"" default:"1" help:"Run the hub (the default)."`
	Transcribe transcribeCmd  `cmd:"" help:"Transcribe audio files. Needs no running hub."`
	Listen     listenCmd      `cmd:"" help:"Show live captions of this computer's microphone and system audio."`
	Scribe     scribeCmd      `cmd:"" help:"Control the transcription of this computer's audio, like the pscribe CLI."`
	Sessions   sessionsCmd    `cmd:"" help:"List sessions, newest first."`
	Show       showCmd        `cmd:"" help:"Show the transcript of a session. Use --follow while it is active."`
	Search     searchCmd      `cmd:"" help:"Search all transcripts."`
	Export     exportCmd      `cmd:"" help:"Write a session as txt, json, srt, vtt, md or toon."`
	Delete     deleteCmd      `cmd:"" help:"Delete sessions and everything that belongs to them."`
	Approve    approveCmd     `cmd:"" help:"Approve actions that are waiting for you."`
	Deny       denyCmd        `cmd:"" help:"Deny actions that are waiting for you."`
	Undo       actionsUndoCmd `cmd:"" help:"Undo an appointment or a reminder. Within a day, what a grant allowed needs no PIN."`
	Actions    actionsCmd     `cmd:"" help:"List, cancel and undo what agents requested."`
	Why        whyCmd         `cmd:"" help:"Explain an action: the words behind it, the decision and the result."`
	Grants     grantsCmd      `cmd:"" help:"Manage what agents may do without asking you."`
	Pause      pauseCmd       `cmd:"" help:"Stop all actions immediately."`
	Resume     resumeCmd      `cmd:"" help:"Allow actions again after a pause."`
	Pin        pinCmd         `cmd:"" help:"Set or change the PIN that approves agents' requests."`
	Contacts   contactsCmd    `cmd:"" help:"Manage the contact book, so that agents can address people by name."`
	Audit      auditCmd       `cmd:"" help:"Verify and export the tamper-evident record of all actions."`
	Keys       keysCmd        `cmd:"" help:"Manage the keys that let remote clients in."`
	Models     modelsCmd      `cmd:"" help:"Manage the offline engine's models."`
	Store      storeCmd       `cmd:"" help:"Start a new store if the old one is lost."`
	Settings   configCmd      `cmd:"" name:"config" help:"Show every setting and where its value comes from."`
	Version    versionCmd     `cmd:"" help:"Show the version."`
}

// program is one run of the command.
type program struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	cfg            *Config
	flags          map[string]bool // names of the settings on the command line
	configFile     string          // empty: the user's own
	log            *slog.Logger
	level          slog.LevelVar

	override func(*Options) // changes the hub in tests; may be nil
}

// open starts a hub in this process.
func (p *program) open(ctx context.Context, opts Options) (*App, error) {
	opts.Log = p.log
	if p.override != nil {
		p.override(&opts)
	}
	return Open(ctx, p.cfg, opts)
}

// groupTitles are the headings of the settings' groups.
var groupTitles = map[string]string{
	"network":       "Network",
	"transcription": "Transcription",
	"actions":       "Actions",
	"storage":       "Storage",
	"running":       "Running",
}

// helpGroups makes the help show the settings in groups.
func helpGroups() kong.Option {
	var groups []kong.Group
	for key, title := range groupTitles {
		groups = append(groups, kong.Group{Key: key, Title: title + ":"})
	}
	return kong.ExplicitGroups(groups)
}

// parse reads the command line and runs the command.
func (p *program) parse(ctx context.Context) error {
	var g grammar
	exit := exitCode(-1)
	parser, err := kong.New(&g,
		kong.Name("hearken"),
		kong.Description("Hearken transcribes live speech, stores it, and gives you and your agents access to what was said."),
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(code int) { exit = exitCode(code) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.ValueFormatter(flagHelp),
		kong.Help(printHelp),
		helpGroups(),
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
		return usageError{err}
	}
	p.flags = map[string]bool{}
	for _, path := range kctx.Path {
		if path.Flag != nil {
			p.flags[path.Flag.Name] = true
		}
	}
	p.cfg = &g.Config
	if err := p.load(cmp.Or(g.ConfigFile, os.Getenv(configEnv)), p.flags); err != nil {
		return err
	}
	if g.Stdio {
		return p.stdio(ctx)
	}
	if !strings.HasPrefix(kctx.Command(), "serve") && p.cfg.sources["log-level"] == "default" {
		p.level.Set(slog.LevelWarn) // a command prints its own results
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

// flagHelp returns a flag's help with its allowed values and its variable.
func flagHelp(v *kong.Value) string {
	help := v.Help
	if of := v.Tag.Get("of"); of != "" {
		help += " One of " + strings.ReplaceAll(of, ",", ", ") + "."
	}
	if env := v.Tag.Get("var"); env != "" {
		help += " ($" + env + ")"
	}
	return help
}

// printHelp shows the settings only with serve and at the top, though all
// commands accept them.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if cmd := ctx.Command(); cmd != "" && !strings.HasPrefix(cmd, "serve") {
		for _, f := range ctx.Model.Flags {
			if f.Tag.Has("var") && f.Name != "data-dir" || f.Name == "stdio" {
				f.Hidden = true
			}
		}
	}
	return kong.DefaultHelpPrinter(options, ctx)
}
