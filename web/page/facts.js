// What an action is, as a list of facts: the same for one that waits and for
// one that is over.
import { el, fact } from "./dom.js";
import { address, block, said } from "./text.js";
import { moment } from "./times.js";
import { words } from "./words.js";

const lines = (list) => list.map((line, i) => el("span", { class: i ? "line muted" : "line" }, line));

// facts returns the list, and whether all of every text is shown in it.
export function facts(a, onWhole) {
  let cut = 0;
  const text = (value) => {
    const b = block(value, () => { if (--cut === 0) onWhole?.(); });
    if (!b.whole) cut++;
    return b.node;
  };
  const rows = a.message ? message(a, text) : a.event ? appointment(a, text) : a.reminder ? reminder(a, text) : [];
  return { node: el("dl", { class: "facts" }, ...rows, asker(a)), whole: () => cut === 0 };
}

function message(a, text) {
  const m = a.message;
  const to = [
    m.name && el("span", { class: "line strong" }, said(m.name)),
    el("span", { class: "line" }, ...address(m.address).filter(Boolean)),
    el("span", { class: m.known ? "line muted" : "line doubt" }, m.known ? words.known : words.unknown,
      m.to && m.to !== m.address && m.to !== m.name ? [" · ", said(words.asAsked(m.to))] : ""),
  ];
  return [fact(words.to, ...to.filter(Boolean)), fact(words.text, text(m.text))];
}

function appointment(a, text) {
  const e = a.event;
  return [
    fact(words.when, lines(moment(a.when))),
    fact(words.length, el("span", {}, words.minutes(e.duration / 6e10), el("span", { class: "muted" }, " · ", words.until(until(a.when, a.end))))),
    e.location && fact(words.place, said(e.location)),
    fact(words.calendar, said(words.connector(a.connector))),
    e.description && fact(words.description, text(e.description)),
    [...e.title].length > 80 && fact(words.arg("title"), text(e.title)),
  ].filter(Boolean);
}

const until = (start, end) => (start.day === end.day ? end.clock : `${end.day}, ${end.clock}`);

function reminder(a, text) {
  const r = a.reminder;
  return [
    fact(words.when, lines(moment(a.when))),
    r.repeat && fact(words.repeats, ...repeats(a)),
    fact(words.arg("note"), text(r.note)),
  ].filter(Boolean);
}

// repeats is how a reminder comes again: the hub's words for its rule, its next
// times, and the rule itself.
function repeats(a) {
  const [rule, next = ""] = a.schedule.split("; next: ");
  return [
    el("span", { class: "line" }, said(rule)),
    next && el("ul", { class: "times", "aria-label": words.next }, next.split(", ").map((t) => el("li", {}, said(t)))),
    el("span", { class: "line muted" }, said(a.reminder.repeat, "code")),
  ].filter(Boolean);
}

// asker says who wants it: the name that the owner gave the key, and what the
// client calls itself, which anybody may.
function asker(a) {
  const key = a.key === "local" ? words.local : words.key(a.keyName, a.key);
  return fact(words.askedBy, a.client ? [el("span", { class: "strong" }, said(a.client)), " · "] : "", said(key));
}
