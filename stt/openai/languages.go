package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/language"
)

// detectsLanguage reports whether the server should detect the language.
func detectsLanguage(tag string) bool {
	return slices.Contains([]string{"", "auto", "multi", "und"}, strings.ToLower(tag))
}

// serverLanguage is what the server calls a language; empty if it should detect
// it. Only the languages of known models are checked.
func serverLanguage(model, tag string) (string, error) {
	if detectsLanguage(tag) {
		return "", nil
	}
	name := strings.ToLower(model)
	first := language.Primary(tag)
	switch {
	case !strings.Contains(name, "whisper") && !isOpenAIModel(name):
		return language.WhisperCode(tag), nil
	case first != "en" && (strings.HasSuffix(name, ".en") || strings.HasSuffix(name, "-en")):
		return "", hearken.Errorf(hearken.ProviderNotConfigured, "The model %s knows only English, not %q.", model, tag).
			WithTry("another model")
	case language.Name(tag) == "":
		return "", hearken.Errorf(hearken.ProviderNotConfigured, "The model %s has no language %q.", model, tag).
			WithTry("a tag such as en, pt-BR, ja or sv, or another provider")
	}
	return language.WhisperCode(tag), nil
}

// isOpenAIModel reports whether a model is one of OpenAI's newer ones.
func isOpenAIModel(name string) bool { return strings.HasPrefix(name, "gpt-") }

// detectedLanguage is the tag of the language that a server reports, by tag or
// by name; the session's tag if it is the same language, or an unknown one.
func detectedLanguage(said, session string) string {
	tag := cmp.Or(language.Tag(said), language.Primary(strings.TrimSpace(said)))
	if language.Name(tag) == "" || language.Primary(session) == tag {
		return session
	}
	return tag
}
