// The PIN forms: to sign in, to set the first PIN, and to unlock a new tab.
import { el, field } from "./dom.js";
import { login, me, setPIN } from "./hub.js";
import { reveal } from "./text.js";
import { words } from "./words.js";

const w = words.signIn;

// pinInput asks browsers not to store the PIN: it could be read from disk.
const pinInput = () => el("input", { type: "password", autocomplete: "one-time-code", autocapitalize: "none", spellcheck: "false", required: true, maxlength: "200" });

// form makes a form that is sent once at a time and shows errors.
function form(fields, label, send, ...more) {
  const error = el("p", { class: "error", role: "alert" });
  const button = el("button", { type: "submit", class: "yes" }, label);
  return el("form", {
    submit: async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      button.disabled = true;
      button.textContent = w.checking;
      error.textContent = "";
      try {
        await send();
      } catch (e) {
        error.textContent = e.message;
        const input = event.target?.querySelector("input");
        input?.focus();
        input?.select();
      } finally {
        button.disabled = false;
        button.textContent = label;
      }
    },
  }, fields, error, el("p", { class: "buttons" }, button, ...more));
}

function frame(title, ...content) {
  return el("main", { class: "sign-in" },
    el("div", { class: "panel" },
      el("p", { class: "brand" }, el("img", { src: "/approvals/icon.svg", alt: "", width: "40", height: "40" }), words.app),
      el("h1", {}, title), ...content));
}

// showSignIn asks for the PIN.
export function showSignIn(root, { message, onSignedIn }) {
  const pin = pinInput();
  root.replaceChildren(frame(w.title, el("p", { class: "lead" }, w.lead), message ? el("p", { class: "hint", role: "status" }, message) : "",
    form([field(w.pin, pin)], w.button, async () => {
      await login(pin.value);
      onSignedIn();
    })));
  pin.focus();
}

// showNoPIN says how to set the first PIN.
export function showNoPIN(root, onSet) {
  root.replaceChildren(frame(w.noPin, el("p", { class: "lead" }, w.noPinLead), el("p", {}, el("code", { class: "command" }, w.noPinCommand)), el("p", { class: "lead" }, w.noPinThen),
    form([], w.again, async () => { if ((await me()).pin) onSet(); })));
}

// showSetPIN sets the first PIN with the code from the terminal.
export function showSetPIN(root, code, onSignedIn) {
  const pin = pinInput(), again = pinInput();
  root.replaceChildren(frame(w.setTitle, el("p", { class: "lead" }, w.setLead),
    form([field(w.pin, pin), field(w.repeat, again)], w.setButton, async () => {
      if (pin.value !== again.value) throw new Error(w.unequal);
      await setPIN(code, pin.value);
      onSignedIn();
    })));
  pin.focus();
}

// askPIN asks for the PIN in a dialog that says what it is for. It resolves to
// whether the owner entered it.
export function askPIN(what) {
  return new Promise((resolve) => {
    const pin = pinInput(), from = document.activeElement;
    let ok = false;
    const dialog = el("dialog", { class: "ask", "aria-labelledby": "ask-title", close: () => { dialog.remove(); from?.focus(); resolve(ok); } },
      el("h2", { id: "ask-title" }, w.unlock), el("p", { class: "lead" }, w.unlockLead),
      what ? el("p", { class: "text", dir: "auto" }, reveal(what)) : "",
      form([field(w.pin, pin)], w.unlockButton, async () => {
        await login(pin.value);
        ok = true;
        dialog.close();
      }, el("button", { type: "button", class: "quiet", click: () => dialog.close() }, w.cancel)));
    document.body.append(dialog);
    dialog.showModal();
    pin.focus();
  });
}
