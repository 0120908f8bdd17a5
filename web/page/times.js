// Times as people read them.
import { words } from "./words.js";

const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const long = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
let ahead = 0; // milliseconds by which the hub's clock is ahead of this computer's

// local is a time in this computer's time zone.
export function local(text) {
  const node = document.createElement("time");
  const t = new Date(text);
  node.dateTime = text;
  node.title = long.format(t);
  node.textContent = short.format(t);
  return node;
}
export const localText = (text) => short.format(new Date(text));
export const clockText = (text) => clock.format(new Date(text));

const isToday = (t) => dayText(t) === dayText(new Date(Date.now() + ahead));

// dayAndClock is the time of day, with the day if that is not today. atTime is
// the same within a sentence.
export const dayAndClock = (text) => (isToday(new Date(text)) ? clockText(text) : localText(text));
export const atTime = (text) => (isToday(new Date(text)) ? words.at(clockText(text)) : words.on(localText(text)));

// moment is a time in its own time zone, and in this computer's zone if that
// differs.
export function moment(m) {
  const t = new Date(m.at);
  const lines = [`${m.day}, ${m.clock}`, `${m.zone} (${m.offset})`];
  if (!m.clock.startsWith(clock.format(t)) || m.day !== dayText(t)) {
    lines.push(words.here(m.day === dayText(t) ? clock.format(t) : `${dayText(t)}, ${clock.format(t)}`, zone));
  }
  return lines;
}

function dayText(t) {
  const p = Object.fromEntries(day.formatToParts(t).map(({ type, value }) => [type, value]));
  return `${p.weekday}, ${p.day} ${p.month} ${p.year}`;
}

// Countdowns use the hub's clock, not this computer's.
export const setNow = (now) => { ahead = new Date(now) - Date.now(); };
export const secondsUntil = (text) => Math.ceil((new Date(text) - Date.now() - ahead) / 1000);
