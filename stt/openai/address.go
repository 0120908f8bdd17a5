package openai

import (
	"net/url"
	"regexp"
	"strings"
)

// version is the API version at the end of a path.
var version = regexp.MustCompile(`/v\d+$`)

// address finds the API's base address in what people configure: with or
// without the version, or with the whole address of an endpoint. It also
// returns what to call the server, and whether it is OpenAI's own.
func address(s string) (base, server string, public bool) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", false
	}
	path := strings.TrimRight(u.Path, "/")
	whole := false
	for _, endpoint := range []string{"/audio/transcriptions", "/audio/translations", "/models"} {
		if before, ok := strings.CutSuffix(path, endpoint); ok {
			path, whole = before, true
			break
		}
	}
	if !whole && !version.MatchString(path) {
		path += "/v1"
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = path, "", "", ""
	if u.Hostname() == "api.openai.com" {
		return u.String(), "OpenAI", true
	}
	return u.String(), "The server at " + u.Host, false
}
