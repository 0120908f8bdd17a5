package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// chromium starts a real browser, or skips the test where there is none.
func chromium(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium, chromium-browser or google-chrome in PATH")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.WindowSize(1000, 900), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-timer-throttling", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("end the browser: %v", err)
		}
		cancel()
	})
	return ctx
}

// A tab is one page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string
}

// newTab opens the page in a tab, which fails the test for every script error
// and every breach of the page's policy.
func newTab(t *testing.T, browser context.Context, h *testPage) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	b := &tab{t: t, ctx: ctx, url: h.URL + "/approvals"}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		for m, err := range messages {
			if err != nil {
				return
			}
			// Failed requests are part of the tests.
			if m.Source != "network" && (m.IsException() || m.Type == "error" || m.Type == "warning") {
				t.Errorf("console: %s", m)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-listened
	})
	b.do(chromedp.Navigate(b.url))
	return b
}

type step = chromedp.Action[chromedp.Void]

func (b *tab) do(steps ...step) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.screenshotPage("failed")
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
		b.t.Fatalf("%v; the page says:\n%s", err, text)
	}
}

// is waits until a JavaScript expression is true.
func (b *tab) is(expression string, args ...any) {
	b.t.Helper()
	b.do(chromedp.Poll[chromedp.Void](fmt.Sprintf(expression, args...), chromedp.WithPollingInterval(30*time.Millisecond), chromedp.WithPollingTimeout(20*time.Second)))
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string, args ...any) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf(expression, args...)))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// js is a step that runs a script.
func js(script string) step { return chromedp.Evaluate[chromedp.Void](script) }

// press clicks with the mouse, as a person does, when the button is ready.
func (b *tab) press(selector chromedp.CSS) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(selector))
	b.is(`document.querySelector(%q)?.getAttribute("aria-disabled") !== "true"`, selector)
	b.do(chromedp.Click(selector))
}

func (b *tab) signIn(pin string) {
	b.t.Helper()
	const input = chromedp.CSS("input[type=password]")
	b.do(chromedp.WaitVisible(input), chromedp.SendKeys(input, pin+"\r"))
}

// screenshotPage saves a picture of the whole page, screenshotView one of the
// visible part.
func (b *tab) screenshotPage(name string) { b.save(name, chromedp.FullScreenshot(100)) }
func (b *tab) screenshotView(name string) { b.save(name, chromedp.CaptureScreenshot()) }

func (b *tab) save(name string, picture chromedp.Action[[]byte]) {
	b.t.Helper()
	dir := os.Getenv("HEARKEN_SCREENSHOTS")
	if dir == "" {
		dir = b.t.TempDir()
	}
	png, err := chromedp.Run(b.ctx, picture)
	if err != nil {
		b.t.Logf("picture: %v", err)
		return
	}
	file := filepath.Join(dir, strings.ReplaceAll(b.t.Name(), "/", "_")+"_"+name+".png")
	if err := os.WriteFile(file, png, 0o600); err != nil {
		b.t.Logf("picture: %v", err)
	}
}

// narrow makes the tab as narrow as a phone, and checks that nothing overflows
// to the right.
func (b *tab) narrow(width int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 780, chromedp.EmulateMobile, chromedp.EmulatePortrait))
	if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > int(width) {
		b.screenshotPage("too-wide")
		b.t.Errorf("at %d pixels the page is %d wide: %s", width, wide, eval[string](b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + "." + e.className).slice(0, 8).join(" ")`))
	}
}

// dark sets the preferences for a dark scheme and reduced motion.
func (b *tab) dark() {
	b.t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}, {Name: "prefers-reduced-motion", Value: "reduce"}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params); err != nil {
		b.t.Fatal(err)
	}
}
