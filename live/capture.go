package live

import (
	"errors"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// offline reports whether an engine keeps all audio on this computer.
func (h *Hub) offline(name string) bool {
	p := h.provider(name)
	return p != nil && p.Capabilities().Offline
}

// remoteEngines are the engines among names that take audio to another computer.
func (h *Hub) remoteEngines(names []string) []string {
	remote := []string{}
	for _, name := range names {
		if h.provider(name) != nil && !h.offline(name) {
			remote = append(remote, name)
		}
	}
	return remote
}

// checkCapture reports whether this computer's own audio may go to the engines
// that a request asks for. Remote ones need a word of the owner: what an agent
// asks for is not enough, nor is a key that happens to be there.
func (h *Hub) checkCapture(req hearken.StartRequest) error {
	named := splitNames(req.Named)
	if len(named) == 0 {
		named = h.cfg.Captures
	}
	for _, name := range h.remoteEngines(splitNames(req.Provider)) {
		if !slices.Contains(named, name) {
			return hearken.Errorf(hearken.Forbidden, "this session is a recording of this computer's own audio, which stays here: the owner has not named the engine %s for it.", name).
				WithTry("TRANSCRIPTION_PROVIDER=%s in the hub's settings, or another engine", name)
		}
	}
	return nil
}

// explainRefusal adds to the error of a capture that no engine can serve why no
// remote engine took over, and what the owner can do about it.
func (s *session) explainRefusal(err error) error {
	e, ok := errors.AsType[*hearken.Error](err)
	if !ok || e.Code != hearken.ProviderNotConfigured || !s.info.Config.Capture || len(s.hub.remoteEngines(s.engines)) > 0 {
		return err
	}
	ways := []string{"hearken models pull", "another DEFAULT_LANGUAGE"}
	var remote []string
	for _, p := range s.hub.cfg.Providers {
		if !p.Capabilities().Offline {
			remote = append(remote, p.Name())
		}
	}
	if len(remote) > 0 {
		ways = append(ways, "TRANSCRIPTION_PROVIDER="+strings.Join(remote, " or ")+", which sends the audio to another computer")
	}
	return hearken.Errorf(e.Code, "%s This computer's own audio goes to no other engine unless TRANSCRIPTION_PROVIDER names one.", e.Message).
		WithTry("%s", strings.Join(ways[:len(ways)-1], ", ")+", or "+ways[len(ways)-1])
}
