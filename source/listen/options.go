package listen

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// options are what the query of a stream asks for.
type options struct {
	hearken.StartRequest
	audioFormat audioFormat
	channels    int // of the results, as far as the query says

	interim      bool
	vadEvents    bool
	diarize      bool
	punctuate    bool // punctuation and capitals stay
	paragraphs   bool // of a recording
	utterances   bool // of a recording
	multilingual bool
	endpointing  bool
	pause        float64 // in seconds: it ends an utterance
	utteranceEnd float64 // in seconds; 0 for none
	extra        map[string]string
}

// An audioFormat is how the audio is encoded.
type audioFormat struct {
	audio.Format
	container bool // only a container is accepted
	mix       bool // two channels become one
}

// maxVocabulary is how many terms a stream may name.
const maxVocabulary = 500

// minSilence is the shortest pause after which a result gets speech_final
// although the engine found no endpoint.
const minSilence = 0.5

// parseOptions reads the query of a stream.
func parseOptions(raw string, providers []string) (options, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return options{}, hearken.Errorf(hearken.Invalid, "The query cannot be parsed.")
	}
	q := &query{Values: values}
	o := options{
		interim:   q.flag("interim_results"),
		vadEvents: q.flag("vad_events"),
		diarize:   q.flag("diarize"),
		punctuate: q.flag("punctuate"),
		extra:     map[string]string{},
	}
	o.paragraphs, o.utterances = q.flag("paragraphs"), q.flag("utterances")
	if q.flag("smart_format") {
		o.paragraphs = true
	}
	if o.paragraphs {
		o.punctuate = true // as at Deepgram: paragraphs are made of sentences
	}
	switch q.Get("diarize_model") {
	case "", "false":
	case "latest", "v1", "true":
		o.diarize = true
	default:
		q.invalidValue("diarize_model")
	}
	o.Language = q.Get("language")
	o.multilingual = strings.EqualFold(o.Language, "multi")
	o.Title = strings.Join(q.Values["tag"], ", ")
	o.Vocabulary = vocabulary(q.Values)
	if len(o.Vocabulary) > maxVocabulary {
		q.fail("%d terms are too many; the most are %d.", len(o.Vocabulary), maxVocabulary)
	}
	for _, pair := range q.Values["extra"] {
		name, value, _ := strings.Cut(pair, ":")
		o.extra[name] = value
	}
	o.readTiming(q)
	o.readAudio(q)
	o.checkUnsupported(q)
	o.Provider, o.Model, err = providerAndModel(q.Get("model"), providers)
	if q.err == nil && err != nil {
		q.err = err
	}
	return o, q.err
}

// readTiming reads what ends an utterance.
func (o *options) readTiming(q *query) {
	o.endpointing, o.pause = true, minSilence
	switch s := strings.ToLower(q.Get("endpointing")); s {
	case "", "true":
	case "false", "0":
		o.endpointing, o.Endpointing = false, -1
	default:
		ms := q.number("endpointing", 1, 60000)
		o.Endpointing = time.Duration(ms) * time.Millisecond
		o.pause = max(minSilence, o.Endpointing.Seconds())
	}
	if q.Get("utterance_end_ms") != "" {
		o.utteranceEnd = float64(q.number("utterance_end_ms", 1000, 5000)) / 1000
		if !o.interim {
			q.fail("utterance_end_ms needs interim_results=true.")
		}
	}
}

