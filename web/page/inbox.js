// The page of a signed-in owner: pending actions, recent decisions and grants.
// It receives the whole inbox and updates only what has changed, so that nothing
// moves under the owner's hand.
import { arm, rearm } from "./arm.js";
import { el } from "./dom.js";
import { change, follow, undoGranted } from "./hub.js";
import { notice } from "./notice.js";
import { makeGrant, makePast } from "./past.js";
import { makePending } from "./pending.js";
import { setNow } from "./times.js";
import { confirmAll } from "./together.js";
import { words } from "./words.js";

export function showInbox(root, { onSignedOut, signOut }) {
  const view = makeView(signOut);
  root.replaceChildren(view.node);
  view.title.focus();
  let paused = false;

  // attempt makes a change, shows errors, and returns whether it was made.
  const attempt = async (path, body, what, done) => {
    try {
      const answer = await change(path, body, what);
      if (answer) done(answer);
      return answer !== undefined;
    } catch (e) {
      notice(e.message, true);
      return false;
    }
  };
  const mine = new Set(); // actions decided here, which need no further notice
  const decide = async (a, verdict) => {
    const line = words.what(a);
    const what = verdict.grant ? words.allowSimilar(line) : verdict.allow ? words.allowIt(line) : words.denyIt(line);
    mine.add(a.id);
    const made = await attempt(`actions/${a.id}/decision`, { digest: a.digest, ...verdict }, what, ({ action, decided }) => {
      if (!decided) notice(words.elsewhere(action), true);
      else notice(verdict.grant ? words.allowedSimilar(line) : verdict.allow ? words.allowed(line) : words.denied(line));
    });
    if (!made) mine.delete(a.id);
  };
  const decideAll = (allow, shown) => {
    const cut = allow && shown.find((card) => !card.isWhole());
    if (cut) {
      notice(words.showAllOf(words.what(cut.action)), true);
      cut.heading.focus();
      return;
    }
    confirmAll(shown.map((card) => card.action), allow, mine);
  };
  const undo = async (a) => {
    const line = words.what(a), stops = a.state === "approved";
    if (a.undoUntil) {
      try {
        await undoGranted(a.id);
        notice(stops ? words.stopped(line) : words.undone(line));
        return true;
      } catch (e) {
        if (e.status !== 403) { // otherwise it is too long ago, and needs the PIN
          notice(e.message, true);
          return false;
        }
      }
    }
    return attempt(`actions/${a.id}/cancel`, {}, `${stops ? words.stop : words.undo}: ${line}`, () => notice(stops ? words.stopped(line) : words.undone(line)));
  };
  const revoke = (g) => attempt(`grants/${g.id}/revoke`, {}, words.revokeLabel(g), () => notice(words.revoked));
  arm(view.pause, () => attempt("pause", { paused: !paused }, paused ? words.resume : words.pause, (s) => notice(s.paused ? words.pausedNow : words.resumedNow)));

  const pending = makePending(view, { decide, decideAll, isMine: (id) => mine.has(id) });

  const rows = { recent: new Map(), grants: new Map() };
  const showRows = (name, list, make) => {
    const known = rows[name], next = new Map();
    for (const item of list) {
      const text = JSON.stringify(item);
      const old = known.get(item.id);
      if (old?.text === text) {
        next.set(item.id, old);
        continue;
      }
      const node = make(item);
      const open = old?.node.querySelector("details")?.open;
      if (open) node.querySelector("details").open = true;
      if (old?.node.contains(document.activeElement)) queueMicrotask(() => node.querySelector("summary, button")?.focus());
      next.set(item.id, { text, node });
    }
    rows[name] = next;
    view[name].replaceChildren(...[...next.values()].map((r) => r.node));
    view[`${name}Empty`].hidden = list.length > 0;
  };

  const banner = (node, text) => {
    const changed = node.hidden === !!text;
    node.hidden = !text;
    node.textContent = text ?? "";
    return changed;
  };

  const end = follow({
    onInbox(inbox, now) {
      setNow(now);
      paused = inbox.paused;
      view.pause.textContent = paused ? words.resume : words.pause;
      view.node.classList.toggle("paused", paused);
      const shifted = [
        banner(view.pausedBanner, paused ? words.paused : ""),
        banner(view.problem, inbox.problem ? inbox.problem.message + (inbox.problem.try ? words.tried(inbox.problem.try) : "") : ""),
        pending.show(inbox.pending, inbox.calls),
      ].some(Boolean);
      showRows("recent", inbox.recent, (a) => makePast(a, undo));
      showRows("grants", inbox.grants, (g) => makeGrant(g, revoke));
      if (shifted) rearm();
      view.node.setAttribute("aria-busy", "false");
    },
    onLost(lost) { if (banner(view.offline, lost ? words.offline : "")) rearm(); },
    onTrouble(failure) { notice(failure.message, true); },
    onSignedOut() { stop(); onSignedOut(); },
  });
  const ticking = setInterval(pending.tick, 1000);
  const stop = () => {
    end();
    clearInterval(ticking);
    document.title = words.title(0);
  };
  return stop;
}

// makeView builds the frame that shows the inbox.
function makeView(signOut) {
  const v = {
    title: el("h1", { tabindex: "-1" }, words.page),
    pause: el("button", { type: "button", class: "small pause" }, words.pause),
    pausedBanner: el("p", { class: "banner paused-banner", role: "status", hidden: true }),
    problem: el("p", { class: "banner problem", role: "alert", hidden: true }),
    offline: el("p", { class: "banner offline", role: "status", hidden: true }),
    count: el("span", { class: "count" }),
    pending: el("div", { class: "cards" }),
    calls: el("div", { class: "calls" }),
    nothing: el("div", { class: "nothing" }, el("p", { class: "strong" }, words.nothing), el("p", { class: "muted" }, words.nothingMore)),
    recent: el("ul", { class: "rows" }),
    recentEmpty: el("p", { class: "muted" }, words.noRecent),
    grants: el("ul", { class: "rows" }),
    grantsEmpty: el("p", { class: "muted" }, words.noGrants),
  };
  v.waiting = el("h2", { tabindex: "-1", id: "waiting" }, words.waiting, " ", v.count);
  v.node = el("div", { class: "inbox", "aria-busy": "true" },
    el("header", { class: "top" },
      el("img", { src: "/approvals/icon.svg", alt: "", width: "28", height: "28" }),
      v.title,
      el("div", { class: "tools" }, v.pause, el("button", { type: "button", class: "small quiet", click: signOut }, words.signOut))),
    el("main", {},
      v.problem, v.pausedBanner, v.offline,
      el("section", { "aria-labelledby": "waiting" }, v.waiting, v.nothing, v.pending, v.calls),
      el("section", { "aria-labelledby": "recent" }, el("h2", { id: "recent" }, words.recent), v.recentEmpty, v.recent),
      el("section", { "aria-labelledby": "grants" }, el("h2", { id: "grants" }, words.grants), v.grantsEmpty, v.grants, el("p", { class: "muted more-grants" }, words.grantsMore))));
  return v;
}
