package pipe

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	for line, code := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                   "",
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`:                 "",
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:     "",
		`{"jsonrpc":"2.0","id":-3,"result":{}}`:                      "",
		`{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"no"}}`: "",
		`garbage`: "-32700",
		`{"jsonrpc":"2.0","id":1,"method":"ping"}{}`:                        "-32700",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:                        "-32600",
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                          "-32600",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                         "-32600",
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                       "-32600",
		`{"jsonrpc":"2.0","id":1}`:                                          "-32600",
		`7`:                                                                 "-32600",
		`{"jsonrpc":"2.0","id":1,"method":7}`:                               "-32600",
		`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", maxLine) + `"}`: "-32600",
	} {
		got := string(rejectionOf([]byte(line + "\n")))
		if code == "" && got != "" || !strings.Contains(got, code) {
			t.Errorf("%.60s: %q, want %q", line, got, code)
		}
	}
}
