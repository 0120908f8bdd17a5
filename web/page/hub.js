// Requests to the hub. The token that changes need exists only here, not in a
// cookie or the browser's storage. A new tab has none and asks for the PIN.
import { words } from "./words.js";

const base = "/approvals/api/";
let token = "";
let askPIN = async () => false; // set by the code that can show a form

export const onNeedPIN = (ask) => { askPIN = ask; };
export const forget = () => { token = ""; };

// A Refusal is an error answer of the hub.
class Refusal extends Error {
  constructor(status, error) {
    super(error.message + (error.try ? words.tried(error.try) : ""));
    this.status = status;
    this.code = error.code;
  }
}

async function call(method, path, body) {
  let answer;
  try {
    answer = await fetch(base + path, {
      method,
      credentials: "same-origin",
      headers: body ? { "Content-Type": "application/json", "X-Hearken-Token": token } : {},
      body: body && JSON.stringify(body),
    });
  } catch {
    throw new Refusal(0, { message: words.noAnswer });
  }
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(answer.status, value.error ?? { message: words.noAnswer });
  return value;
}

export const me = () => call("GET", "me");
export const transcript = (session, line) => call("GET", `sessions/${encodeURIComponent(session)}?line=${line}`);

export async function login(pin) {
  ({ token } = await call("POST", "login", { pin }));
}
export async function setPIN(code, pin) {
  ({ token } = await call("POST", "setup", { code, pin }));
}

// change sends a request that changes something. If this tab has no token it
// first asks for the PIN and says what for. It returns undefined if the owner
// does not enter the PIN.
export async function change(path, body = {}, what = "") {
  if (!token && !(await askPIN(what))) return undefined;
  try {
    return await call("POST", path, body);
  } catch (e) {
    if (e.status !== 403 || e.code !== "forbidden") throw e;
    token = ""; // it belongs to an old session
    if (!(await askPIN(what))) return undefined;
    return call("POST", path, body);
  }
}

// undoGranted undoes what a grant allowed, which needs no PIN.
export const undoGranted = (id) => call("POST", `actions/${id}/undo`, {});

// follow calls onInbox with every new inbox while the owner is signed in.
export function follow({ onInbox, onLost, onSignedOut, onTrouble }) {
  let source, lost, retry, ended = false;
  const end = () => {
    ended = true;
    clearTimeout(lost);
    clearTimeout(retry);
    source?.close();
  };
  const found = () => {
    clearTimeout(lost);
    lost = undefined;
    onLost(false);
  };
  const open = () => {
    source = new EventSource(base + "events");
    source.addEventListener("inbox", (e) => {
      found();
      const { now, inbox } = JSON.parse(e.data);
      onInbox(inbox, now);
    });
    source.addEventListener("trouble", (e) => onTrouble(JSON.parse(e.data)));
    source.addEventListener("signedout", () => { end(); onSignedOut(); });
    source.addEventListener("open", found);
    source.addEventListener("error", async () => {
      lost ??= setTimeout(() => onLost(true), 1500);
      if (source.readyState !== EventSource.CLOSED || ended) return; // the browser retries
      try {
        if (!(await me()).signedIn) { end(); onSignedOut(); return; }
      } catch { /* the hub does not answer */ }
      if (!ended) retry = setTimeout(open, 2000);
    });
  };
  open();
  return end;
}
