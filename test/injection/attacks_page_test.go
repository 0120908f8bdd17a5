package injection

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
)

// A visit is a request to the approvals page.
type visit struct {
	method, path, body string
	header             map[string]string
}

func (t *target) visit(ctx context.Context, v visit) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, v.method, t.URL+"/approvals"+v.path, bytes.NewReader([]byte(v.body)))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", t.URL)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	for k, value := range v.header {
		if k == "Host" {
			req.Host = value
		} else {
			req.Header.Set(k, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

// pageAttacks are visits to the approvals page without the PIN.
func pageAttacks() []attack {
	visitPage := func(name string, of func(t *target) visit) attack {
		return attack{"page", name, func(ctx context.Context, t *target) string {
			status, text, err := t.visit(ctx, of(t))
			return fmt.Sprint(status, text, err)
		}}
	}
	decide := func(name string, header func(t *target) map[string]string) attack {
		return visitPage(name, func(t *target) visit {
			return visit{"POST", "/api/actions/" + t.action.ID + "/decision", `{"allow":true,"digest":"` + t.action.Digest + `"}`, header(t)}
		})
	}
	cookie := func(t *target, value string) string {
		u, err := url.Parse(t.URL)
		if err != nil {
			panic("injection: " + err.Error()) // the hub's own address
		}
		return "hearken_owner_" + u.Port() + "=" + value
	}
	const made = "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ"
	list := []attack{
		decide("without a cookie", func(*target) map[string]string { return nil }),
		decide("with an empty cookie and token", func(t *target) map[string]string {
			return map[string]string{"Cookie": cookie(t, ""), "X-Hearken-Token": ""}
		}),
		decide("with a guessed cookie", func(t *target) map[string]string {
			return map[string]string{"Cookie": cookie(t, made), "X-Hearken-Token": made}
		}),
		decide("with the agent's key", func(t *target) map[string]string {
			return map[string]string{"Authorization": "Bearer " + t.key, "Cookie": cookie(t, t.key), "X-Hearken-Token": t.key}
		}),
		decide("from another site", func(t *target) map[string]string {
			return map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
		}),
		decide("by a name that leads here", func(t *target) map[string]string {
			return map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}
		}),
		decide("as a form", func(*target) map[string]string { return map[string]string{"Content-Type": "text/plain"} }),
		visitPage("by GET", func(t *target) visit {
			return visit{"GET", "/api/actions/" + t.action.ID + "/decision?allow=true&digest=" + t.action.Digest, "", map[string]string{"X-HTTP-Method-Override": "POST"}}
		}),
		visitPage("by a path that is written otherwise", func(t *target) visit {
			return visit{"POST", "/api/%61ctions/" + t.action.ID + "/../" + t.action.ID + "/decision", `{"allow":true,"digest":"` + t.action.Digest + `"}`, nil}
		}),
		visitPage("setup without a code", func(*target) visit { return visit{"POST", "/api/setup", `{"code":"","pin":"739164"}`, nil} }),
		visitPage("setup with a guess", func(*target) visit {
			return visit{"POST", "/api/setup", `{"code":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","pin":"739164"}`, nil}
		}),
		visitPage("login with nothing", func(*target) visit { return visit{"POST", "/api/login", `{"pin":""}`, nil} }),
		visitPage("login with another kind", func(*target) visit { return visit{"POST", "/api/login", `{"pin":{"$ne":""}}`, nil} }),
		visitPage("login from another site", func(*target) visit {
			return visit{"POST", "/api/login", `{"pin":"739164"}`, map[string]string{"Origin": "https://evil.example"}}
		}),
		visitPage("resume", func(*target) visit { return visit{"POST", "/api/pause", `{"paused":false}`, nil} }),
		visitPage("look", func(*target) visit { return visit{"GET", "/api/events", "", nil} }),
	}
	return list
}

// guess tries PINs at the page and at the socket, as fast as it can, and returns
// how many of them were looked at.
func (t *target) guess(ctx context.Context, during time.Duration) (tried, evaluated int) {
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	var n, looked atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				pin, _ := json.Marshal(map[string]string{"pin": fmt.Sprintf("%06d", 100007*n.Add(1)%1000000)})
				_, text, err := t.visit(ctx, visit{"POST", "/api/login", string(pin), nil})
				if err == nil && strings.Contains(text, "Wrong PIN") {
					looked.Add(1)
				}
			}
		})
		all.Go(func() {
			for ctx.Err() == nil {
				pin := fmt.Sprintf("%06d", 100007*n.Add(1)%1000000)
				if err := t.control(ctx, map[string]any{"op": "actions.resume", "pin": pin}, nil); hearken.CodeOf(err) == hearken.Unauthorized {
					looked.Add(1)
				}
			}
		})
	}
	all.Wait()
	return int(n.Load()), int(looked.Load())
}
