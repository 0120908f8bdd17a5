// What waits for the owner: cards, and for each call the list of its cards.
import { makeCall } from "./calls.js";
import { makeCard } from "./card.js";
import { arrange, focusFirst } from "./dom.js";
import { announce, notice } from "./notice.js";
import { words } from "./words.js";

// shape is what of an action its card shows once and for all. The card updates
// the rest.
const shape = (a) => JSON.stringify({ ...a, before: undefined, expiresAt: a.collected ? undefined : a.expiresAt });

// fallsDue reports whether an action expires because it falls due.
const fallsDue = (a) => a.when && new Date(a.when.at) <= new Date(a.expiresAt);

const byExpiry = (a, b) => new Date(a.expiresAt) - new Date(b.expiresAt);

// makePending shows pending actions in a view. isMine reports whether an action
// was decided on this page.
export function makePending(view, { decide, decideAll, isMine }) {
  const cards = new Map(), calls = new Map(); // by id
  let first = true;

  // removeOld removes the cards that are no longer right. It returns where the
  // focus goes if it is lost with one of them.
  const removeOld = (now) => {
    let next = () => undefined;
    for (const [id, card] of cards) {
      if (now.has(id) && shape(now.get(id)) === card.shape) continue;
      if (card.node.contains(document.activeElement)) {
        const after = card.node.nextElementSibling?.querySelector(".title");
        next = () => cards.get(id)?.heading ?? (after?.isConnected ? after : undefined);
      }
      if (!now.has(id) && !isMine(id)) notice(card.isOver() ? words.tooLate : words.gone);
      cards.delete(id);
    }
    return next;
  };

  // place shows first what falls due soon, then what is not from a call, then
  // the calls. It reports whether anything moved.
  const place = (list, callList) => {
    const top = [...list.filter((a) => a.call && !a.collected).sort(byExpiry), ...list.filter((a) => !a.call)];
    let moved = arrange(view.pending, top.map((a) => cards.get(a.id).node));
    const shown = new Set(callList.map((c) => c.id));
    for (const id of calls.keys()) if (!shown.has(id)) calls.delete(id);
    for (const c of callList) {
      if (!calls.has(c.id)) calls.set(c.id, makeCall(c, decideAll));
      const items = list.filter((a) => a.collected && a.call === c.id).reverse(); // in the order of the call
      moved = calls.get(c.id).update(c, items.map((a) => cards.get(a.id))) || moved;
    }
    return arrange(view.calls, callList.map((c) => calls.get(c.id).node)) || moved;
  };

  return {
    // show shows the actions, and reports whether anything moved.
    show(list, callList) {
      const live = new Set(callList.filter((c) => c.live).map((c) => c.id));
      const active = document.activeElement;
      const next = removeOld(new Map(list.map((a) => [a.id, a])));
      for (const a of list) {
        const waits = a.collected && live.has(a.call);
        let card = cards.get(a.id);
        if (!card) {
          card = Object.assign(makeCard(a, decide), { shape: shape(a) });
          cards.set(a.id, card);
          if (!first && !waits) announce(words.arrived(words.what(a), list.length));
        }
        card.update(a, waits && !fallsDue(a));
      }
      first = false;
      const moved = place(list, callList);
      view.nothing.hidden = list.length > 0;
      view.count.textContent = list.length || "";
      document.title = words.title(list.length);
      if (active && !active.checkVisibility()) focusFirst(next(), document.querySelector(".card .title"), view.waiting);
      return moved;
    },
    tick() { cards.forEach((card) => card.tick()); },
  };
}
