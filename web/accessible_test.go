package web_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"

	"github.com/hearken-dev/hearken"
)

// contrast finds texts that are hard to read: below 4.5 to 1 against what is
// behind them.
const contrast = `(() => {
	const rgb = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
	const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > 0) return c; } return [255, 255, 255]; };
	const bad = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
		const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
		const ratio = (a + .05) / (b + .05);
		if (ratio < 4.5) bad.add(e.tagName + "." + e.className + " " + ratio.toFixed(2));
	}
	return [...bad].join(", ");
})()`

// structure finds what a screen reader trips over.
const structure = `(() => {
	const bad = [];
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
	if (twice.length) bad.push("ids twice: " + twice);
	if (document.documentElement.lang !== "en") bad.push("no language");
	if (document.querySelectorAll("h1").length !== 1) bad.push("not one h1");
	if (document.querySelectorAll("main").length !== 1) bad.push("not one main");
	for (const e of document.querySelectorAll("[aria-labelledby], [aria-describedby], label[for]"))
		for (const id of (e.getAttribute("aria-labelledby") ?? e.getAttribute("aria-describedby") ?? e.getAttribute("for")).split(" "))
			if (!document.getElementById(id)) bad.push("points to nothing: " + e.outerHTML.slice(0, 80));
	const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(e => e.checkVisibility()).map(e => +e.tagName[1]);
	levels.forEach((l, i) => { if (i && l > levels[i - 1] + 1) bad.push("heading jumps to h" + l); });
	for (const e of document.querySelectorAll("button, summary, select, input")) {
		const box = e.getBoundingClientRect();
		if (e.checkVisibility() && box.height < 24) bad.push("small target: " + e.textContent + " " + box.height);
	}
	return bad.join("; ");
})()`

func pageAccessible(t *testing.T, start starter) {
	far := newAction(t, "Yes \u202e no")
	far.Evidence[0].Source, far.Grantable = hearken.System, false
	far.Evidence[1].Overlap = true
	h, b := start(nil)
	check := func(where string) {
		t.Helper()
		for _, name := range nameless(b) {
			t.Errorf("%s: a control without a name: %s", where, name)
		}
		if bad := eval[string](b, structure); bad != "" {
			t.Errorf("%s: %s", where, bad)
		}
		if bad := eval[string](b, contrast); bad != "" {
			t.Errorf("%s: hard to read: %s", where, bad)
		}
	}
	b.is(`document.querySelector("input")`)
	check("sign-in")
	for _, a := range append(past(t), far, newAction(t, "hello")) {
		h.queue.put(a)
	}
	h.queue.change(func() {
		h.queue.paused, h.queue.problem = true, hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be written.")
		h.queue.grants = []hearken.Grant{{ID: "grn_1", Principal: "key_laptop", Tool: hearken.MessageSend, Target: "email:bob@example.org", PerDay: 5, ExpiresAt: time.Now().Add(time.Hour)}}
	})
	b.signIn(pin)
	b.is(`document.querySelectorAll(".card .yes").length >= 2`)
	b.do(js(`document.querySelectorAll("details").forEach(d => d.open = true)`))
	check("light")
	b.dark()
	check("dark")

	// With the keyboard alone.
	b.do(js(`document.querySelectorAll("details").forEach(d => d.open = false)`))
	b.do(js(`document.querySelector("h1").focus()`))
	for range 30 {
		b.do(chromedp.KeyEvent("\t"))
		if eval[bool](b, `document.activeElement.matches(".card .yes")`) {
			break
		}
	}
	b.is(`document.activeElement.matches(".card .yes") && document.activeElement.getAttribute("aria-disabled") === "false"`)
	b.do(chromedp.KeyEvent("\r"))
	b.is(`document.querySelectorAll(".card").length === 1`)
	if got := h.queue.decisions(); len(got) != 1 || !got[0].Allow {
		t.Errorf("%+v", got)
	}
}

// nameless are the controls for which a screen reader has no name.
func nameless(b *tab) []string {
	b.t.Helper()
	controls := strings.Fields("button link textbox combobox spinbutton checkbox switch DisclosureTriangle")
	var bad []string
	n := 0
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, node := range tree.Nodes {
		var role, name string
		if node.Role != nil {
			json.Unmarshal(node.Role.Value, &role)
		}
		if node.Name != nil {
			json.Unmarshal(node.Name.Value, &name)
		}
		if node.Ignored || role == "" || !slices.Contains(controls, role) {
			continue
		}
		n++
		if strings.TrimSpace(name) == "" {
			bad = append(bad, role)
		}
	}
	if n == 0 {
		b.t.Error("no controls were looked at")
	}
	return bad
}
