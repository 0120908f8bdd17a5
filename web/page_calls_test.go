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

// css selects something within the card or the row of an action.
func css(a hearken.Action, within string) chromedp.CSS {
	return chromedp.CSS(`[data-id="` + a.ID + `"] ` + within)
}

// Requests from two calls are two lists. What falls due soon is above them, with
// its deadline, and so is what belongs to no call.
func pageCalls(t *testing.T, start starter) {
	now := time.Now()
	far := inCall(newAction(t, "Please wire 500 euros to the account that Carol gave me."), callID)
	far.Message.Name, far.Message.Address, far.Message.Known = "", "carol@example.net", false
	far.Evidence[1].Source, far.Evidence[1].Quote = hearken.System, "Please wire the money to my account."
	far.Warnings = []string{
		"The other side said the text, not you.", "This is the first message to this address.",
		"There are two contacts named Carol: Carol Jones <carol@example.com> and Carol Smith <carol@example.net>. The second was chosen.",
	}
	similar := inCall(newAction(t, "I'll send the contract on Friday."), callID)
	similar.Warnings = []string{"A message with much the same text already waits for Bob Novák."}
	asked := inCall(newReminder(t, "Send the contract", now.Add(48*time.Hour)), callID)
	asked.Warnings = []string{"A grant covers this, but people could be heard within the last 10 minutes, so you are asked."}
	earlier := inCall(newAction(t, "The minutes are attached."), earlierID)
	earlier.ExpiresAt = now.Add(20 * time.Minute)
	soon := inCall(newReminder(t, "Call the bank", now.Add(12*time.Minute)), callID)
	alone := newAction(t, "This was requested outside any call.")
	h, b := signedIn(t, start)
	h.queue.change(func() { h.queue.ended = map[string]time.Time{earlierID: now.Add(-10 * time.Minute)} })
	for _, a := range append(past(t), far, similar, asked, earlier, alone, soon) {
		h.queue.put(a)
	}
	b.is(`document.querySelectorAll(".card").length === 6 && document.querySelectorAll(".call").length === 2`)
	if diff := cmp.Diff(strings.Join([]string{soon.ID, alone.ID, far.ID, similar.ID, asked.ID, earlier.ID}, " "),
		eval[string](b, `[...document.querySelectorAll(".card")].map(c => c.dataset.id).join(" ")`)); diff != "" {
		t.Error(diff)
	}
	for selector, want := range map[string]string{
		`.cards > [data-id="` + soon.ID + `"]`: "This falls due soon, so it does not wait for the end of your call. Decide by ",
		`[data-call="` + callID + `"]`:         "(still going on). You need not decide before it ends.",
		`[data-call="` + callID + `"] h3`:      "Call with Bob",
		`[data-call="` + earlierID + `"]`:      "which ended ",
		`[data-call="` + earlierID + `"] h3`:   "Your call",
		`[data-id="` + asked.ID + `"]`:         "so you are asked.",
		`[data-id="` + similar.ID + `"]`:       "much the same text",
		`[data-id="` + far.ID + `"]`:           "The second was chosen.",
	} {
		if text := eval[string](b, `document.querySelector(%q)?.innerText`, selector); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", selector, want, text)
		}
	}
	// The time to decide is not known while the call goes on.
	if got := eval[string](b, `document.querySelector("[data-id='%s'] .left").textContent`, similar.ID); got != "" {
		t.Errorf("time left during the call: %s", got)
	}
	if got := eval[string](b, `[...document.querySelectorAll(".call .all button")].filter(b => b.checkVisibility()).map(b => b.textContent).join("; ")`); got != "Allow all 3 shown; Deny all 3 shown" {
		t.Errorf("buttons: %s", got)
	}
	check := func(where string) {
		t.Helper()
		if bad := strings.Join(append(nameless(b), eval[string](b, structure), eval[string](b, contrast)), ""); bad != "" {
			t.Errorf("%s: %s", where, bad)
		}
	}
	check("light")
	b.screenshotPage("light")
	b.dark()
	check("dark")
	b.screenshotPage("dark")
	b.press(chromedp.CSS(`[data-call="` + callID + `"] .all .yes`))
	b.is(`document.querySelector("dialog.all")`)
	check("dialog")
	b.screenshotView("dialog-dark")
	b.narrow(360)
	b.screenshotView("dialog-360")
	b.press("dialog .quiet")
	b.screenshotPage("360")
}

