// All words of the page.

const tools = {
  "message.send": { kind: "Message", may: "may send messages to" },
  "calendar.create": { kind: "Calendar", may: "may put appointments into the calendar" },
  "reminder.create": { kind: "Reminder", may: "may set reminders through" },
};
const platforms = { email: "email", sms: "SMS", ntfy: "ntfy message", webhook: "webhook call" };
const sent = { email: "an email", sms: "an SMS", ntfy: "an ntfy message", webhook: "a webhook call" };
const args = {
  to: "Recipient", text: "Text", title: "Title", note: "Note", when: "Time", duration: "Length",
  location: "Place", description: "Description", repeat: "Repeats", key: "Asked by", connector: "Through",
  time: "Time", start: "Time", reason: "Reason",
};
const froms = { page: "on this page", terminal: "at a terminal", elicitation: "in the client", file: "by a PIN file", grant: "", policy: "" };

const connectors = { builtin: "Hearken’s own", caldav: "CalDAV", email: "email", sms: "SMS" };

// short cuts a text for a headline; all of it stands below.
const short = (text) => {
  const chars = [...text.replace(/\s+/g, " ").trim()];
  return chars.length > 80 ? chars.slice(0, 79).join("") + "…" : chars.join("");
};
const plural = (n, one, many) => `${n} ${n === 1 ? one : many}`;

