// Past actions, and grants.
import { arm } from "./arm.js";
import { el, fact } from "./dom.js";
import { evidence } from "./evidence.js";
import { facts } from "./facts.js";
import { address, isolated, reveal } from "./text.js";
import { dayAndClock, local, localText } from "./times.js";
import { words } from "./words.js";

// makePast makes one row: the outcome of an action, with all its details.
export function makePast(a, undo) {
  const at = a.endedAt ?? a.decision?.at ?? a.createdAt;
  const list = facts(a).node;
  if (a.receipt) list.append(fact(words.receipt, isolated(a.receipt, "code")));
  if (a.decision?.reason) list.append(fact(words.arg("reason"), isolated(a.decision.reason)));
  list.append(fact(words.id, el("span", { class: "code" }, a.id)));
  const byGrant = a.state === "done" && a.decision?.by === "grant"; // which the state says, too
  const notes = [
    !byGrant && words.by(a.decision),
    byGrant && a.undoUntil && words.undoUntil(dayAndClock(a.undoUntil)),
    a.attempts > 1 && words.attempts(a.attempts),
  ];
  const label = a.state === "approved" ? words.stop : words.undo;
  return el("li", { class: `past ${a.state}`, "data-id": a.id },
    el("div", { class: "line-up" },
      el("span", { class: "state" }, words.stateOf(a)),
      el("span", { class: "what", dir: "auto" }, reveal(words.what(a))),
      a.undo ? arm(el("button", { type: "button", class: "small", "aria-label": `${label}: ${words.what(a)}` }, label), () => undo(a)) : ""),
    el("p", { class: "muted" }, local(at), notes.filter(Boolean).map((t) => ` · ${t}`)),
    a.failure && !(a.state === "denied" && a.decision?.by === "owner") ? el("p", { class: "why" }, isolated(capitalize(a.failure))) : "",
    a.state === "unknown" ? el("p", { class: "hint" }, words.unknownHint) : "",
    el("details", {}, el("summary", { "aria-label": `${words.details}: ${words.what(a)}` }, words.details), list, evidence(a.evidence)));
}

const capitalize = (text) => text.replace(/^./u, (first) => first.toUpperCase());

export function makeGrant(g, revoke) {
  return el("li", { class: "grant", "data-id": g.id },
    el("div", { class: "line-up" },
      el("span", { class: "what" }, isolated(words.grant(g)), " ", address(g.target)),
      arm(el("button", { type: "button", class: "small", "aria-label": words.revokeLabel(g) }, words.revoke), () => revoke(g))),
    el("p", { class: "muted" }, words.grantBounds(g, localText(g.expiresAt))));
}