// readAudio reads how the audio is encoded.
func (o *options) readAudio(q *query) {
	f := &o.audioFormat
	f.Rate = q.number("sample_rate", audio.MinRate, audio.MaxRate)
	f.Channels = q.number("channels", 1, 1000)
	if f.Channels > 2 {
		q.fail("%d channels are too many: use 1 or 2.", f.Channels)
	}
	switch encoding := q.Get("encoding"); encoding {
	case "", "flac", "opus", "ogg-opus":
		f.container = encoding != ""
		if f.container {
			f.Rate = 0 // the container has its own
		}
	case audio.Mulaw, audio.Alaw:
		f.Encoding = encoding
	case audio.Linear16, audio.Linear32:
		f.Encoding = encoding
		if f.Rate == 0 {
			q.fail("encoding=%s needs sample_rate.", encoding)
		}
	case "amr-nb", "amr-wb", "speex", "g729":
		q.fail("This hub cannot decode %s.", encoding)
	default:
		q.invalidValue("encoding")
	}
	o.channels = 1
	switch {
	case q.flag("multichannel"):
		o.channels = max(1, f.Channels)
		if f.Encoding == "" {
			f.Channels = 2 // if it has two
		}
	case f.Encoding == "":
		f.Channels = 1
	case f.Channels == 2:
		f.mix = true
	}
}

// checkUnsupported refuses what must not be ignored silently.
func (o *options) checkUnsupported(q *query) {
	for _, s := range q.Values["redact"] {
		if s != "" && s != "false" {
			q.fail("This hub cannot redact what is said.")
		}
	}
	if q.Get("callback") != "" {
		q.fail("This hub answers on the same connection, not by callback.")
	}
	if s := q.Get("detect_language"); s != "" && s != "false" {
		q.fail("Languages are not detected in live audio; name one with language.")
	}
}

// vocabulary returns the names and terms to listen for. No engine here uses the
// weight of a keyword; a negative one excludes it.
func vocabulary(q url.Values) []string {
	var terms []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			terms = append(terms, s)
		}
	}
	for _, s := range q["keyterm"] {
		add(s)
	}
	for _, s := range q["keywords"] {
		if i := strings.LastIndexByte(s, ':'); i >= 0 {
			weight, err := strconv.ParseFloat(s[i+1:], 64)
			if err == nil && weight < 0 {
				continue
			}
			if err == nil {
				s = s[:i]
			}
		}
		add(s)
	}
	return terms
}

// deepgramModels are the families of Deepgram's models: their names up to a dash.
var deepgramModels = []string{
	"nova", "enhanced", "base", "whisper", "general", "meeting", "phonecall", "voicemail", "finance",
	"conversationalai", "video", "medical", "drivethru", "automotive", "atc",
}

// providerAndModel returns which provider a model name means, and which of its
// models.
func providerAndModel(name string, providers []string) (provider, model string, err error) {
	if name == "" {
		return "", "", nil
	}
	first, rest, _ := strings.Cut(name, "/")
	if slices.Contains(providers, first) {
		return first, rest, nil
	}
	if len(providers) > 0 && providers[0] == "deepgram" {
		return "", name, nil // it knows its own models
	}
	family, _, _ := strings.Cut(strings.ToLower(name), "-")
	if slices.Contains(deepgramModels, family) {
		return "", "", nil
	}
	return "", "", hearken.Errorf(hearken.Invalid, "There is no model %.60q.", name).
		WithTry("model=nova-3 for the hub's own engine, or one of %s", strings.Join(providers, ", "))
}

// A query reads parameters and keeps the first error.
type query struct {
	url.Values
	err error
}

func (q *query) fail(format string, args ...any) {
	if q.err == nil {
		q.err = hearken.Errorf(hearken.Invalid, format, args...)
	}
}

func (q *query) invalidValue(name string) {
	q.fail("Invalid '%s' value of '%.60s'.", name, q.Get(name))
}

func (q *query) flag(name string) bool {
	switch strings.ToLower(q.Get(name)) {
	case "true", "1":
		return true
	case "", "false", "0":
		return false
	}
	q.invalidValue(name)
	return false
}

// number returns 0 if the parameter is missing.
func (q *query) number(name string, lowest, highest int) int {
	s := q.Get(name)
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < lowest || n > highest {
		q.invalidValue(name)
		return 0
	}
	return n
}
