package language

import (
	"strings"
	"testing"
)

// The languages are Whisper's hundred, and every name leads back to its tag.
func TestNames(t *testing.T) {
	if len(names) != 100 {
		t.Errorf("%d languages", len(names))
	}
	for tag, name := range names {
		if got := Tag(name); got != tag {
			t.Errorf("%s is %s, not %s", name, got, tag)
		}
		if Name(tag) != name || Primary(tag) != tag {
			t.Errorf("%s is %q", tag, Name(tag))
		}
	}
	for name, tag := range tags {
		if names[tag] == "" || Tag(" "+strings.ToUpper(name)) != tag {
			t.Errorf("%s is not %s", name, tag)
		}
	}
	for other, tag := range otherTags {
		if names[tag] == "" || Name(other) != names[tag] {
			t.Errorf("%s is no language", other)
		}
	}
}

func TestPrimary(t *testing.T) {
	for tag, want := range map[string]string{"pt-BR": "pt", "PT_br": "pt", "nb": "no", "iw-IL": "he", "jw": "jv", "jv": "jv", "tlh": "tlh", "": ""} {
		if got := Primary(tag); got != want {
			t.Errorf("Primary(%q) = %q, want %q", tag, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	if Name("tlh") != "" || Name("") != "" || Tag("elvish") != "" || Tag("") != "" {
		t.Error("an unknown language has a name or a tag")
	}
	for tag, want := range map[string]string{"jv": "jw", "jw": "jw", "pt-BR": "pt", "tlh": "tlh"} {
		if got := WhisperCode(tag); got != want {
			t.Errorf("WhisperCode(%q) = %q, want %q", tag, got, want)
		}
	}
}
