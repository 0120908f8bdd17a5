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

func (c *castle) visit(ctx context.Context, v visit) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, v.method, c.url+"/approvals"+v.path, bytes.NewReader([]byte(v.body)))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", c.url)
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

// pages are visits of who does not know the PIN.
func pages() []attempt {
	see := func(name string, of func(c *castle) visit) attempt {
		return attempt{"page", name, func(ctx context.Context, c *castle) string {
			status, text, err := c.visit(ctx, of(c))
			return fmt.Sprint(status, text, err)
		}}
	}
	decide := func(name string, header func(c *castle) map[string]string) attempt {
		return see(name, func(c *castle) visit {
			return visit{"POST", "/api/actions/" + c.victim.ID + "/decision", `{"allow":true,"digest":"` + c.victim.Digest + `"}`, header(c)}
		})
	}
	cookie := func(c *castle, value string) string {
		u, err := url.Parse(c.url)
		if err != nil {
			panic("injection: " + err.Error()) // the hub's own address
		}
		return "hearken_owner_" + u.Port() + "=" + value
	}
	const made = "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ"
	list := []attempt{
		decide("without a cookie", func(*castle) map[string]string { return nil }),
		decide("with an empty cookie and token", func(c *castle) map[string]string {
			return map[string]string{"Cookie": cookie(c, ""), "X-Hearken-Token": ""}
		}),
		decide("with a guessed cookie", func(c *castle) map[string]string {
			return map[string]string{"Cookie": cookie(c, made), "X-Hearken-Token": made}
		}),
		decide("with the agent's key", func(c *castle) map[string]string {
			return map[string]string{"Authorization": "Bearer " + c.key, "Cookie": cookie(c, c.key), "X-Hearken-Token": c.key}
		}),
		decide("from another site", func(c *castle) map[string]string {
			return map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
		}),
		decide("by a name that leads here", func(c *castle) map[string]string {
			return map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}
		}),
		decide("as a form", func(*castle) map[string]string { return map[string]string{"Content-Type": "text/plain"} }),
		see("by GET", func(c *castle) visit {
			return visit{"GET", "/api/actions/" + c.victim.ID + "/decision?allow=true&digest=" + c.victim.Digest, "", map[string]string{"X-HTTP-Method-Override": "POST"}}
		}),
		see("by a path that is written otherwise", func(c *castle) visit {
			return visit{"POST", "/api/%61ctions/" + c.victim.ID + "/../" + c.victim.ID + "/decision", `{"allow":true,"digest":"` + c.victim.Digest + `"}`, nil}
		}),
		see("setup without a code", func(*castle) visit { return visit{"POST", "/api/setup", `{"code":"","pin":"739164"}`, nil} }),
		see("setup with a guess", func(*castle) visit {
			return visit{"POST", "/api/setup", `{"code":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","pin":"739164"}`, nil}
		}),
		see("login with nothing", func(*castle) visit { return visit{"POST", "/api/login", `{"pin":""}`, nil} }),
		see("login with another kind", func(*castle) visit { return visit{"POST", "/api/login", `{"pin":{"$ne":""}}`, nil} }),
		see("login from another site", func(*castle) visit {
			return visit{"POST", "/api/login", `{"pin":"739164"}`, map[string]string{"Origin": "https://evil.example"}}
		}),
		see("resume", func(*castle) visit { return visit{"POST", "/api/pause", `{"paused":false}`, nil} }),
		see("look", func(*castle) visit { return visit{"GET", "/api/events", "", nil} }),
	}
	return list
}

// guess tries PINs at the page and at the socket, as fast as it can, and tells
// how many of them were looked at.
func (c *castle) guess(ctx context.Context, during time.Duration) (tried, evaluated int) {
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	var n, looked atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				pin, _ := json.Marshal(map[string]string{"pin": fmt.Sprintf("%06d", 100007*n.Add(1)%1000000)})
				_, text, err := c.visit(ctx, visit{"POST", "/api/login", string(pin), nil})
				if err == nil && strings.Contains(text, "Wrong PIN") {
					looked.Add(1)
				}
			}
		})
		all.Go(func() {
			for ctx.Err() == nil {
				pin := fmt.Sprintf("%06d", 100007*n.Add(1)%1000000)
				if err := c.ask(ctx, map[string]any{"op": "actions.resume", "pin": pin}, nil); hearken.CodeOf(err) == hearken.Unauthorized {
					looked.Add(1)
				}
			}
		})
	}
	all.Wait()
	return int(n.Load()), int(looked.Load())
}
