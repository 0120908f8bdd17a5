package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/web"
)

// TestPage lets a real browser do what an owner does.
func TestPage(t *testing.T) {
	browser := chromium(t)
	for name, test := range map[string]func(t *testing.T, start func(func(*web.Config, *testPage)) (*testPage, *tab)){
		"SignIn": pageSignIn, "Setup": pageSetup, "Card": pageCard, "Evidence": pageEvidence, "Deceit": pageDeceit, "Decide": pageDecide, "Grant": pageGrant,
		"Armed": pageArmed, "Race": pageRace, "Live": pageLive, "Pause": pagePause, "Reload": pageReload, "Past": pagePast,
		"Calls": pageCalls, "AllowAll": pageAllowAll, "AllowAllRace": pageAllowAllRace, "CallEnds": pageCallEnds, "Undo": pageUndo, "UndoLink": pageUndoLink,
		"Narrow": pageNarrow, "Lost": pageLost, "Accessible": pageAccessible, "LongText": pageLongText, "Late": pageLate,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(change func(*web.Config, *testPage)) (*testPage, *tab) {
				h := open(t, change)
				t.Cleanup(h.CloseClientConnections)
				return h, newTab(t, browser, h)
			})
		})
	}
}

type starter = func(func(*web.Config, *testPage)) (*testPage, *tab)

// signedIn opens the page with some actions and signs in.
func signedIn(t *testing.T, start starter, actions ...hearken.Action) (*testPage, *tab) {
	t.Helper()
	h, b := start(func(_ *web.Config, h *testPage) {
		for _, a := range actions {
			h.queue.put(a)
		}
	})
	b.signIn(pin)
	b.is(`document.querySelectorAll(".card").length === %d && document.querySelector(".inbox[aria-busy=false]")`, pending(actions))
	return h, b
}

func pending(actions []hearken.Action) int {
	n := 0
	for _, a := range actions {
		if a.State == hearken.ActionPending {
			n++
		}
	}
	return n
}

func pageSignIn(t *testing.T, start starter) {
	_, b := start(nil)
	b.signIn("wrong")
	b.is(`document.querySelector("[role=alert]")?.textContent === "Wrong PIN."`)
	b.screenshotPage("wrong")
	b.do(js(`document.querySelector("input").value = ""`))
	b.signIn(pin)
	b.is(`document.querySelector("h1")?.textContent === "Approvals"`)
	b.screenshotPage("nothing")
	if got := eval[string](b, `document.cookie`); got != "" {
		t.Errorf("scripts can read the cookie: %s", got)
	}
	if got := eval[int](b, `localStorage.length + sessionStorage.length`); got != 0 {
		t.Error("the browser's storage is not empty")
	}
	b.press(".tools button:last-child")
	b.is(`document.querySelector("input[type=password]")`)
}

func pageSetup(t *testing.T, start starter) {
	h, b := start(func(cfg *web.Config, h *testPage) {
		h.owner.pin = ""
		cfg.SetupCode = func() string { return "the-code" }
	})
	b.is(`document.querySelector(".command")?.textContent === "hearken pin"`)
	b.screenshotPage("none")
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+"#setup=the-code"))
	b.is(`document.querySelectorAll("input[type=password]").length === 2`)
	if got := eval[string](b, `location.href`); strings.Contains(got, "the-code") {
		t.Errorf("the code stays in the address: %s", got)
	}
	b.do(chromedp.SendKeys(chromedp.CSS(`form p:nth-of-type(1) input`), "something"), chromedp.SendKeys(chromedp.CSS(`form p:nth-of-type(2) input`), "else\r"))
	b.is(`document.querySelector("[role=alert]")?.textContent.includes("not the same")`)
	b.screenshotPage("set")
	b.do(js(`document.querySelectorAll("input").forEach(i => i.value = "")`))
	b.do(chromedp.SendKeys(chromedp.CSS(`form p:nth-of-type(1) input`), "something"), chromedp.SendKeys(chromedp.CSS(`form p:nth-of-type(2) input`), "something\r"))
	b.is(`document.querySelector(".inbox")`)
	if err := h.owner.Check("something"); err != nil {
		t.Error(err)
	}
}

