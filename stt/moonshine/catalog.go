package moonshine

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Installed is a model of the Moonshine family in the model cache.
type Installed struct {
	Dir      string
	Name     string // of the directory, such as "tiny-en"
	Kind     string // what comes before the first dash: "tiny", "base"
	Language string // what comes after it: "en", "es"
}

// Catalog lists the models under root, which holds them as
// moonshine/KIND-LANGUAGE. A root that does not exist has none.
func Catalog(root string) ([]Installed, error) {
	entries, err := os.ReadDir(filepath.Join(root, "moonshine"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []Installed
	for _, e := range entries {
		kind, rest, ok := strings.Cut(e.Name(), "-")
		language, _, _ := strings.Cut(rest, "-")
		dir := filepath.Join(root, "moonshine", e.Name())
		info, err := os.Stat(dir) // follows links
		if !ok || kind == "" || language == "" || err != nil || !info.IsDir() {
			continue
		}
		found = append(found, Installed{Dir: dir, Name: e.Name(), Kind: kind, Language: language})
	}
	return found, nil
}

// primaryLanguage is the language of a tag, "pt" of "pt-BR"; "en" if it is empty.
func primaryLanguage(tag string) string {
	tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
	return cmp.Or(tag, "en")
}

// chooseModels finds the models for a language, the smallest first, or says which
// ones there are instead. A model that is named is the last: larger ones are
// left out, smaller ones may still show unconfirmed text.
func (p *Provider) chooseModels(language, model string) ([]Installed, error) {
	all, err := Catalog(p.cfg.Dir)
	if err != nil {
		return nil, hearken.Errorf(hearken.ProviderNotConfigured, "The models of the offline engine cannot be read: %w.", err).
			WithTry("hearken models pull")
	}
	if len(all) == 0 {
		return nil, hearken.Errorf(hearken.ProviderNotConfigured, "The offline engine has no models yet.").
			WithTry("hearken models pull")
	}
	var found []Installed
	for _, f := range all {
		if f.Language == primaryLanguage(language) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return nil, p.noLanguageError(language, joinNames(all, func(f Installed) string { return f.Language }))
	}
	slices.SortStableFunc(found, func(a, b Installed) int { return cmp.Compare(a.size(), b.size()) })
	if model == autoModel {
		return found, nil
	}
	if i := slices.IndexFunc(found, func(f Installed) bool { return f.Kind == model || f.Name == model }); i >= 0 {
		return found[:i+1], nil
	}
	return nil, hearken.Errorf(hearken.ProviderNotConfigured,
		"The offline engine has no model %q for the language %q; it has %s.",
		model, language, joinNames(found, func(f Installed) string { return f.Kind })).
		WithTry("model %q, or none", found[0].Kind)
}

// noLanguageError says which languages there are instead, and which other providers
// could transcribe this one.
func (p *Provider) noLanguageError(language, have string) error {
	// Remote callers need not know the directory itself.
	try := "a Moonshine model for it as base-" + primaryLanguage(language) + " in the model directory, see docs/models.md"
	suggestion := ""
	if others := strings.Join(p.cfg.Others, " or "); others != "" {
		suggestion = " The provider " + others + " could do it."
		try = "provider " + others + ", or " + try
	}
	return hearken.Errorf(hearken.ProviderNotConfigured,
		"The offline engine has no model for the language %q; it has %s.%s", language, have, suggestion).WithTry("%s", try)
}

// size is the size of the model's decoder; 0 if it cannot be read.
func (i Installed) size() int64 {
	info, err := os.Stat(filepath.Join(i.Dir, decoderFile))
	if err != nil {
		return 0
	}
	return info.Size()
}

func joinNames(found []Installed, name func(Installed) string) string {
	var names []string
	for _, f := range found {
		names = append(names, name(f))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
