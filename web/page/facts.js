// The facts of an action as a list, for pending and for past ones.
import { el, fact } from "./dom.js";
import { address, block, isolated } from "./text.js";
import { moment } from "./times.js";
import { words } from "./words.js";

const lines = (list) => list.map((line, i) => el("span", { class: i ? "line muted" : "line" }, line));

// facts returns the list, and a function that reports whether it shows every
// text in full.
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
    m.name && el("span", { class: "line strong" }, isolated(m.name)),
    el("span", { class: "line" }, ...address(m.address).filter(Boolean)),
    el("span", { class: m.known ? "line muted" : "line doubt" }, m.known ? words.known : words.unknown,
      m.to && m.to !== m.address && m.to !== m.name ? [" · ", isolated(words.asAsked(m.to))] : ""),
  ];
  return [fact(words.to, ...to.filter(Boolean)), fact(words.text, text(m.text))];
}

function appointment(a, text) {
  const e = a.event;
  return [
    fact(words.when, lines(moment(a.when))),
    fact(words.length, el("span", {}, words.minutes(e.duration / 6e10), el("span", { class: "muted" }, " · ", words.until(until(a.when, a.end))))),
    e.location && fact(words.place, isolated(e.location)),
    fact(words.calendar, isolated(words.connector(a.connector))),
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

// repeats shows how a reminder repeats: the hub's description of its rule, its
// next times, and the rule itself.
function repeats(a) {
  const [rule, next = ""] = a.schedule.split("; next: ");
  return [
    el("span", { class: "line" }, isolated(rule)),
    next && el("ul", { class: "times", "aria-label": words.next }, next.split(", ").map((t) => el("li", {}, isolated(t)))),
    el("span", { class: "line muted" }, isolated(a.reminder.repeat, "code")),
  ].filter(Boolean);
}

// asker shows who asks: the name that the owner gave the key, and the name that
// the client gives itself, which proves nothing.
function asker(a) {
  const key = a.key === "local" ? words.local : words.key(a.keyName, a.key);
  return fact(words.askedBy, a.client ? [el("span", { class: "strong" }, isolated(a.client)), " · "] : "", isolated(key));
}
