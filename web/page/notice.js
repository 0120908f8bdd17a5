// One line at the foot of the page that says what has just happened, also to
// screen readers.
import { el } from "./dom.js";

const bar = el("p", { class: "notice", role: "status", "aria-live": "polite" });
let timer;

export function mountNotice(parent) { parent.append(bar); }

// notice says something. It goes by itself, except for bad news.
export function notice(text, bad = false) {
  clearTimeout(timer);
  bar.classList.toggle("bad", bad);
  bar.replaceChildren(text);
  bar.classList.add("shown");
  timer = setTimeout(() => bar.classList.remove("shown"), bad ? 30000 : 8000);
}
