package openai

import (
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/language"
)

// undecided tells whether the server is to find out the language.
func undecided(tag string) bool {
	switch strings.ToLower(tag) {
	case "", "auto", "multi", "und":
		return true
	}
	return false
}

// serverLanguage is what the server calls a language; empty if it is to find out.
// Only of the models that are known here is it known which they have.
func serverLanguage(model, tag string) (string, error) {
	if undecided(tag) {
		return "", nil
	}
	name := strings.ToLower(model)
	first := language.Primary(tag)
	switch {
	case !strings.Contains(name, "whisper") && !openAIs(name):
		return language.WhisperCode(tag), nil
	case first != "en" && (strings.HasSuffix(name, ".en") || strings.HasSuffix(name, "-en")):
		return "", hearken.Errorf(hearken.ProviderNotConfigured, "The model %s has no language but English, and not %q.", model, tag).
			WithTry("another model")
	case language.Name(tag) == "":
		return "", hearken.Errorf(hearken.ProviderNotConfigured, "The model %s has no language %q.", model, tag).
			WithTry("a tag such as en, pt-BR, ja or sv, or another provider")
	}
	return language.WhisperCode(tag), nil
}

// openAIs tells whether a model is one of the newer ones of OpenAI's own.
func openAIs(name string) bool { return strings.HasPrefix(name, "gpt-") }

// detectedLanguage is the tag of the language that a server says it heard, by tag
// or by name; that of the session if it is the same language, or if nothing is
// known.
func detectedLanguage(said, session string) string {
	tag := language.Tag(said)
	if tag == "" {
		tag = language.Primary(strings.TrimSpace(said))
	}
	if language.Name(tag) == "" || language.Primary(session) == tag {
		return session
	}
	return tag
}
