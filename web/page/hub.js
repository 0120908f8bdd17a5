// Talking to the hub. The token that changes need is here and nowhere else:
// not in a cookie, not in the browser's storage. A tab that was opened anew
// has none and asks for the PIN.
import { words } from "./words.js";

const base = "/approvals/api/";
let token = "";
let askPIN = async () => false; // set by whoever can show a form

export const onNeedPIN = (ask) => { askPIN = ask; };
export const hasToken = () => token !== "";
export const forget = () => { token = ""; };

// A Refusal is what the hub said no with.
export class Refusal extends Error {
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

// change sends something that changes something, and asks for the PIN first
// where this tab has not got it, saying what it is for. It returns undefined
// if the owner would not.
export async function change(path, body = {}, what = "") {
  if (!token && !(await askPIN(what))) return undefined;
  try {
    return await call("POST", path, body);
  } catch (e) {
    if (e.status !== 403 || e.code !== "forbidden") throw e;
    token = ""; // another session has taken its place
    if (!(await askPIN(what))) return undefined;
    return call("POST", path, body);
  }
}

// follow tells of the inbox as long as it is signed in.
export function follow({ onInbox, onLost, onSignedOut, onTrouble }) {
  let source, lost, again, ended = false;
  const end = () => {
    ended = true;
    clearTimeout(lost);
    clearTimeout(again);
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
      if (source.readyState !== EventSource.CLOSED || ended) return; // it tries again by itself
      try {
        if (!(await me()).signedIn) { end(); onSignedOut(); return; }
      } catch { /* the hub is away */ }
      if (!ended) again = setTimeout(open, 2000);
    });
  };
  open();
  return end;
}
