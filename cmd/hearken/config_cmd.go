package main

import (
	"reflect"
)

type configCmd struct {
	JSON bool `help:"Write JSON."`
}

// An effectiveSetting is a setting with its value and where that came from.
type effectiveSetting struct {
	Key   string `json:"key"`
	Env   string `json:"env"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func (c *configCmd) Run(p *program) error {
	return writeList(p, c.JSON, p.cfg.effective(), "", []string{"KEY", "VALUE", "FROM"}, func(s *effectiveSetting) []string {
		return []string{s.Key, s.Value, s.From}
	})
}

// effective lists all settings and hides secrets.
func (c *Config) effective() []effectiveSetting {
	var all []effectiveSetting
	fields := reflect.ValueOf(c).Elem()
	for _, s := range settings() {
		e := effectiveSetting{Key: s.key(), Env: s.env, Value: formatValue(fields.Field(s.index).Interface()), From: c.sources[s.name]}
		switch {
		case s.name == "database-url":
			e.Value = c.shownDatabaseURL()
		case s.secret && e.Value != "":
			e.Value = "(hidden)"
		case s.name == "default-language" && e.Value == "":
			e.Value = c.languageOf(c.TranscriptionProvider[0])
		}
		all = append(all, e)
	}
	return all
}
