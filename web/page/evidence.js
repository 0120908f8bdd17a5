// The words behind an action: who said them, when, and their context.
import { el } from "./dom.js";
import { isolated, reveal } from "./text.js";
import { clockText, local } from "./times.js";
import { words } from "./words.js";
import { transcript } from "./hub.js";
import { notice } from "./notice.js";

// side says where words were heard. Nobody can know who speaks into a microphone.
const side = (e) => (e.echo ? words.echo : e.source === "S" ? words.them : e.overlap ? words.overlap : words.you);
const isFar = (e) => e.echo || e.source === "S";

// evidence shows the words behind an action, each quote once.
export function evidence(list) {
  if (!list?.length) return "";
  const quotes = new Map();
  const missing = [];
  for (const e of list) {
    if (!e.source) {
      missing.push(e);
      continue;
    }
    const key = `${e.session}/${e.segment}/${e.quote}/${e.source}/${e.echo}/${e.overlap}`;
    quotes.set(key, [...(quotes.get(key) ?? []), e]);
  }
  return el("section", { class: "evidence", "aria-label": words.evidence },
    el("p", { class: "evidence-title" }, words.evidence),
    [...quotes.values()].map(quote),
    missing.map((e) => el("p", { class: "missing" }, el("span", { class: "label" }, words.arg(e.arg)), " ", words.notHeard)));
}

function quote(same) {
  const e = same[0];
  return el("figure", { class: isFar(e) ? "quote far" : e.overlap ? "quote unsure" : "quote" },
    e.deleted ? el("p", { class: "muted" }, words.deleted) : el("blockquote", { dir: "auto" }, reveal(e.quote)),
    el("figcaption", {},
      el("strong", { class: "side" }, side(e)),
      e.speaker !== undefined && e.speaker !== null ? ` · ${words.speaker(e.speaker)}` : "",
      e.at ? [" · ", local(e.at)] : "",
      " · ", same.map((s) => `${words.arg(s.arg)}${!s.deleted && s.cover < 0.995 ? ` (${words.cover(s.cover)})` : ""}`).join(", "),
      e.session && e.line ? [" · ", around(e)] : ""));
}

// around is a link that shows the session in a dialog.
function around(e) {
  return el("a", {
    href: `#session=${encodeURIComponent(e.session)}&line=${e.line}`,
    click: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // opens a new tab
      event.preventDefault();
      showSession(e.session, e.line, event.currentTarget);
    },
  }, words.around);
}

// showSession shows what was said around a line of a session.
export async function showSession(session, line, from) {
  let t;
  try {
    t = await transcript(session, line);
  } catch (error) {
    notice(error.message, true);
    return;
  }
  const dialog = el("dialog", { class: "around", "aria-labelledby": "around-title", close: () => { dialog.remove(); from?.focus(); } },
    el("h2", { id: "around-title" }, isolated(words.aroundTitle(t.title))),
    el("ol", { class: "lines" }, t.lines.map((l) =>
      el("li", { class: (l.source === "S" || l.echo ? "far" : "") + (l.line === line ? " here" : ""), "aria-current": l.line === line ? "true" : false },
        el("span", { class: "who" }, `${side(l)} · ${clockText(l.at)}`),
        el("span", { dir: "auto" }, reveal(l.text))))),
    el("p", { class: "buttons" }, el("button", { type: "button", click: () => dialog.close() }, words.close)));
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector(".here")?.scrollIntoView({ block: "center" });
}