// One click shows what will happen, a second one decides. An action that arrives
// in between is not part of it.
func pageAllowAll(t *testing.T, start starter) {
	message, reminder := inCall(newAction(t, "I'll send the contract on Friday."), callID), inCall(newReminder(t, "Send the contract", time.Now().Add(48*time.Hour)), callID)
	self := inCall(newAction(t, "A note to myself"), callID)
	self.Message.Name, self.Message.Own, self.Message.Platform, self.Message.Address = "", true, "ntfy", "my-topic"
	h, b := signedIn(t, start, message, reminder, self)
	// The script clicks as soon as the dialog appears, as a double click does.
	b.do(js(`void new MutationObserver((_, o) => {
		if (!document.querySelector("dialog .yes")) return;
		o.disconnect();
		document.querySelector("dialog .yes").click();
		window.early = true;
	}).observe(document.body, {childList: true})`))
	b.press(".call .all .yes")
	b.is(`document.querySelector("dialog.all") && window.early`)
	text := eval[string](b, `document.querySelector("dialog").innerText`)
	people, others, _ := strings.Cut(text, "Besides:")
	for _, want := range []string{"Allow these 3 actions?", "1 message goes to somebody else and cannot be undone:", "Send an email to Bob Novák", "bob@example.org", "“I'll send the contract on Friday.”"} {
		if !strings.Contains(people, want) {
			t.Errorf("the dialog does not say %q:\n%s", want, text)
		}
	}
	for _, want := range []string{"Remind you: “Send the contract”", "my-topic"} {
		if !strings.Contains(others, want) {
			t.Errorf("the dialog does not say %q:\n%s", want, text)
		}
	}
	late := inCall(newAction(t, "This arrives later."), callID)
	h.queue.put(late)
	b.is(`document.querySelectorAll(".card").length === 4 && document.querySelector(".all .yes").textContent === "Allow all 4 shown"`)
	if got := h.queue.decisions(); len(got) != 0 {
		t.Fatalf("decided with one click: %+v", got)
	}
	b.screenshotView("dialog")
	b.press("dialog .yes")
	b.is(`!document.querySelector("dialog") && document.querySelectorAll(".card").length === 1 && document.querySelector(".notice").textContent === "3 allowed."`)
	if got := h.queue.decisions(); len(got) != 3 || h.queue.state(late.ID) != hearken.ActionPending {
		t.Errorf("%+v", got)
	}
	b.is(`document.querySelector(".all").hidden && document.activeElement !== document.body`)

	// A text that is not shown in full cannot be allowed, but it can be denied.
	h.queue.put(inCall(newAction(t, strings.Repeat("word ", 1000)+"THE END"), callID))
	b.is(`document.querySelector(".all .yes").textContent === "Allow all 2 shown"`)
	b.press(".call .all .yes")
	b.is(`document.querySelector(".notice").textContent.startsWith("Show the whole text before you allow all") && !document.querySelector("dialog")`)
	b.press(".call .all .no")
	b.is(`document.querySelector("dialog h2")?.textContent === "Deny these 2 actions?"`)
	b.press("dialog .quiet")
	b.is(`!document.querySelector("dialog") && document.activeElement.matches(".all .no")`)
	b.press(".call .all .no")
	b.press("dialog .yes")
	b.is(`!document.querySelector(".card") && !document.querySelector(".call") && document.activeElement.id === "waiting"`)
	if got := h.queue.decisions(); len(got) != 5 || got[4].Allow {
		t.Errorf("%+v", got)
	}
}

