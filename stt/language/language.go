// Package language knows the languages of Whisper: their tags and their names.
// Servers and clients of OpenAI's API use both.
package language

import (
	"cmp"
	"strings"
)

// names are the languages that Whisper was trained on, by tag.
var names = map[string]string{
	"af": "afrikaans", "am": "amharic", "ar": "arabic", "as": "assamese", "az": "azerbaijani",
	"ba": "bashkir", "be": "belarusian", "bg": "bulgarian", "bn": "bengali", "bo": "tibetan",
	"br": "breton", "bs": "bosnian", "ca": "catalan", "cs": "czech", "cy": "welsh",
	"da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
	"et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fo": "faroese",
	"fr": "french", "gl": "galician", "gu": "gujarati", "ha": "hausa", "haw": "hawaiian",
	"he": "hebrew", "hi": "hindi", "hr": "croatian", "ht": "haitian creole", "hu": "hungarian",
	"hy": "armenian", "id": "indonesian", "is": "icelandic", "it": "italian", "ja": "japanese",
	"jv": "javanese", "ka": "georgian", "kk": "kazakh", "km": "khmer", "kn": "kannada",
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

// otherTags are older tags and those of variants that Whisper does not tell
// apart.
var otherTags = map[string]string{
	"nb": "no", "fil": "tl", "iw": "he", "in": "id", "jw": "jv", "cmn": "zh", "mo": "ro", "sh": "hr",
}

// tags are the languages by name, with the further names that Whisper knows.
var tags = func() map[string]string {
	m := map[string]string{
		"burmese": "my", "castilian": "es", "flemish": "nl", "haitian": "ht", "letzeburgesch": "lb", "mandarin": "zh",
		"moldavian": "ro", "moldovan": "ro", "panjabi": "pa", "pushto": "ps", "sinhalese": "si", "valencian": "ca",
	}
	for tag, name := range names {
		m[name] = tag
	}
	return m
}()

// Primary is the language of a tag without script and region, such as "pt" of
// "pt-BR", and "no" of the tag "nb".
func Primary(tag string) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	return cmp.Or(otherTags[first], first)
}

// Name is Whisper's English name of the language of a tag, in lower case;
// empty if Whisper does not know the language.
func Name(tag string) string { return names[Primary(tag)] }

// Tag is the tag of a language by one of its names, in any case; empty if
// there is none of that name.
func Tag(name string) string { return tags[strings.ToLower(strings.TrimSpace(name))] }

// WhisperCode is what Whisper calls the language of a tag, whether or not it
// knows the language: the tag itself in all cases but one.
func WhisperCode(tag string) string {
	if tag = Primary(tag); tag == "jv" {
		return "jw"
	}
	return tag
}
