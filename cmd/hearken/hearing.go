package main

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/stt/language"
)

// hearing describes how a capture is transcribed.
func (a *App) hearing(st *live.Status) string {
	return "Listening with " + a.describeEngine(st.Engine, st.Session.Language) + " " + a.describeWay(st.Engine, st.Remote)
}

// printEngines shows which engine hears what, and where the audio goes.
func (a *App) printEngines(w io.Writer) {
	line := func(label string, chain []string) {
		engine := chain[0]
		fmt.Fprintf(w, "  %-19s %s %s\n", label, a.describeEngine(engine, a.cfg.languageOf(engine)), a.describeWay(engine, a.engines.remote(chain)))
	}
	if _, native := a.scribe.(*scribe.Scribe); !native {
		fmt.Fprintf(w, "  %-19s ParrotScribe, with its own settings.\n", "microphone")
		line("other audio", a.engines.chain)
		return
	}
	if slices.Equal(a.engines.captures, a.engines.chain) {
		line("engine", a.engines.chain)
		return
	}
	line("microphone", a.engines.captures)
	line("other audio", a.engines.chain)
}

// describeEngine names an engine and a language: "Moonshine (offline), English."
func (a *App) describeEngine(engine, tag string) string {
	return a.engineTitle(engine) + ", " + languageTitle(tag) + "."
}

// describeWay says whether audio leaves this computer. The remote engines are
// those that may get it, now or when the one in use fails.
func (a *App) describeWay(engine string, remote []string) string {
	var others []string
	for _, name := range remote {
		if name != engine {
			others = append(others, a.engineTitle(name))
		}
	}
	text := "Audio stays on this computer."
	if slices.Contains(remote, engine) {
		text = "Audio goes to " + a.engineTitle(engine) + "."
	}
	if len(others) > 0 {
		text += " If that engine fails, it goes to " + strings.Join(others, " or ") + "."
	}
	return text
}

// engineTitle is what people call an engine.
func (a *App) engineTitle(name string) string {
	title := map[string]string{"local": "Moonshine (offline)", "deepgram": "Deepgram", "openai": "OpenAI", "null": "no engine (null)"}[name]
	if title == "" {
		return name
	}
	base := map[string]string{"deepgram": a.cfg.DeepgramBaseURL, "openai": a.cfg.OpenaiBaseURL}[name]
	if u, err := url.Parse(base); err == nil && u.Host != "" && !strings.HasSuffix(u.Hostname(), "."+name+".com") {
		return "the server at " + u.Host
	}
	return title
}

// languageTitle is what people call a language: "Portuguese (pt-BR)".
func languageTitle(tag string) string {
	name := language.Name(tag)
	if name == "" {
		return tag
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if tag != language.Primary(tag) {
		name += " (" + tag + ")"
	}
	return name
}
