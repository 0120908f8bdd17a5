//go:build accept

package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestEffects_Page: the owner signs in to the hub's own page in Chromium, and
// allows what an agent asks for meanwhile.
func TestEffects_Page(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	o, ws := acting(t)
	key := o.key("agent")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, steps...); err != nil {
			text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
			t.Fatalf("%v; the page says:\n%s", err, text)
		}
	}
	is := func(expression string, args ...any) {
		t.Helper()
		do(chromedp.Poll[chromedp.Void](fmt.Sprintf(expression, args...), chromedp.WithPollingTimeout(20*time.Second)))
	}
	const pin = chromedp.CSS("input[type=password]")
	do(chromedp.Navigate(o.h.URL+"/approvals"), chromedp.WaitVisible(pin), chromedp.SendKeys(pin, ownerPIN+"\r"))
	is(`document.querySelector(".inbox[aria-busy=false]")`)

	// A new request appears on the page without a reload.
	ask := func(title, verb string) (r response) {
		t.Helper()
		args, _, _ := appointment(title)
		data := dial(t, ws, key).call("calendar.create", args, func() {
			card := fmt.Sprintf(`[data-id=%q]`, o.waitPending(title))
			is(`document.querySelector('%s')?.innerText.includes(%q)`, card, title)
			button := chromedp.CSS(card + verb)
			do(chromedp.ScrollIntoView(button))
			is(`document.querySelector('%s').getAttribute("aria-disabled") === "false"`, button)
			do(chromedp.Click(button))
		})
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		return r
	}
	allowed := ask("朝ラン", " .yes")
	if allowed.Result.Status != "ok" || !strings.HasPrefix(allowed.Result.ID, "evt_") {
		t.Errorf("allowed: %+v", allowed)
	}
	if why := o.run("why", allowed.Result.ID); !strings.Contains(why, "allowed by owner (page)") {
		t.Errorf("why: %s", why)
	}
	if denied := ask("夜ラン", " .no"); !strings.HasPrefix(denied.Result.Error, "denied: ") {
		t.Errorf("denied: %+v", denied)
	}
}