func pageCard(t *testing.T, start starter) {
	earlier := newAction(t, "Hello Bob,\nI will call you.")
	earlier.State, earlier.Decision = hearken.ActionDone, &hearken.Decision{Allow: true, By: "owner", From: "page", At: callAt}
	a := newAction(t, "Hello Bob,\n\nI'll send the contract on Friday.\n\nBest,\nAnna")
	_, b := signedIn(t, start, earlier, a)
	text := eval[string](b, `document.querySelector(".card").innerText`)
	for _, want := range []string{
		"Send an email to Bob Novák", "bob@example.org", "in your contact book", "I'll send the contract on Friday.\n\nBest,", "Claude Code", "laptop",
		"Your microphone", "Tell Bob Novák that I'll send the contract on Friday.", " min ", "Allow once", "Deny", "Messages to people always ask.", "Different from the last one",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not say %q:\n%s", want, text)
		}
	}
	b.screenshotPage("light")
	b.dark()
	b.screenshotPage("dark")
	b.press(".quote a")
	b.is(`document.querySelector("dialog .here")?.textContent.includes("Tell Bob")`)
	if got := eval[bool](b, `document.querySelector("dialog b") !== null`); got {
		t.Error("a transcript was read as HTML")
	}
	b.screenshotPage("around")
	b.press("dialog button")
	b.is(`!document.querySelector("dialog") && document.activeElement.matches(".quote a")`)
	link := eval[string](b, `document.querySelector(".quote a").href`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.is(`document.querySelector("dialog .here")?.textContent.includes("Tell Bob") && !location.hash`)
}

// The page says how sure it is whose words these are, and when they are gone.
func pageEvidence(t *testing.T, start starter) {
	overlap, echo, deleted := newAction(t, "a"), newAction(t, "b"), newAction(t, "c")
	overlap.Evidence[0].Overlap, overlap.Evidence[1].Overlap, overlap.Evidence[1].Coverage = true, true, 0.5
	echo.Evidence[1].Source, echo.Evidence[1].Echo, echo.Evidence[1].Overlap = hearken.System, true, true
	deleted.Evidence[0] = hearken.Evidence{Arg: "to", Source: hearken.Microphone, Deleted: true}
	deleted.Evidence[1] = hearken.Evidence{Arg: "text", Source: hearken.System, Deleted: true}
	_, b := signedIn(t, start, overlap, echo, deleted)
	for _, tt := range []struct {
		id            string
		quotes        int
		says, saysNot []string
	}{
		{overlap.ID, 1, []string{"These may not be your words", "Your microphone, while the other side may have been speaking · ", "Recipient, Text (50 % of the words)"}, []string{"The other side ·"}},
		{echo.ID, 2, []string{"This may be an echo of the other side", "Your microphone, may be an echo of the other side · "}, []string{"These may not be"}},
		{deleted.ID, 0, []string{"The words were deleted.", "Your microphone · Recipient", "The other side · Text"}, []string{"undefined", "%"}},
	} {
		text := eval[string](b, `document.querySelector('[data-id="%s"]').innerText`, tt.id)
		for _, want := range tt.says {
			if !strings.Contains(text, want) {
				t.Errorf("the card does not say %q:\n%s", want, text)
			}
		}
		for _, never := range tt.saysNot {
			if strings.Contains(text, never) {
				t.Errorf("the card says %q:\n%s", never, text)
			}
		}
		if got := eval[int](b, `document.querySelectorAll('[data-id="%s"] blockquote').length`, tt.id); got != tt.quotes {
			t.Errorf("%d quotes:\n%s", got, text)
		}
	}
	b.screenshotPage("light")
}

