// The list of what was requested during one call.
import { arm } from "./arm.js";
import { arrange, el, newID } from "./dom.js";
import { isolated } from "./text.js";
import { atTime, dayAndClock } from "./times.js";
import { words } from "./words.js";

const most = 100; // that can be decided at once

// makeCall shows a call. It calls decideAll with the decision and the cards that
// the owner sees at that moment.
export function makeCall(first, decideAll) {
  const heading = newID("call");
  const title = el("h3", { id: heading, tabindex: "-1" });
  const times = el("p", { class: "muted" });
  const list = el("div", { class: "items" });
  let cards = [], shown = "";
  const together = () => cards.filter((c) => !c.isOver()).slice(0, most);
  const button = (className, allow) =>
    arm(el("button", { type: "button", class: className, "aria-describedby": heading }), () => decideAll(allow, together()));
  const yes = button("yes", true), no = button("no", false);
  const footer = el("div", { class: "buttons all" }, yes, no);
  const node = el("section", { class: "call", "aria-labelledby": heading, "data-call": first.id },
    el("header", {}, title, times), list, footer);

  return {
    node,
    heading: title,
    // update shows the call and its cards, and reports whether anything moved.
    update(call, next) {
      cards = next;
      const n = together().length;
      const warned = cards.some((c) => c.action.warning);
      const state = JSON.stringify([call, n, warned]);
      const moved = arrange(list, cards.map((c) => c.node));
      if (state === shown) return moved;
      shown = state;
      title.replaceChildren(isolated(call.title || words.callUntitled));
      times.replaceChildren(words.callTimes({
        ...call,
        started: call.startedAt && atTime(call.startedAt),
        ended: call.endedAt && atTime(call.endedAt),
        by: call.decideBy && dayAndClock(call.decideBy),
      }));
      footer.classList.toggle("warned", warned);
      footer.hidden = n < 2;
      yes.textContent = words.allowAll(n);
      no.textContent = words.denyAll(n);
      return true;
    },
  };
}
