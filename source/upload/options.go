package upload

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
	"github.com/hearken-dev/hearken/stt/language"
)

// options are what a form asks for.
type options struct {
	request  hearken.StartRequest
	format   string // of the answer
	stream   bool
	segments bool // in verbose_json
	words    bool // in verbose_json
}

var (
	formats = []string{"json", "text", "srt", "verbose_json", "vtt", "diarized_json"}
	// streamable are the formats that can be streamed.
	streamable = []string{"json", "text", "diarized_json"}
)

// options checks every field of a form.
func (h *Handler) options(f *form, translate bool) (*options, error) {
	o := &options{format: "json", segments: true, request: hearken.StartRequest{Translate: translate, Recorded: true}}
	if f.path == "" {
		return nil, invalid("file", "missing_required_parameter", "Missing required parameter: 'file'.")
	}
	if f.size == 0 {
		return nil, invalid("file", "", "The file is empty.")
	}
	o.request.Title = title(f.name)
	var err error
	if o.request.Provider, o.request.Model, err = h.engine(f.value("model"), translate); err != nil {
		return nil, err
	}
	for _, check := range []func(*form) error{o.readLanguage, o.readFormat, o.readGranularities, o.readStream, o.readVocabulary, checkUnused} {
		if err := check(f); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// title makes one short line of a file's name.
func title(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, ""), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if safetext.ClassOf(r) != safetext.Visible {
			return -1
		}
		return r
	}, name)
	if name == "." || name == "/" {
		return ""
	}
	return safetext.Clip(name, 200)
}

var tag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// readLanguage reads language, or the first of languages[]: an engine takes
// only one.
func (o *options) readLanguage(f *form) error {
	field, v := "language", f.value("language")
	if all := f.fields["languages"]; v == "" && len(all) > 0 {
		field, v = "languages", strings.TrimSpace(all[0])
	}
	if code := language.Tag(v); code != "" {
		v = code
	}
	if v != "" && (!tag.MatchString(v) || len(v) > 35) {
		return invalid(field, "invalid_language_format", "Invalid language '%.40s'. Language parameter must be specified in ISO-639-1 format.", v)
	}
	if v == "" && o.request.Translate {
		v = "auto" // it is not the hub's default language
	}
	o.request.Language = v
	return nil
}

func (o *options) readFormat(f *form) error {
	v := f.value("response_format")
	if v == "" {
		return nil
	}
	can := formats
	if o.request.Translate {
		can = slices.DeleteFunc(slices.Clone(can), func(s string) bool { return s == "diarized_json" })
	}
	if !slices.Contains(can, v) {
		return wrongValue("response_format", v, can)
	}
	o.format = v
	return nil
}

func (o *options) readGranularities(f *form) error {
	all := f.fields["timestamp_granularities"]
	if len(all) == 0 {
		return nil
	}
	o.segments = false
	for _, v := range all {
		switch strings.TrimSpace(v) {
		case "word":
			o.words = true
		case "segment":
			o.segments = true
		default:
			return wrongValue("timestamp_granularities", v, []string{"word", "segment"})
		}
	}
	if o.format != "verbose_json" {
		return invalid("timestamp_granularities", "invalid_value", "timestamp_granularities needs response_format 'verbose_json', not '%s'.", o.format)
	}
	return nil
}

func (o *options) readStream(f *form) error {
	v := f.value("stream")
	if v == "" {
		return nil
	}
	var err error
	if o.stream, err = strconv.ParseBool(v); err != nil {
		return wrongValue("stream", v, []string{"true", "false"})
	}
	if o.stream && !slices.Contains(streamable, o.format) {
		return invalid("response_format", "invalid_value", "response_format '%s' cannot be streamed. Supported values are: %s.", o.format, quoted(streamable))
	}
	return nil
}

const maxTerms = 100

func (o *options) readVocabulary(f *form) error {
	for _, v := range append(f.fields["keywords"], terms(f.value("prompt"))...) {
		v = strings.Join(strings.Fields(v), " ")
		if v == "" || slices.Contains(o.request.Vocabulary, v) {
			continue
		}
		if len(v) > 200 {
			return invalid("keywords", "invalid_value", "A keyword has at most 200 bytes.")
		}
		o.request.Vocabulary = append(o.request.Vocabulary, v)
	}
	if n := len(o.request.Vocabulary); n > maxTerms {
		return invalid("keywords", "invalid_value", "%d keywords are too many; the most are %d.", n, maxTerms)
	}
	return nil
}

// terms returns the names in a prompt that is a list, such as "Glossary: Aimee,
// Shawn, BBQ". Other prompts are sentences, whose words must not be taken for
// names.
func terms(prompt string) []string {
	if before, after, found := strings.Cut(prompt, ":"); found && len(strings.Fields(before)) <= 3 {
		prompt = after
	}
	list := strings.FieldsFunc(prompt, func(r rune) bool { return strings.ContainsRune(",;\n、，；", r) })
	var out []string
	for i, t := range list {
		t = strings.Trim(strings.TrimSpace(t), `"'“”`)
		if i == len(list)-1 {
			t = strings.TrimSuffix(t, ".")
		}
		switch {
		case t == "":
			continue
		case len(strings.Fields(t)) > 4, len(t) > 60, strings.ContainsAny(t, ".?!。？！") && strings.Contains(t, " "):
			return nil
		}
		out = append(out, t)
	}
	if len(out) > maxTerms {
		out = out[:maxTerms]
	}
	return out
}

// checkUnused checks fields that have no effect here, so that mistakes are
// reported as OpenAI does, and refuses those that must not be ignored.
func checkUnused(f *form) error {
	if v := f.value("temperature"); v != "" {
		if t, err := strconv.ParseFloat(v, 64); err != nil || !(t >= 0 && t <= 1) {
			return invalid("temperature", "invalid_value", "Invalid temperature '%.40s'. It must be a number between 0 and 1.", v)
		}
	}
	for _, v := range f.fields["include"] {
		if v != "logprobs" {
			return wrongValue("include", v, []string{"logprobs"})
		}
	}
	for _, field := range []string{"known_speaker_names", "known_speaker_references"} {
		if len(f.fields[field]) > 0 {
			return invalid(field, "unsupported_parameter", "Unsupported parameter: '%s'. No engine of this hub knows speakers by name.", field)
		}
	}
	v := f.value("chunking_strategy")
	var object struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(v), &object) == nil {
		v = object.Type
	}
	if v == "" {
		v = f.value("chunking_strategy[type]")
	}
	if v != "" && v != "auto" && v != "server_vad" {
		return wrongValue("chunking_strategy", v, []string{"auto", "server_vad"})
	}
	return nil
}

func wrongValue(param, v string, can []string) error {
	return invalid(param, "invalid_value", "Invalid value: '%.40s'. Supported values are: %s.", v, quoted(can))
}

func quoted(list []string) string {
	var b strings.Builder
	for i, s := range list {
		switch {
		case i > 0 && i == len(list)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "'%s'", s)
	}
	return b.String()
}
