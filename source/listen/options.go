package listen

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// options are what the query of a stream asks for.
type options struct {
	Request
	form     form
	channels int // of the results, as far as the query tells

	interim      bool
	vadEvents    bool
	diarize      bool
	punctuate    bool // marks and capitals stay
	multilingual bool
	endpointing  bool
	pause        float64 // in seconds: it ends what somebody says
	utteranceEnd float64 // in seconds; 0 for none
	extra        map[string]string
}

// A form is how the sound comes.
type form struct {
	audio.Format
	floats    bool // linear32; the format says linear16
	container bool // raw sound was not declared, and is not taken for what it is not
	mix       bool // two channels become one
}

// maxVocabulary is how many terms a stream may name.
const maxVocabulary = 500

// silentPause is the least pause after which a result says speech_final that
// no engine put there: one cut for its length, and then nobody spoke.
const silentPause = 0.5

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
	if q.flag("smart_format") {
		o.punctuate = true
	}
	switch q.Get("diarize_model") {
	case "", "false":
	case "latest", "v1", "true":
		o.diarize = true
	default:
		q.wrong("diarize_model")
	}
	o.Language = q.Get("language")
	o.multilingual = strings.EqualFold(o.Language, "multi")
	o.Title = strings.Join(q.Values["tag"], ", ")
	o.Vocabulary = vocabulary(q.Values)
	if len(o.Vocabulary) > maxVocabulary {
		q.fail("%d terms are more than %d.", len(o.Vocabulary), maxVocabulary)
	}
	for _, pair := range q.Values["extra"] {
		name, value, _ := strings.Cut(pair, ":")
		o.extra[name] = value
	}
	o.timing(q)
	o.sound(q)
	o.refusals(q)
	o.Provider, o.Model, err = engine(q.Get("model"), providers)
	if q.err == nil && err != nil {
		q.err = err
	}
	return o, q.err
}

// timing reads what ends an utterance.
func (o *options) timing(q *query) {
	o.endpointing, o.pause = true, silentPause
	switch s := strings.ToLower(q.Get("endpointing")); s {
	case "", "true":
	case "false", "0":
		o.endpointing, o.Endpointing = false, -1
	default:
		ms := q.number("endpointing", 1, 60000)
		o.Endpointing = time.Duration(ms) * time.Millisecond
		o.pause = max(silentPause, o.Endpointing.Seconds())
	}
	if q.Get("utterance_end_ms") != "" {
		o.utteranceEnd = float64(q.number("utterance_end_ms", 1000, 5000)) / 1000
		if !o.interim {
			q.fail("utterance_end_ms needs interim_results=true.")
		}
	}
}

// sound reads how the sound comes.
func (o *options) sound(q *query) {
	f := &o.form
	f.Rate = q.number("sample_rate", audio.MinRate, audio.MaxRate)
	f.Channels = q.number("channels", 1, 1000)
	if f.Channels > 2 {
		q.fail("%d channels are more than this hub takes: 1 or 2.", f.Channels)
	}
	switch encoding := q.Get("encoding"); encoding {
	case "", "flac", "opus", "ogg-opus":
		f.container = encoding != ""
		if f.container {
			f.Rate = 0 // it says so itself
		}
	case audio.Mulaw, audio.Alaw:
		f.Encoding = encoding
	case audio.Linear16, "linear32":
		f.Encoding, f.floats = audio.Linear16, encoding == "linear32"
		if f.Rate == 0 {
			q.fail("encoding=%s needs sample_rate.", encoding)
		}
	case "amr-nb", "amr-wb", "speex", "g729":
		q.fail("This hub cannot decode %s.", encoding)
	default:
		q.wrong("encoding")
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

// refusals are what would be a broken promise if it were passed over.
func (o *options) refusals(q *query) {
	for _, s := range q.Values["redact"] {
		if s != "" && s != "false" {
			q.fail("This hub cannot redact what is said.")
		}
	}
	if q.Get("callback") != "" {
		q.fail("This hub answers on the same connection and not by callback.")
	}
	if s := q.Get("detect_language"); s != "" && s != "false" {
		q.fail("Languages are not detected in live sound; name one with language.")
	}
}

// vocabulary is the names and terms to listen for. Keywords may carry a
// weight, which no engine here has a use for; a negative one says not to.
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

// families begin the names of Deepgram's models.
var families = []string{
	"nova", "enhanced", "base", "whisper", "general", "meeting", "phonecall", "voicemail", "finance",
	"conversationalai", "video", "medical", "drivethru", "automotive", "atc",
}

// engine tells which provider a model means, and which of its models.
func engine(name string, providers []string) (provider, model string, err error) {
	if name == "" {
		return "", "", nil
	}
	first, rest, _ := strings.Cut(name, "/")
	for _, p := range providers {
		if first == p {
			return p, rest, nil
		}
	}
	if len(providers) > 0 && providers[0] == "deepgram" {
		return "", name, nil // it knows its own
	}
	lower := strings.ToLower(name)
	for _, f := range families {
		if lower == f || strings.HasPrefix(lower, f+"-") {
			return "", "", nil
		}
	}
	return "", "", hearken.Errorf(hearken.Invalid, "There is no model %.60q here.", name).
		WithTry("model=nova-3 for the hub's own engine, or one of %s", strings.Join(providers, ", "))
}

// A query reads parameters and keeps the first thing that is wrong.
type query struct {
	url.Values
	err error
}

func (q *query) fail(format string, args ...any) {
	if q.err == nil {
		q.err = hearken.Errorf(hearken.Invalid, format, args...)
	}
}

func (q *query) wrong(name string) {
	q.fail("Invalid '%s' value of '%.60s'.", name, q.Get(name))
}

func (q *query) flag(name string) bool {
	switch strings.ToLower(q.Get(name)) {
	case "true", "1":
		return true
	case "", "false", "0":
		return false
	}
	q.wrong(name)
	return false
}

// number is 0 if there is none.
func (q *query) number(name string, least, most int) int {
	s := q.Get(name)
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		q.wrong(name)
		return 0
	}
	return n
}