// Text that is meant to deceive is made visible.
func pageDeceit(t *testing.T, start starter) {
	a := newAction(t, "Pay \u202eevil\u202c now<script>alert(1)</script><img src=x onerror=alert(2)>\u200b\u0007 👨‍👩‍👧")
	a.Message.Name = "Bob <b>Novák</b>\u2066"
	a.Message.Address = "bob@exаmple.org" // the third letter of the domain is Cyrillic
	a.Message.Known, a.Grantable = false, false
	a.Target = "email:" + a.Message.Address
	a.Warnings = []string{"The words for \"to\" came from the other side of the call.", "The domain mixes alphabets."}
	a.Evidence[0].Source, a.Evidence[0].Quote, a.Evidence[0].Segment, a.Evidence[0].Line = hearken.System, "And <b>wire</b> the money.", "s3", 3
	a.Evidence[1] = hearken.Evidence{Arg: "text"}
	_, b := signedIn(t, start, a)
	text := eval[string](b, `document.querySelector(".card").innerText`)
	for _, want := range []string{
		"<script>alert(1)</script><img src=x onerror=alert(2)>", "U+202E", "U+202C", "U+200B", "U+0007", "👨‍👩‍👧", "Bob <b>Novák</b>", "xn--exmple-4nf.org", "not in your contact book",
		"came from the other side of the call", "The domain mixes alphabets.", "The other side said this", "And <b>wire</b> the money.", "nobody was heard saying this", "never allowed this kind",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not say %q:\n%s", want, text)
		}
	}
	if got := eval[int](b, `document.querySelectorAll(".card script, .card img, .card b, .similar").length`); got != 0 {
		t.Errorf("%d elements of somebody else, or a grant for what the other side said", got)
	}
	const unseen = `[...document.body.textContent].filter(c => "\u202e\u202c\u200b\u0007\u2066".includes(c)).length`
	if got := eval[int](b, unseen); got != 0 {
		t.Errorf("%d hidden characters are on the page", got)
	}
	b.screenshotPage("light")
	b.dark()
	b.screenshotPage("dark")
	b.press(".card .no")
	b.is(`document.querySelector(".past.denied") && document.querySelector(".notice").textContent.includes("Novák</b>U+2066")`)
	if got := eval[int](b, unseen); got != 0 {
		t.Errorf("%d hidden characters are on the page after the decision", got)
	}
}

func pageDecide(t *testing.T, start starter) {
	yes, no := newAction(t, "yes"), newAction(t, "no")
	h, b := signedIn(t, start, yes, no)
	b.press(chromedp.CSS(`[data-id="` + yes.ID + `"] .yes`))
	b.is(`document.querySelectorAll(".card").length === 1 && document.querySelector(".past.done")`)
	b.is(`document.querySelector("[role=status].notice").textContent.startsWith("Allowed: ")`)
	b.do(chromedp.Click(chromedp.CSS(`.card details.more:last-of-type summary`)))
	b.do(chromedp.SendKeys(chromedp.CSS(`.card details.more:last-of-type input`), "not today"))
	b.press(`.card details.more:last-of-type .no`)
	b.is(`document.querySelectorAll(".card").length === 0 && document.querySelector(".past.denied")`)
	b.is(`!document.querySelector(".nothing").hidden && document.title === "Approvals · Hearken"`)
	got := h.queue.decisions()
	if len(got) != 2 || got[0].ID != yes.ID || !got[0].Allow || got[0].Grant != nil || got[1].Allow || got[1].Reason != "not today" {
		t.Errorf("%+v", got)
	}
	b.screenshotPage("after")
}

// A grant can be made for what reaches only the owner. For a message to somebody
// else the page offers none, whatever the hub says.
func pageGrant(t *testing.T, start starter) {
	people, self := newAction(t, "to Bob"), newAction(t, "to me")
	people.Grantable, self.Grantable, self.Message.Own = true, true, true
	self.Message.Platform, self.Message.Address, self.Connector, self.Target = "ntfy", "my-topic", "ntfy", "ntfy:my-topic"
	h, b := signedIn(t, start, people, self)
	if got := eval[string](b, `[...document.querySelectorAll(".similar")].map(e => e.closest(".card").dataset.id).join()`); got != self.ID {
		t.Errorf("grants are offered for %s", got)
	}
	b.is(`document.querySelector("[data-id='%s']").innerText.includes("Messages to people always ask.")`, people.ID)
	b.do(chromedp.Click(chromedp.CSS(`.similar summary`)), chromedp.SetValue(chromedp.CSS(`.similar select`), "720"), chromedp.SetValue(chromedp.CSS(`.similar input`), "0"))
	b.press(`.similar .yes`)
	b.is(`document.activeElement.matches(".similar input:invalid")`)
	b.do(chromedp.SetValue(chromedp.CSS(`.similar input`), "3"))
	b.screenshotPage("open")
	b.press(`.similar .yes`)
	b.is(`document.querySelector(".grant")`)
	got := h.queue.decisions()
	if len(got) != 1 || got[0].ID != self.ID || got[0].Grant == nil || got[0].Grant.For != 720*time.Hour || got[0].Grant.PerDay != 3 {
		t.Errorf("%+v", got)
	}
	b.screenshotPage("made")
	b.press(`.grant button`)
	b.is(`!document.querySelector(".grant")`)
}

