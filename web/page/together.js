// One decision about all actions of a list: what will happen, a second click, and
// what became of each action.
import { arm } from "./arm.js";
import { el, focusFirst } from "./dom.js";
import { change } from "./hub.js";
import { notice } from "./notice.js";
import { address, isolated, reveal } from "./text.js";
import { words } from "./words.js";

// confirmAll asks whether to decide about these actions, exactly as they are
// shown, and decides. Whatever arrives meanwhile is not included. mine holds the
// ids of the actions that were decided on this page.
export function confirmAll(actions, allow, mine) {
  const w = allow ? words.together.allow : words.together.deny;
  const from = document.activeElement, n = actions.length;
  const title = el("h2", { id: "all-title", tabindex: "-1" }, w.question(n));
  const error = el("p", { class: "error", role: "alert" });
  const close = (label, className) => el("button", { type: "button", class: className, click: () => dialog.close() }, label);
  const confirm = el("button", { type: "button", class: allow && actions.some((a) => a.warning) ? "yes doubtful" : "yes" }, w.button(n));
  const dialog = el("dialog", { class: "all", "aria-labelledby": "all-title", close: () => { dialog.remove(); focusFirst(from, document.querySelector(".card .title"), document.getElementById("waiting")); } },
    title, allow ? whatHappens(actions) : list(actions), error,
    el("p", { class: "buttons" }, arm(confirm, () => decide()), close(words.together.notNow, "quiet")));

  let busy = false;
  const decide = async () => {
    if (busy) return;
    busy = true;
    error.textContent = "";
    actions.forEach((a) => mine.add(a.id));
    const over = new Set(); // decided, here or elsewhere
    try {
      const answer = await change("decide-all", { allow, actions: actions.map(({ id, digest }) => ({ id, digest })) }, w.question(n));
      if (answer) {
        answer.results.forEach((r) => r.error || over.add(r.id));
        showResults(answer.results.filter((r) => !r.decided));
      }
    } catch (e) {
      if (dialog.open) error.textContent = e.message;
      else notice(e.message, true);
    } finally {
      actions.forEach((a) => over.has(a.id) || mine.delete(a.id));
      busy = false;
    }
  };
  const showResults = (open) => {
    if (!open.length || !dialog.open) {
      dialog.close();
      notice(w.done(n - open.length, n), open.length > 0);
      return;
    }
    const line = new Map(actions.map((a) => [a.id, words.what(a)]));
    title.textContent = w.done(n - open.length, n);
    dialog.replaceChildren(title,
      el("ul", { class: "happens" }, open.map((r) => el("li", {},
        el("span", { class: "line", dir: "auto" }, reveal(line.get(r.id))),
        el("span", { class: "line doubt" }, r.error ? r.error.message : words.elsewhere(r.action))))),
      el("p", { class: "buttons" }, close(words.close)));
    title.focus();
  };

  document.body.append(dialog);
  dialog.showModal();
  title.focus();
}

// whatHappens names first the people who would get a message.
function whatHappens(actions) {
  const people = actions.filter((a) => a.message && !a.message.own);
  const others = actions.filter((a) => !people.includes(a));
  if (!people.length) return list(others);
  return [
    el("p", { class: "strong" }, words.together.toPeople(people.length)), list(people),
    others.length ? [el("p", { class: "strong" }, words.together.also), list(others)] : [],
  ].flat();
}

// list shows actions in short. The cards show all of them in full.
function list(actions) {
  return el("ul", { class: "happens" }, actions.map((a) => el("li", {},
    el("span", { class: "line", dir: "auto" }, reveal(words.what(a))),
    a.message && el("span", { class: "line" }, ...address(a.message.address).filter(Boolean)),
    a.message && el("span", { class: "line muted", dir: "auto" }, isolated(words.quoted(a.message.text))),
    a.when && el("span", { class: "line muted" }, `${a.when.day}, ${a.when.clock}`),
    a.warning && el("span", { class: "line bad" }, words.warning[a.warning]))));
}
