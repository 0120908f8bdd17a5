package main

import (
	"cmp"
	"reflect"
)

type configCmd struct {
	JSON bool `help:"Write JSON."`
}

// effective is one setting as it stands.
type effective struct {
	Key   string `json:"key"`
	Env   string `json:"env"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func (c *configCmd) Run(p *program) error {
	values := p.cfg.effective()
	if c.JSON {
		return p.writeJSON(values)
	}
	t := p.table("KEY", "VALUE", "FROM")
	for _, v := range values {
		t.row(v.Key, v.Value, v.From)
	}
	return t.flush()
}

// effective lists every setting with its value and where that came from.
// Secrets are hidden.
func (c *Config) effective() []effective {
	var all []effective
	fields := reflect.ValueOf(c).Elem()
	for _, s := range settings() {
		e := effective{Key: s.key(), Env: s.env, Value: show(fields.Field(s.index).Interface()), From: c.sources[s.name]}
		switch {
		case s.name == "database-url":
			e.Value = redactURL(e.Value)
		case s.secret && e.Value != "":
			e.Value = "(hidden)"
		case s.name == "default-language" && e.Value == "":
			e.Value = cmp.Or(c.languages()[c.TranscriptionProvider[0]], fallbackLanguage)
		}
		all = append(all, e)
	}
	return all
}
