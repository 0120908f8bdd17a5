package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/hearken-dev/hearken"
)

// A setting is one field of [Config], read from its tags.
type setting struct {
	name     string // of the flag; the key in the file has underscores
	env      string
	def      string
	allowed  []string
	min, max string
	secret   bool
	group    string
	help     string
	index    int
}

func (s *setting) key() string { return strings.ReplaceAll(s.name, "-", "_") }

// settings lists the fields of [Config] in their order.
var settings = sync.OnceValue(func() []setting {
	var all []setting
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		_, secret := f.Tag.Lookup("secret")
		s := setting{
			name: kebab(f.Name), env: f.Tag.Get("var"), def: f.Tag.Get("default"),
			min: f.Tag.Get("min"), max: f.Tag.Get("max"),
			secret: secret, group: f.Tag.Get("group"), help: f.Tag.Get("help"), index: i,
		}
		if of := f.Tag.Get("of"); of != "" {
			s.allowed = strings.Split(of, ",")
		}
		all = append(all, s)
	}
	return all
})

// load fills c from the environment, the file and the defaults. It keeps the
// settings in flags, which the command line has already set.
func (c *Config) load(file string, flags map[string]bool) error {
	values, path, err := readConfigFile(file)
	if err != nil {
		return err
	}
	c.sources = map[string]string{}
	target := reflect.ValueOf(c).Elem()
	for _, s := range settings() {
		field := target.Field(s.index)
		raw, source := formatValue(field.Interface()), "--"+s.name
		if !flags[s.name] {
			if raw, source, err = s.lookup(values, path); err != nil {
				return err
			}
		}
		delete(values, s.key())
		delete(values, s.key()+"_file")
		c.sources[s.name] = source
		if err := s.set(field, raw, source); err != nil {
			return err
		}
	}
	for key := range values {
		return hearken.Errorf(hearken.Invalid, "%s has the unknown key %q.", path, key).
			WithTry("the keys that docs/configuration.md and `hearken config` list")
	}
	return c.resolve()
}

// lookup finds a setting's value outside the command line. An empty variable
// counts as unset: compose files pass unset variables on as empty ones.
func (s *setting) lookup(values map[string]any, path string) (raw, source string, err error) {
	if v := os.Getenv(s.env); v != "" {
		return v, s.env, nil
	}
	if s.secret {
		if file := os.Getenv(s.env + "_FILE"); file != "" {
			v, err := readSecret(s.env+"_FILE", file)
			return v, s.env + "_FILE", err
		}
	}
	if v, ok := values[s.key()]; ok {
		return formatValue(v), path, nil
	}
	if v, ok := values[s.key()+"_file"]; ok && s.secret {
		v, err := readSecret(s.key()+"_file", fmt.Sprint(v))
		return v, path, err
	}
	return s.def, "default", nil
}

// set checks a value and stores it in its field.
func (s *setting) set(field reflect.Value, raw, source string) error {
	bad := func(allowed string) error {
		shown := raw
		if s.secret {
			shown = "(hidden)"
		}
		name := s.env
		if source != s.env && source != "default" {
			name += " (" + source + ")"
		}
		return badValue(name, shown, allowed)
	}
	switch field.Interface().(type) {
	case string:
		if len(s.allowed) > 0 && !slices.Contains(s.allowed, raw) {
			return bad("one of " + strings.Join(s.allowed, ", "))
		}
		field.SetString(raw)
	case []string:
		list := strings.FieldsFunc(raw, func(r rune) bool { return r == ',' || r == ' ' })
		for _, v := range list {
			if len(s.allowed) > 0 && !slices.Contains(s.allowed, v) {
				return bad("one or more of " + strings.Join(s.allowed, ", "))
			}
		}
		field.Set(reflect.ValueOf(list))
	case int:
		n, err := strconv.Atoi(raw)
		lo, _ := strconv.Atoi(s.min)
		hi, _ := strconv.Atoi(s.max)
		if err != nil || n < lo || n > hi {
			return bad(fmt.Sprintf("a whole number from %s to %s", s.min, s.max))
		}
		field.SetInt(int64(n))
	case bool:
		b, ok := map[string]bool{"1": true, "true": true, "yes": true, "on": true, "0": false, "false": false, "no": false, "off": false}[strings.ToLower(raw)]
		if !ok {
			return bad("true or false")
		}
		field.SetBool(b)
	case float64:
		x, err := strconv.ParseFloat(raw, 64)
		lo, _ := strconv.ParseFloat(s.min, 64)
		hi, _ := strconv.ParseFloat(s.max, 64)
		if err != nil || !(x >= lo && x <= hi) {
			return bad(fmt.Sprintf("a number from %s to %s", s.min, s.max))
		}
		field.SetFloat(x)
	}
	return nil
}

// formatValue writes a value as in the environment.
func formatValue(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ",")
	case []any:
		var parts []string
		for _, p := range v {
			parts = append(parts, fmt.Sprint(p))
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v)
}

// readConfigFile reads the named configuration file. Without a name it reads the
// user's own, which need not exist.
func readConfigFile(path string) (map[string]any, string, error) {
	values := map[string]any{}
	named := path != ""
	if !named {
		dir, err := os.UserConfigDir()
		if err != nil {
			return values, "", nil
		}
		path = filepath.Join(dir, "hearken", "hearken.toml")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		if !named && os.IsNotExist(err) {
			return values, "", nil
		}
		return nil, "", hearken.Errorf(hearken.Invalid, "The configuration file cannot be read: %w.", err)
	}
	if err := toml.Unmarshal(data, &values); err != nil {
		return nil, "", hearken.Errorf(hearken.Invalid, "%s is not valid TOML: %w.", path, err)
	}
	return values, path, nil
}

func readSecret(name, path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", hearken.Errorf(hearken.Invalid, "%s names a file that cannot be read: %w.", name, err)
	}
	return strings.TrimSpace(string(data)), nil
}

// userDataDir returns the platform's directory for Hearken's data.
func userDataDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "hearken"), nil
	}
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "hearken"), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "hearken"), nil
	}
	return filepath.Join(home, ".local", "share", "hearken"), nil
}

// kebab turns PublicURL into public-url.
func kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	upper := func(i int) bool { return i >= 0 && i < len(runes) && runes[i] >= 'A' && runes[i] <= 'Z' }
	for i, r := range runes {
		if i > 0 && upper(i) && (!upper(i-1) || i+1 < len(runes) && !upper(i+1)) {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}
