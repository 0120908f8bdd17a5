// What has just happened: a line at the foot of the page, and a word for
// screen readers where eyes can see it anyway.
import { el } from "./dom.js";
import { reveal } from "./text.js";

const bar = el("p", { class: "notice", role: "status", "aria-live": "polite" });
const voice = el("p", { class: "unseen", role: "status", "aria-live": "polite" });
let timer;

export function mountNotice(parent) { parent.append(bar, voice); }

// notice says something. It goes by itself, bad news later.
export function notice(text, bad = false) {
  clearTimeout(timer);
  bar.classList.toggle("bad", bad);
  bar.replaceChildren(reveal(text));
  bar.classList.add("shown");
  timer = setTimeout(() => bar.classList.remove("shown"), bad ? 30000 : 5000);
}

// announce tells screen readers of a new card. What the line at the foot says
// is old then, and must not cover it.
export function announce(text) {
  bar.classList.remove("shown");
  voice.replaceChildren(reveal(text));
}
