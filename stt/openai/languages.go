package openai

import (
	"strings"

	"github.com/hearken-dev/hearken"
)

// languages are those that Whisper was trained on, by tag, with the names by
// which OpenAI's own server tells which one it heard.
var languages = map[string]string{
	"af": "afrikaans", "am": "amharic", "ar": "arabic", "as": "assamese", "az": "azerbaijani",
	"ba": "bashkir", "be": "belarusian", "bg": "bulgarian", "bn": "bengali", "bo": "tibetan",
	"br": "breton", "bs": "bosnian", "ca": "catalan", "cs": "czech", "cy": "welsh",
	"da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
	"et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fo": "faroese",
	"fr": "french", "gl": "galician", "gu": "gujarati", "ha": "hausa", "haw": "hawaiian",
	"he": "hebrew", "hi": "hindi", "hr": "croatian", "ht": "haitian creole", "hu": "hungarian",
	"hy": "armenian", "id": "indonesian", "is": "icelandic", "it": "italian", "ja": "japanese",
	"jw": "javanese", "ka": "georgian", "kk": "kazakh", "km": "khmer", "kn": "kannada",
	"ko": "korean", "la": "latin", "lb": "luxembourgish", "ln": "lingala", "lo": "lao",
	"lt": "lithuanian", "lv": "latvian", "mg": "malagasy", "mi": "maori", "mk": "macedonian",
	"ml": "malayalam", "mn": "mongolian", "mr": "marathi", "ms": "malay", "mt": "maltese",
	"my": "myanmar", "ne": "nepali", "nl": "dutch", "nn": "nynorsk", "no": "norwegian",
	"oc": "occitan", "pa": "punjabi", "pl": "polish", "ps": "pashto", "pt": "portuguese",
	"ro": "romanian", "ru": "russian", "sa": "sanskrit", "sd": "sindhi", "si": "sinhala",
	"sk": "slovak", "sl": "slovenian", "sn": "shona", "so": "somali", "sq": "albanian",
	"sr": "serbian", "su": "sundanese", "sv": "swedish", "sw": "swahili", "ta": "tamil",
	"te": "telugu", "tg": "tajik", "th": "thai", "tk": "turkmen", "tl": "tagalog",
	"tr": "turkish", "tt": "tatar", "uk": "ukrainian", "ur": "urdu", "uz": "uzbek",
	"vi": "vietnamese", "yi": "yiddish", "yo": "yoruba", "yue": "cantonese", "zh": "chinese",
}

var (
	// sameAs are tags that people use for languages that Whisper calls
	// otherwise.
	sameAs = map[string]string{"nb": "no", "fil": "tl", "iw": "he", "in": "id", "jv": "jw", "cmn": "zh", "mo": "ro", "sh": "hr"}
	// alsoCalled are further names of a language.
	alsoCalled = map[string]string{
		"burmese": "my", "castilian": "es", "flemish": "nl", "haitian": "ht", "letzeburgesch": "lb", "mandarin": "zh",
		"moldavian": "ro", "moldovan": "ro", "panjabi": "pa", "pushto": "ps", "sinhalese": "si", "valencian": "ca",
	}
	byName = func() map[string]string {
		m := make(map[string]string)
		for tag, name := range languages {
			m[name] = tag
		}
		return m
	}()
)

// undecided tells whether the server is to find out the language.
func undecided(tag string) bool {
	switch strings.ToLower(tag) {
	case "", "auto", "multi", "und":
		return true
	}
	return false
}

// primary is the first part of a tag, as Whisper calls it.
func primary(tag string) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	if same := sameAs[first]; same != "" {
		return same
	}
	return first
}

// language is what the server calls a language; empty if it is to find out.
// Only of the models that are known here is it known which they have.
func language(model, tag string) (string, error) {
	if undecided(tag) {
		return "", nil
	}
	name := strings.ToLower(model)
	first := primary(tag)
	switch {
	case !strings.Contains(name, "whisper") && !openAIs(name):
		return first, nil
	case first != "en" && (strings.HasSuffix(name, ".en") || strings.HasSuffix(name, "-en")):
		return "", hearken.Errorf(hearken.ProviderNotConfigured, "The model %s has no language but English, and not %q.", model, tag).
			WithTry("another model")
	case languages[first] == "":
		return "", hearken.Errorf(hearken.ProviderNotConfigured, "The model %s has no language %q.", model, tag).
			WithTry("a tag such as en, pt-BR, ja or sv, or another provider")
	}
	return first, nil
}

// openAIs tells whether a model is one of the newer ones of OpenAI's own.
func openAIs(name string) bool { return strings.HasPrefix(name, "gpt-") }

// heardLanguage is the tag of the language that a server says it heard, by tag
// or by name; that of the session if it is the same language, or if nothing is
// known.
func heardLanguage(said, session string) string {
	said = strings.ToLower(strings.TrimSpace(said))
	tag := said
	if byName[said] != "" {
		tag = byName[said]
	} else if alsoCalled[said] != "" {
		tag = alsoCalled[said]
	}
	tag = primary(tag)
	if languages[tag] == "" || primary(session) == tag {
		return session
	}
	return tag
}
