// A card: a pending action.
import { arm } from "./arm.js";
import { el, field, newID } from "./dom.js";
import { evidence } from "./evidence.js";
import { facts } from "./facts.js";
import { address, isolated, reveal } from "./text.js";
import { dayAndClock, localText, secondsUntil } from "./times.js";
import { words } from "./words.js";

// makeCard shows an action. It calls decide with the owner's decision.
export function makeCard(a, decide) {
  const inCall = !!a.collected;
  const heading = newID("what");
  const left = el("span", { class: "left", role: "timer", "aria-live": "off" });
  const showAllHint = el("p", { class: "hint", hidden: true }, words.showAllFirst);
  const list = facts(a, () => { showAllHint.hidden = true; });
  const history = el("div", { class: "history" });
  const node = el("article", { class: a.warning ? "card warned" : "card", "aria-labelledby": heading, "data-id": a.id },
    el("header", {}, el("span", { class: "kind" }, words.kind(a)), left),
    el(inCall ? "h4" : "h3", { id: heading, class: "title", tabindex: "-1", dir: "auto" }, reveal(words.what(a))),
    a.call && !inCall ? el("p", { class: "due" }, words.dueSoon(dayAndClock(a.expiresAt))) : "",
    warning(a),
    list.node,
    inCall ? el("details", { class: "behind" }, el("summary", {}, words.behind), evidence(a.evidence), history) : [evidence(a.evidence), history]);

  let busy = false;
  const send = async (verdict) => {
    if (busy || card.isOver()) return;
    if (verdict.allow && !list.whole()) {
      showAllHint.hidden = false;
      return;
    }
    busy = true;
    node.classList.add("busy");
    try {
      await decide(a, verdict);
    } finally {
      busy = false;
      node.classList.remove("busy");
    }
  };
  node.append(buttons(a, send, heading), showAllHint);

  const card = {
    node,
    action: a,
    heading: node.querySelector(".title"),
    isWhole: list.whole,
    isOver: () => secondsUntil(card.action.expiresAt) <= 0,
    // tick counts the time down.
    tick() {
      const seconds = secondsUntil(card.action.expiresAt);
      left.textContent = card.waits ? "" : words.left(seconds);
      left.classList.toggle("soon", seconds < 60);
      node.classList.toggle("over", seconds <= 0);
    },
    // update shows what may change while an action is pending: the previous one,
    // and until when it can be decided. While its call goes on, that is not known.
    update(next, waits) {
      card.action = next;
      card.waits = waits;
      card.tick();
      history.replaceChildren(previous(next));
    },
  };
  card.update(a, false);
  return card;
}

// warning shows who said the words if it was not the owner, and what else the
// hub finds suspicious.
function warning(a) {
  const cautions = (a.cautions ?? []).map((c) => el("li", {}, isolated(c)));
  if (!a.warning && !cautions.length) return "";
  const more = a.warning === "far" || !cautions.length; // otherwise a sentence says the same
  return el("div", { class: a.warning ? "warning" : "caution", role: "note" },
    el("strong", {}, a.warning ? words.warning[a.warning] : words.caution),
    a.warning && more ? el("p", {}, words.warningMore[a.warning]) : "",
    cautions.length ? el("ul", {}, cautions) : "");
}

// previous shows how an action differs from the last one like it.
function previous(a) {
  if (!a.before) return el("p", { class: "first" }, words.beforeFirst);
  const at = localText(a.before.at);
  if (!a.before.differs.length) return el("p", { class: "muted" }, words.beforeSame(at));
  return el("details", {},
    el("summary", {}, words.before(at), " ", a.before.differs.map((d) => words.arg(d.arg)).join(", ")),
    el("dl", { class: "differs" }, a.before.differs.map((d) =>
      el("div", { class: "fact" }, el("dt", {}, `${words.arg(d.arg)} ${words.was}`), el("dd", { dir: "auto" }, d.was ? reveal(d.was) : words.empty)))));
}

function buttons(a, send, heading) {
  const reason = el("input", { type: "text", maxlength: "200", autocomplete: "off" });
  const button = (label, className, press) =>
    arm(el("button", { type: "button", class: className, id: newID("b"), "aria-describedby": heading }, label), press);
  const deny = () => send({ allow: false, reason: reason.value.trim() });
  return el("div", { class: "decide" },
    el("div", { class: "buttons" },
      button(words.allow, "yes", () => send({ allow: true })),
      button(words.deny, "no", deny)),
    similar(a, send, button),
    el("details", { class: "more" }, el("summary", {}, words.reason),
      field(words.reasonLabel, reason),
      el("p", { class: "buttons" }, button(words.deny, "no", deny))));
}

// similar lets the owner also allow similar actions, within limits, or says why
// not.
function similar(a, send, button) {
  if (a.message && !a.message.own) return el("p", { class: "muted" }, words.peopleAsk);
  if (!a.grantable) return "";
  const hours = el("select", {}, Object.entries(words.hours).map(([h, label]) => el("option", { value: h, selected: h === "24" }, label)));
  const perDay = el("input", { type: "number", min: "1", max: "1000", step: "1", value: "20", inputmode: "numeric", required: true });
  return el("details", { class: "more similar" }, el("summary", {}, words.similar),
    el("p", {}, isolated(words.similarLead(a)), " ", address(a.target), " ", words.similarBounds),
    el("div", { class: "row" }, field(words.similarUntil, hours), field(words.similarPerDay, perDay)),
    el("p", { class: "buttons" }, button(words.similarButton, "yes", () => {
      if (!perDay.reportValidity()) return;
      send({ allow: true, grant: { hours: Number(hours.value), perDay: Number(perDay.value) } });
    })));
}
