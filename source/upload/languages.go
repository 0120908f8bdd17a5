package upload

import (
	"cmp"

	"github.com/hearken-dev/hearken/stt/language"
)

// nameOf is the name of a language by its tag, or the tag where it has none.
func nameOf(tag string) string { return cmp.Or(language.Name(tag), tag) }
