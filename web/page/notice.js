// Notices about what has just happened: a line at the foot of the page, and
// announcements for screen readers of what others can see.
import { el } from "./dom.js";
import { reveal } from "./text.js";

const bar = el("p", { class: "notice", role: "status", "aria-live": "polite" });
const announcer = el("p", { class: "unseen", role: "status", "aria-live": "polite" });
let timer;

export function mountNotice(parent) { parent.append(bar, announcer); }

// notice shows a message that disappears after a while, later if it is bad.
export function notice(text, bad = false) {
  clearTimeout(timer);
  bar.classList.toggle("bad", bad);
  bar.replaceChildren(reveal(text));
  bar.classList.add("shown");
  timer = setTimeout(() => bar.classList.remove("shown"), bad ? 30000 : 5000);
}

// announce tells screen readers about a new card. It hides the notice, which is
// old by then and must not cover the card.
export function announce(text) {
  bar.classList.remove("shown");
  announcer.replaceChildren(reveal(text));
}