export const words = {
  app: "Hearken",
  page: "Approvals",
  title: (waiting) => (waiting ? `(${waiting}) ` : "") + "Approvals · Hearken",

  signIn: {
    title: "Your agents’ actions",
    lead: "Type your PIN to see what they want to do, and to decide.",
    pin: "PIN",
    button: "Sign in",
    checking: "Checking…",
    noPin: "No PIN is set yet",
    noPinLead: "Your PIN proves that it's you, not a program running as you. Set it in a terminal:",
    noPinCommand: "hearken pin",
    noPinThen: "Then come back to this page.",
    again: "Look again",
    setTitle: "Choose your PIN",
    setLead: "It is asked whenever something is to happen in your name. Six characters or more; nobody can read it back to you.",
    repeat: "The same again",
    setButton: "Set the PIN",
    unequal: "The two are not the same.",
    unlock: "Your PIN, please",
    unlockLead: "This tab was opened anew. Before it changes anything it needs your PIN.",
    unlockButton: "Go on",
    cancel: "Not now",
    expired: "You were signed out.",
  },

  signOut: "Sign out",
  pause: "Pause all actions",
  resume: "Resume actions",
  paused: "All actions are paused. Nothing is carried out until you resume, not even what you allow now.",
  offline: "The hub does not answer. What stands here may be old; trying again…",
  pausedNow: "All actions are paused.",
  resumedNow: "Actions go on.",

  waiting: "Waiting for you",
  nothing: "Nothing waits for you.",
  nothingMore: "When an agent wants to send, plan or remind, its card appears here by itself.",
  recent: "Recently",
  noRecent: "Nothing has been decided yet.",
  grants: "Allowed without asking",
  noGrants: "Nothing. Everything asks you first.",
  arrived: (line, n) => `New: ${line}. ${plural(n, "action waits", "actions wait")} for you.`,

  kind: (a) => {
    const kind = tools[a.tool]?.kind ?? a.tool;
    return a.message ? `${kind} · ${platforms[a.message.platform] ?? a.message.platform}` : kind;
  },
  what: (a) => {
    if (a.message) return `Send ${sent[a.message.platform] ?? a.message.platform + " message"} to ${short(a.message.name || a.message.address)}`;
    if (a.event) return `Put “${short(a.event.title)}” into the calendar`;
    if (a.reminder) return a.reminder.repeat ? `Remind you again and again: “${short(a.reminder.note)}”` : `Remind you: “${short(a.reminder.note)}”`;
    return a.tool;
  },
  left: (seconds) => {
    if (seconds <= 0) return "time is over";
    const m = Math.floor(seconds / 60), s = seconds % 60;
    if (m >= 60) return `${Math.floor(m / 60)} h ${m % 60} min left`;
    return m ? `${m} min ${String(s).padStart(2, "0")} s left` : `${s} s left`;
  },

  to: "To",
  through: "Through",
  when: "When",
  until: (m) => `until ${m}`,
  here: (clock, zone) => `${clock} on this computer (${zone})`,
  repeats: "Repeats",
  next: "Next times",
  length: "Length",
  minutes: (n) => {
    const h = Math.floor(n / 60), m = Math.round(n % 60);
    return [h && `${h} h`, (m || !h) && `${m} min`].filter(Boolean).join(" ");
  },
  place: "Place",
  calendar: "Calendar",
  connector: (name) => connectors[name] ?? name,
  description: "Description",
  text: "Text",
  askedBy: "Asked by",
  local: "this computer",
  key: (name, id) => (name ? `key “${name}”` : id),
  known: "in your contact book",
  unknown: "not in your contact book",
  asAsked: (to) => `asked for as “${to}”`,
  plain: "in plain letters",
  empty: "(nothing)",
  showAll: (n) => `Show all ${n.toLocaleString("en")} characters`,
  showAllFirst: "Show all of the text before you allow it.",
  hidden: (name) => `hidden character ${name}`,

  warning: {
    far: "The other side said this, not you",
    echo: "The other side said this, and your microphone picked it up",
    none: "Nobody was heard saying this",
  },
  warningMore: {
    far: "Somebody else may want this. You can allow it only once.",
    echo: "The words are an echo from your loudspeaker. You can allow it only once.",
    none: "No words for it were found in any call. You can allow it only once.",
  },
  caution: "Warning",

  heard: "What was said",
  arg: (name) => args[name] ?? name,
  you: "You",
  other: "Other side",
  echo: "Other side, as an echo",
  notHeard: "nobody was heard saying it",
  speaker: (n) => `speaker ${n + 1}`,
  cover: (part) => `${Math.round(part * 100)} % of the words`,
  around: "what was said around it",
  aroundTitle: (title) => title || "What was said",
  close: "Close",

  beforeFirst: "You have never allowed this kind of action to this target.",
  before: (time) => `Different from the last one you allowed here (${time}):`,
  beforeSame: (time) => `The same as the last one you allowed here (${time}).`,
  was: "was",

  allow: "Allow once",
  deny: "Deny",
  reason: "Deny with a reason…",
  reasonLabel: "Reason, if you like (the agent is not told)",
  such: "Allow such actions…",
  suchLead: (a) => `From now on ${words.grant(a)}`,
  suchBounds: "without asking, as long as the words were said on your side of a call.",
  suchUntil: "For",
  suchPerDay: "At most per day",
  suchButton: "Allow this and such actions",
  hours: { 1: "1 hour", 24: "24 hours", 720: "30 days" },

  allowIt: (line) => `Allow: ${line}`,
  allowSuch: (line) => `Allow, and such actions from now on: ${line}`,
  denyIt: (line) => `Deny: ${line}`,
  allowed: (line) => `Allowed: ${line}`,
  allowedSuch: (line) => `Allowed, and such actions from now on: ${line}`,
  denied: (line) => `Denied: ${line}`,
  elsewhere: (a) => {
    if (a.state === "expired") return words.tooLate;
    if (a.state === "cancelled") return "It was cancelled before you decided.";
    const d = a.decision;
    return `It had already been ${d?.allow ? "allowed" : "denied"} ${froms[d?.from] ?? "elsewhere"}.`.replace(" .", ".");
  },
  tooLate: "Too late: the time to decide is over, so it was denied.",
  gone: "It was decided elsewhere or cancelled.",

  state: {
    approved: "On its way", executing: "Being done", done: "Done", failed: "Failed", unknown: "Unknown",
    denied: "Denied", expired: "Expired", cancelled: "Cancelled", undone: "Undone",
  },
  by: (d) => {
    if (!d) return "";
    if (d.by === "grant") return "allowed by a grant";
    if (d.by === "policy") return "denied by the hub’s rules";
    const who = d.by === "client" ? "in the client" : froms[d.from] ?? d.from;
    return `${d.allow ? "allowed" : "denied"} ${who}`.trim();
  },
  unknownHint: "Nobody can say whether it happened. Look where it would have arrived; if it is not there, ask the agent to send it again, and it will ask you anew.",
  receipt: "Receipt",
  attempts: (n) => `${n} attempts`,
  undo: "Undo",
  stop: "Stop it",
  undone: (line) => `Undone: ${line}`,
  stopped: (line) => `Stopped: ${line}`,
  id: "Id",
  details: "Details",

  grant: (g) => `${g.keyName ? `“${g.keyName}”` : g.key === "local" ? "any agent on this computer" : g.key} ${tools[g.tool]?.may ?? g.tool}`,
  grantBounds: (g, until) => `until ${until}, at most ${g.perDay} within 24 hours`,
  revoke: "Revoke",
  revokeLabel: (g) => `Revoke: ${words.grant(g)} ${g.target}`,
  revoked: "Revoked. Such actions ask you again.",

  noAnswer: "The hub did not answer. Nothing was changed as far as this page knows; look again before you try again.",
  tried: (text) => ` Try: ${text}`,
};
