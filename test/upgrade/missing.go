package upgrade

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Missing lists what is in want and not, or not the same, in got. Lists must
// have the same length. An object of got may have further members: a later
// version may say more.
func Missing(want, got any) ([]string, error) {
	w, err := tree(want)
	if err != nil {
		return nil, err
	}
	g, err := tree(got)
	if err != nil {
		return nil, err
	}
	return compare("", w, g), nil
}

// tree is a value as JSON has it.
func tree(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var t any
	return t, json.Unmarshal(data, &t)
}

func compare(path string, want, got any) (out []string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for name, v := range w {
			if _, ok := g[name]; !ok {
				out = append(out, fmt.Sprintf("%s.%s is missing; it was %v", path, name, v))
				continue
			}
			out = append(out, compare(path+"."+name, v, g[name])...)
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		if len(g) != len(w) {
			return []string{fmt.Sprintf("%s has %d entries; it had %d", path, len(g), len(w))}
		}
		for i := range w {
			out = append(out, compare(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])...)
		}
		return out
	}
	if !reflect.DeepEqual(want, got) {
		return []string{fmt.Sprintf("%s is %v; it was %v", path, got, want)}
	}
	return nil
}
