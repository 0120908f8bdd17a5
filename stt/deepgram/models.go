package deepgram

import (
	"maps"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// The languages that the models transcribe live, as of Deepgram's
// documentation of October 2026. "multi" follows speakers who switch.
var (
	english = strings.Fields("en en-US en-AU en-GB en-IN en-NZ")
	narrow  = strings.Fields("en en-US")

	nova3 = append(strings.Fields(`multi af ar ar-AE ar-DZ ar-EG ar-IQ ar-IR ar-JO ar-KW ar-LB ar-MA ar-PS ar-QA
		ar-SA ar-SD ar-SY ar-TD ar-TN be bg bn bs ca cs da da-DK de de-CH el es es-419 et fa fi fr fr-CA gu gu-IN he
		hi hr hu hy id it ja ka kn ko ko-KR lt lv mk mr ms ne nl nl-BE no pa pa-IN pl pt pt-BR pt-PT ro ru sk sl sr
		sv sv-SE ta te th th-TH tl tr uk ur vi zh zh-CN zh-HK zh-Hans zh-Hant zh-TW`), english...)

	nova3Medical = append([]string{"multi"}, english...)

	nova2 = append(strings.Fields(`multi bg ca cs da da-DK de de-CH el es es-419 et fi fr fr-CA hi hu id it ja ko
		ko-KR lt lv ms nl nl-BE no pl pt pt-BR pt-PT ro ru sk sv sv-SE th th-TH tr uk vi zh zh-CN zh-HK zh-Hans
		zh-Hant zh-TW`), english...)

	models = func() map[string][]string {
		m := map[string][]string{
			"nova-3": nova3, "nova-3-general": nova3, "nova-3-medical": nova3Medical,
			"nova-2": nova2, "nova-2-general": nova2,
		}
		for field := range strings.FieldsSeq("atc automotive conversationalai drivethru finance medical meeting phonecall video voicemail") {
			m["nova-2-"+field] = narrow
		}
		return m
	}()

	// otherTags are further tags of languages, with what the models call them.
	otherTags = map[string]string{"nb": "no", "nn": "no", "fil": "tl", "iw": "he", "in": "id", "cmn": "zh", "yue": "zh-HK"}
)

// language is what the model calls the language: the tag itself, or the
// nearest one that is less precise ("ja" for "ja-JP"). If the provider is
// configured with a model that is not known here, it is a custom model, and any
// language is accepted.
func (p *Provider) language(model, tag string) (string, error) {
	known, ok := models[model]
	switch {
	case strings.HasPrefix(model, "flux"):
		return "", hearken.Errorf(hearken.ProviderNotConfigured, "The model %s speaks another protocol.", model).
			WithTry("the model %s", defaultModel)
	case !ok && model == p.cfg.Model:
		return tag, nil
	case !ok:
		return "", hearken.Errorf(hearken.ProviderNotConfigured, "Deepgram has no model %q here.", model).
			WithTry("one of %s", strings.Join(slices.Sorted(maps.Keys(models)), ", "))
	}
	if tag == "" {
		return "en", nil // Deepgram's default, made explicit
	}
	if found := matchLanguage(known, tag); found != "" {
		return found, nil
	}
	return "", hearken.Errorf(hearken.ProviderNotConfigured, "Deepgram's model %s has no language %q.", model, tag).
		WithTry("one of %s", strings.Join(known, ", "))
}

// matchLanguage finds a tag among the known ones, without its last parts if
// need be.
func matchLanguage(known []string, tag string) string {
	tag = strings.ReplaceAll(tag, "_", "-")
	for ; tag != ""; tag = tag[:max(0, strings.LastIndexByte(tag, '-'))] {
		if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, tag) }); i >= 0 {
			return known[i]
		}
		if other := otherTags[strings.ToLower(tag)]; other != "" && slices.Contains(known, other) {
			return other
		}
	}
	return ""
}