// A button does nothing in its first half second, nor when another card has
// just pushed it somewhere else.
func pageArmed(t *testing.T, start starter) {
	h, b := signedIn(t, start, newAction(t, "one"))
	b.is(`document.querySelector(".card .yes").getAttribute("aria-disabled") === "false"`)
	// The script clicks everything as soon as the second card appears.
	b.do(js(`void new MutationObserver((_, o) => {
		if (document.querySelectorAll(".card").length < 2) return;
		o.disconnect();
		const buttons = [...document.querySelectorAll(".card .decide > .buttons button")];
		window.early = buttons.map(b => b.getAttribute("aria-disabled"));
		buttons.forEach(b => b.click());
	}).observe(document.body, {childList: true, subtree: true})`))
	second := newAction(t, "two")
	h.queue.put(second)
	b.is(`window.early`)
	if got := eval[string](b, `window.early.join(" ")`); got != "true true true true" {
		t.Errorf("buttons that may not be pressed yet: %s", got)
	}
	b.is(`document.querySelector("[data-id='%s'] .yes").getAttribute("aria-disabled") === "false"`, second.ID)
	if got := h.queue.decisions(); len(got) != 0 {
		t.Errorf("clicks that came too early decided: %+v", got)
	}
	b.press(chromedp.CSS(`[data-id="` + second.ID + `"] .yes`))
	b.is(`document.querySelectorAll(".card").length === 1`)
	b.screenshotPage("one-left")
}

// Two tabs decide about the same action; the second learns that it was too late.
// It also has to ask for the PIN, which was entered only in the first tab.
func pageRace(t *testing.T, start starter) {
	a := newAction(t, "one")
	h, first := signedIn(t, start, a)
	second := newTab(t, first.ctx, h)
	second.is(`document.querySelector(".card .no")?.getAttribute("aria-disabled") === "false"`)
	h.queue.mu.Lock()
	h.queue.quiet = true // so that the second tab still shows it
	h.queue.mu.Unlock()
	first.press(".card .yes")
	first.is(`document.querySelector(".notice").textContent.startsWith("Allowed: ")`)
	second.press(".card .no")
	second.is(`document.querySelector("dialog.ask")?.innerText.includes("Deny: Send an email to Bob Novák")`)
	second.screenshotPage("pin-again")
	second.do(chromedp.SendKeys(chromedp.CSS(`dialog input`), pin+"\r"))
	second.is(`document.querySelector(".notice").textContent === "It had already been allowed on this page."`)
	if got := h.queue.decisions(); len(got) != 1 || !got[0].Allow {
		t.Errorf("%+v", got)
	}
}

func pageLive(t *testing.T, start starter) {
	h, b := signedIn(t, start)
	a := newAction(t, "news")
	h.queue.put(a)
	b.is(`document.querySelector(".card")?.dataset.id === %q && document.title.startsWith("(1)")`, a.ID)
	b.is(`document.querySelector(".unseen").textContent.startsWith("New: Send an email to Bob Novák")`)
	first := eval[string](b, `document.querySelector(".left").textContent`)
	b.is(`document.querySelector(".left").textContent !== %q`, first)
	// Somebody else decides while the owner's focus is in the card.
	b.do(chromedp.Focus(chromedp.CSS(".card .no")))
	h.queue.change(func() { h.queue.find(a.ID).State = hearken.ActionCancelled })
	b.is(`!document.querySelector(".card") && document.activeElement.id === "waiting" && document.querySelector(".notice").textContent.includes("decided elsewhere")`)
}