// Some of the actions were decided elsewhere meanwhile, or are not what was
// shown. The page says which. In a tab without the token it asks for the PIN
// once.
func pageAllowAllRace(t *testing.T, start starter) {
	first, second, third := inCall(newAction(t, "one"), callID), inCall(newAction(t, "two"), callID), inCall(newAction(t, "three"), callID)
	h, b := signedIn(t, start, first, second, third)
	b.do(chromedp.Reload())
	b.is(`document.querySelectorAll(".card").length === 3`)
	b.press(".call .all .yes")
	b.is(`document.querySelector("dialog.all")`)
	h.queue.mu.Lock()
	h.queue.quiet = true // so that the page still shows them
	h.queue.find(first.ID).State = hearken.ActionCancelled
	h.queue.find(second.ID).Digest = "sha256:another"
	h.queue.mu.Unlock()
	b.press("dialog.all .yes")
	b.is(`document.querySelector("dialog.ask")?.innerText.includes("Allow these 3 actions?")`)
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.ask input`), pin+"\r"))
	b.is(`document.querySelector("dialog.all h2")?.textContent === "1 of 3 allowed, but not:"`)
	text := eval[string](b, `document.querySelector("dialog.all ul").innerText`)
	for _, want := range []string{"It was cancelled before you decided.", "This is not the action that was shown."} {
		if !strings.Contains(text, want) {
			t.Errorf("the dialog does not say %q:\n%s", want, text)
		}
	}
	b.screenshotView("some")
	if got := h.queue.decisions(); len(got) != 1 || got[0].ID != third.ID {
		t.Errorf("%+v", got)
	}
	b.press("dialog.all button")
	b.is(`!document.querySelector("dialog")`)
}

// When the call ends, the list says so and counts down. What has become due
// moves to the top.
func pageCallEnds(t *testing.T, start starter) {
	a, other := inCall(newReminder(t, "Call the bank", time.Now().Add(2*time.Hour)), callID), inCall(newAction(t, "two"), callID)
	h, b := signedIn(t, start, a, other)
	b.is(`document.querySelector(".call").innerText.includes("still going on")`)
	b.do(chromedp.Focus(css(other, ".yes")))
	h.queue.change(func() {
		h.queue.ended = map[string]time.Time{callID: time.Now()}
		h.queue.find(other.ID).ExpiresAt = time.Now().Add(30 * time.Minute)
	})
	b.is(`document.querySelector(".call").innerText.includes("which ended ") && /^(29|30) min/.test(document.querySelector("[data-id='%s'] .left").textContent)`, other.ID)
	b.is(`document.activeElement.closest(".card")?.dataset.id === %q`, other.ID) // nothing was rebuilt
	h.queue.change(func() {
		r := *h.queue.find(a.ID).Reminder
		r.At = time.Now().Add(20 * time.Minute)
		h.queue.find(a.ID).Reminder, h.queue.find(a.ID).ExpiresAt = &r, r.At
	})
	b.is(`document.querySelector(".cards > [data-id='%s'] .due")`, a.ID)
	// The words behind it were deleted.
	h.queue.change(func() { h.queue.find(other.ID).Evidence = nil })
	b.is(`!document.querySelector("[data-id='%s']").textContent.includes("Tell Bob")`, other.ID)
}

// What a grant allowed is marked, and undone without the PIN. After a day the
// PIN is needed.
func pageUndo(t *testing.T, start starter) {
	at := time.Now().Add(48 * time.Hour)
	a, old := granted(newReminder(t, "today", at), time.Now().Add(-time.Hour)), granted(newReminder(t, "older", at), time.Now().Add(-25*time.Hour))
	h, b := signedIn(t, start, a, old)
	b.is(`document.querySelectorAll(".past").length === 2`)
	rows := eval[string](b, `[...document.querySelectorAll(".past")].map(p => p.innerText).join("; ")`)
	if strings.Count(rows, "Done by your grant") != 2 || strings.Count(rows, "undo without the PIN until ") != 1 {
		t.Error(rows)
	}
	b.do(chromedp.Reload()) // so that the tab has no token
	b.is(`document.querySelectorAll(".past").length === 2`)
	b.screenshotPage("granted")
	b.press(css(a, "button"))
	b.is(`document.querySelector('.past.undone[data-id="%s"]') && !document.querySelector("dialog")`, a.ID)
	if got := h.queue.undoneWithoutPIN(); len(got) != 1 || got[0] != a.ID {
		t.Errorf("%v", got)
	}
	b.press(css(old, "button"))
	b.is(`document.querySelector("dialog.ask")?.innerText.includes("Undo: Remind you: “older”")`)
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog input`), pin+"\r"))
	b.is(`document.querySelector('.past.undone[data-id="%s"]')`, old.ID)
}

// The link of a notification, in a browser that is not signed in.
func pageUndoLink(t *testing.T, start starter) {
	h, b := start(nil)
	a := granted(newReminder(t, "Send <b>the</b> contract\u202e to Bob", time.Date(2031, 3, 14, 14, 0, 0, 0, time.UTC)), time.Now().Add(-time.Hour))
	h.queue.put(a)
	b.do(chromedp.Navigate(h.URL + web.UndoPath(undoKey, a.ID)))
	b.is(`document.querySelector("h1")?.textContent === "Done by your grant" && !document.querySelector("b")`)
	if bad := eval[string](b, contrast) + eval[string](b, structure); bad != "" {
		t.Error(bad)
	}
	b.screenshotView("light")
	b.dark()
	if bad := eval[string](b, contrast); bad != "" {
		t.Error(bad)
	}
	b.narrow(360)
	b.screenshotView("360-dark")
	if h.queue.state(a.ID) != hearken.ActionDone {
		t.Fatal("looking has undone it")
	}
	res, err := chromedp.RunResponse(b.ctx, chromedp.Click(chromedp.CSS("button")))
	if err != nil || res.Status != 200 {
		t.Fatalf("%+v, %v", res, err)
	}
	b.is(`document.querySelector("h1")?.textContent === "Undone" && !document.querySelector("form")`)
	if h.queue.state(a.ID) != hearken.ActionUndone || len(h.queue.decisions()) != 0 {
		t.Error("not undone")
	}
	b.screenshotView("undone")
	b.do(chromedp.Navigate(h.URL + "/undo/" + a.ID + "?t=guess"))
	b.is(`document.querySelector("h1")?.textContent === "Nothing was undone"`)
	b.screenshotView("wrong")
}
