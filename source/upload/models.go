package upload

import (
	"net/http"
	"slices"
	"strings"
)

// A model is an engine in the form of OpenAI's API.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func newModel(id string) model { return model{ID: id, Object: "model", OwnedBy: "hearken"} }

func (h *Handler) listModels(w http.ResponseWriter, r *http.Request) {
	list := []model{}
	for _, e := range h.cfg.Engines {
		list = append(list, newModel(e.Name))
	}
	respond(w, "application/json", encode(struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", list}))
}

func (h *Handler) showModel(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("model")
	if _, _, err := h.engine(name, false); err != nil {
		h.fail(w, h.modelNotFound(name))
		return
	}
	respond(w, "application/json", encode(newModel(name)))
}

// genericModel reports whether a model name stands for any engine: one of
// OpenAI's own, or a Whisper, which clients name without knowing who answers.
func genericModel(name string) bool {
	return name == "whisper" || strings.HasPrefix(name, "whisper-") ||
		strings.HasPrefix(name, "gpt-") && strings.Contains(name, "transcribe")
}

// engine returns the provider that a model name means, or "" for the hub's
// default, and its own model, or "" for its default.
func (h *Handler) engine(name string, translate bool) (provider, own string, err error) {
	if name == "" {
		return "", "", invalid("model", "missing_required_parameter", "you must provide a model parameter")
	}
	if genericModel(name) {
		if !translate || len(h.cfg.Engines) > 0 && h.cfg.Engines[0].Translates {
			return "", "", nil
		}
		for _, e := range h.cfg.Engines {
			if e.Translates {
				return e.Name, "", nil
			}
		}
		return "", "", invalid("model", "unsupported_operation",
			"No engine of this hub can translate. Try: /v1/audio/transcriptions, or set OPENAI_BASE_URL to a server that has translations")
	}
	first, rest, _ := strings.Cut(name, "/")
	i := slices.IndexFunc(h.cfg.Engines, func(e Engine) bool { return e.Name == first })
	switch {
	case i < 0:
		return "", "", h.modelNotFound(name)
	case translate && !h.cfg.Engines[i].Translates:
		return "", "", invalid("model", "unsupported_operation",
			"The engine '%s' cannot translate. Try: /v1/audio/transcriptions, or the model whisper-1 for any engine that can", first)
	}
	return first, rest, nil
}

func (h *Handler) modelNotFound(name string) *failure {
	var names []string
	for _, e := range h.cfg.Engines {
		names = append(names, e.Name)
	}
	f := invalid("model", "model_not_found", "The model '%.100s' does not exist. Try: whisper-1, or an engine of this hub: %s", name, strings.Join(names, ", "))
	f.status = http.StatusNotFound
	return f
}