// Nobody decides in time.
func pageLate(t *testing.T, start starter) {
	a := newAction(t, "soon over")
	a.ExpiresAt = time.Now().Add(2 * time.Second)
	h, b := signedIn(t, start, a)
	b.is(`document.querySelector(".left.soon")`)
	b.is(`document.querySelector(".card.over .left")?.textContent === "time is up"`)
	b.do(js(`document.querySelectorAll(".card button").forEach(b => b.click())`))
	h.queue.change(func() { h.queue.find(a.ID).State = hearken.ActionExpired })
	b.is(`!document.querySelector(".card") && document.querySelector(".notice").textContent.startsWith("Too late")`)
	if got := h.queue.decisions(); len(got) != 0 {
		t.Errorf("decided too late: %+v", got)
	}
}

func pagePause(t *testing.T, start starter) {
	h, b := signedIn(t, start, newAction(t, "one"))
	b.press(".pause")
	b.is(`!document.querySelector(".paused-banner").hidden && document.querySelector(".pause").textContent === "Resume actions"`)
	if !h.queue.Paused() {
		t.Error("not paused")
	}
	h.queue.change(func() {
		h.queue.problem = hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be written: no space is left.").WithTry("hearken audit verify")
	})
	b.is(`document.querySelector(".problem").textContent.includes("no space is left. Try: hearken audit verify")`)
	b.screenshotPage("paused")
	b.press(".pause")
	b.is(`document.querySelector(".paused-banner").hidden`)
}

// A tab that is loaded again shows the inbox and asks for the PIN before it
// changes anything.
func pageReload(t *testing.T, start starter) {
	h, b := signedIn(t, start, newAction(t, "one"))
	b.do(chromedp.Reload())
	b.is(`document.querySelector(".card")`)
	b.press(".card .yes")
	b.is(`document.querySelector("dialog.ask")`)
	b.press("dialog .quiet")
	b.is(`!document.querySelector("dialog") && !document.querySelector(".busy")`)
	if got := h.queue.decisions(); len(got) != 0 {
		t.Errorf("decided without the PIN: %+v", got)
	}
	b.press(".card .yes")
	b.is(`document.querySelector("dialog.ask input")`)
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog input`), "wrong\r"))
	b.is(`document.querySelector("dialog [role=alert]").textContent === "Wrong PIN."`)
	b.do(js(`document.querySelector("dialog input").value = ""`), chromedp.SendKeys(chromedp.CSS(`dialog input`), pin+"\r"))
	b.is(`document.querySelector(".past.done") && !document.querySelector(".card")`)
}

// The hub is replaced by another one, where nobody is signed in.
func pageLost(t *testing.T, start starter) {
	h, b := signedIn(t, start, newAction(t, "one"))
	address := h.Listener.Addr().String()
	h.CloseClientConnections()
	h.Close()
	b.is(`!document.querySelector(".offline").hidden`)
	b.screenshotPage("away")
	b.press(".card .yes")
	b.is(`document.querySelector(".notice.bad")?.textContent.includes("did not answer")`)
	second := openAt(t, address)
	t.Cleanup(second.CloseClientConnections)
	b.is(`document.querySelector("input[type=password]") && document.body.innerText.includes("You were signed out.")`)
}

func pageLongText(t *testing.T, start starter) {
	h, b := signedIn(t, start, newAction(t, strings.Repeat("word ", 1000)+"THE END"))
	b.press(".card .yes")
	b.is(`document.querySelector(".card").innerText.includes("Show the whole text before you allow it.")`)
	if got := h.queue.decisions(); len(got) != 0 {
		t.Errorf("allowed what was not shown: %+v", got)
	}
	b.screenshotPage("cut")
	b.do(chromedp.Click(chromedp.CSS(".card .facts button")))
	b.is(`document.querySelector(".card .text").textContent.endsWith("THE END")`)
	b.press(".card .yes")
	b.is(`!document.querySelector(".card")`)
	if diff := cmp.Diff(1, len(h.queue.decisions())); diff != "" {
		t.Error(diff)
	}
}
