// All texts of the page.

const tools = {
  "message.send": { kind: "Message", may: "may send you messages at" },
  "calendar.create": { kind: "Calendar", may: "may add appointments to the calendar" },
  "reminder.create": { kind: "Reminder", may: "may set reminders through" },
};
const platforms = { email: "email", sms: "SMS", ntfy: "ntfy message", webhook: "webhook call" };
const sent = { email: "an email", sms: "an SMS", ntfy: "an ntfy message", webhook: "a webhook call" };
const args = {
  to: "Recipient", text: "Text", title: "Title", note: "Note", when: "Time", duration: "Duration",
  location: "Location", description: "Description", repeat: "Repeats", key: "Asked by", connector: "Through",
  time: "Time", start: "Time", reason: "Reason",
};
const froms = { page: "on this page", terminal: "at a terminal", elicitation: "in the client", file: "with a PIN file", grant: "", policy: "" };

const connectors = { builtin: "Hearken’s own", caldav: "CalDAV", email: "email", sms: "SMS" };

// short cuts a text for a headline; the whole text follows below it.
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
    lead: "Enter your PIN to see what they want to do and to decide.",
    pin: "PIN",
    button: "Sign in",
    checking: "Checking…",
    noPin: "No PIN is set yet",
    noPinLead: "Your PIN proves that it’s you, not a program running as you. Set it in a terminal:",
    noPinCommand: "hearken pin",
    noPinThen: "Then come back to this page.",
    again: "Check again",
    setTitle: "Choose your PIN",
    setLead: "You need it whenever an agent wants to act in your name. Use six characters or more. It cannot be shown again.",
    repeat: "Repeat the PIN",
    setButton: "Set the PIN",
    unequal: "The two PINs are not the same.",
    unlock: "Enter your PIN",
    unlockLead: "This tab is new. It needs your PIN before it changes anything.",
    unlockButton: "Continue",
    cancel: "Not now",
    expired: "You were signed out.",
  },

  signOut: "Sign out",
  pause: "Pause all actions",
  resume: "Resume actions",
  paused: "All actions are paused. Nothing runs until you resume, not even what you allow now.",
  offline: "The hub does not answer. This page may be out of date. Trying again…",
  pausedNow: "All actions are paused.",
  resumedNow: "Actions are resumed.",

  waiting: "Waiting for you",
  nothing: "Nothing is waiting for you.",
  nothingMore: "When an agent wants to send a message, add an appointment or set a reminder, it appears here.",
  recent: "Recent",
  noRecent: "No decisions yet.",
  grants: "Allowed without asking",
  noGrants: "Nothing. Every action asks you first.",
  grantsMore: "You can allow your own calendar, reminders and messages to yourself. Messages to people always ask. You are also asked while people can be heard, shortly after that, and after the agent has read a transcript.",
  peopleAsk: "Messages to people always ask.",
  arrived: (line, n) => `New: ${line}. ${plural(n, "action is", "actions are")} waiting for you.`,

  kind: (a) => {
    const kind = tools[a.tool]?.kind ?? a.tool;
    return a.message ? `${kind} · ${platforms[a.message.platform] ?? a.message.platform}` : kind;
  },
  what: (a) => {
    if (a.message) return `Send ${sent[a.message.platform] ?? a.message.platform + " message"} to ${short(a.message.name || a.message.address)}`;
    if (a.event) return `Add “${short(a.event.title)}” to the calendar`;
    if (a.reminder) return a.reminder.repeat ? `Remind you repeatedly: “${short(a.reminder.note)}”` : `Remind you: “${short(a.reminder.note)}”`;
    return a.tool;
  },
  left: (seconds) => {
    if (seconds <= 0) return "time is up";
    const m = Math.floor(seconds / 60), s = seconds % 60;
    if (m >= 60) return `${Math.floor(m / 60)} h ${m % 60} min left`;
    return m ? `${m} min ${String(s).padStart(2, "0")} s left` : `${s} s left`;
  },

  to: "To",
  when: "When",
  until: (m) => `until ${m}`,
  here: (clock, zone) => `${clock} on this computer (${zone})`,
  repeats: "Repeats",
  next: "Next times",
  length: "Duration",
  minutes: (n) => {
    const all = Math.round(n * 60), h = Math.floor(all / 3600), m = Math.floor(all / 60) % 60, s = all % 60;
    return [h && `${h} h`, (m || !h) && `${m} min`, s && `${s} s`].filter(Boolean).join(" ");
  },
  place: "Location",
  calendar: "Calendar",
  connector: (name) => connectors[name] ?? name,
  description: "Description",
  text: "Text",
  askedBy: "Asked by",
  local: "this computer",
  key: (name, id) => (name ? `key “${name}”` : id),
  known: "in your contact book",
  unknown: "not in your contact book",
  asAsked: (to) => `requested as “${to}”`,
  plain: "actual address",
  empty: "(empty)",
  showAll: (n) => `Show all ${n.toLocaleString("en")} characters`,
  showAllFirst: "Show the whole text before you allow it.",
  hidden: (name) => `hidden character ${name}`,

  at: (clock) => `at ${clock}`,
  on: (time) => `on ${time}`,
  callUntitled: "Your call",
  callTimes: (c) => {
    const when = c.deleted ? "During a call that has been deleted." : !c.started ? "During a call." : "";
    if (c.live) return `${when || `During your call ${c.started} (still going on).`} You need not decide before it ends.`;
    return `${when || `During your call ${c.started}, which ended ${c.ended}.`} Decide by ${c.by}.`;
  },
  dueSoon: (by) => `This falls due soon, so it does not wait for the end of your call. Decide by ${by}.`,
  behind: "What was said, and what you allowed before",
  allowAll: (n) => `Allow all ${n} shown`,
  denyAll: (n) => `Deny all ${n} shown`,
  together: {
    allow: {
      question: (n) => `Allow these ${plural(n, "action", "actions")}?`,
      button: (n) => `Allow these ${n}`,
      done: (n, of) => (n === of ? `${n} allowed.` : `${n} of ${of} allowed, but not:`),
    },
    deny: {
      question: (n) => `Deny these ${plural(n, "action", "actions")}?`,
      button: (n) => `Deny these ${n}`,
      done: (n, of) => (n === of ? `${n} denied.` : `${n} of ${of} denied, but not:`),
    },
    toPeople: (n) => `${plural(n, "message goes to somebody else", "messages go to other people")} and cannot be undone:`,
    also: "Besides:",
    notNow: "Not now",
  },
  showAllOf: (line) => `Show the whole text before you allow all: ${line}`,
  quoted: (text) => `“${short(text)}”`,

  warning: {
    far: "The other side said this",
    echo: "This may be an echo of the other side",
    overlap: "These may not be your words",
    none: "Nobody was heard saying this",
  },
  warningMore: {
    far: "All or part of it comes from the other side. Someone else may want this, not you.",
    echo: "Your microphone heard it while the other side said the same.",
    overlap: "The other side was speaking at the same time, or may have been.",
    none: "The agent asks for this, but it was not heard in any call.",
  },
  caution: "Before you decide",

  evidence: "What was said",
  arg: (name) => args[name] ?? name,
  you: "Your microphone",
  them: "The other side",
  echo: "Your microphone, may be an echo of the other side",
  overlap: "Your microphone, while the other side may have been speaking",
  deleted: "The words were deleted.",
  notHeard: "nobody was heard saying this",
  speaker: (n) => `speaker ${n + 1}`,
  cover: (part) => `${Math.round(part * 100)} % of the words`,
  around: "show the context",
  aroundTitle: (title) => title || "What was said",
  close: "Close",

  beforeFirst: "You have never allowed this kind of action for this target.",
  before: (time) => `Different from the last one you allowed here (${time}):`,
  beforeSame: (time) => `The same as the last one you allowed here (${time}).`,
  was: "was",

  allow: "Allow once",
  deny: "Deny",
  reason: "Deny with a reason…",
  reasonLabel: "Reason (optional; the agent does not see it)",
  similar: "Allow similar actions…",
  similarLead: (a) => `From now on ${words.grant(a)}`,
  similarBounds: "without asking you. While people can be heard, and for a while after it has read a transcript, you are still asked.",
  similarUntil: "For",
  similarPerDay: "At most per day",
  similarButton: "Allow this and similar actions",
  hours: { 1: "1 hour", 24: "24 hours", 720: "30 days" },

  allowIt: (line) => `Allow: ${line}`,
  allowSimilar: (line) => `Allow this and similar actions: ${line}`,
  denyIt: (line) => `Deny: ${line}`,
  allowed: (line) => `Allowed: ${line}`,
  allowedSimilar: (line) => `Allowed, and similar actions from now on: ${line}`,
  denied: (line) => `Denied: ${line}`,
  elsewhere: (a) => {
    if (a.state === "expired") return words.tooLate;
    if (a.state === "cancelled") return "It was cancelled before you decided.";
    const d = a.decision;
    return `It had already been ${d?.allow ? "allowed" : "denied"} ${froms[d?.from] ?? "elsewhere"}.`.replace(" .", ".");
  },
  tooLate: "Too late. The time to decide ran out, which counts as no.",
  gone: "It was decided elsewhere, or cancelled.",

  state: {
    approved: "On its way", executing: "Running", done: "Done", failed: "Failed", unknown: "Unknown",
    denied: "Denied", expired: "Expired", cancelled: "Cancelled", undone: "Undone",
  },
  doneByGrant: "Done by your grant",
  stateOf: (a) => (a.state === "done" && a.decision?.by === "grant" ? words.doneByGrant : words.state[a.state] ?? a.state),
  by: (d) => {
    if (!d) return "";
    if (d.by === "grant") return "allowed by a grant";
    if (d.by === "policy") return "denied by the hub’s rules";
    const who = d.by === "client" ? "in the client" : froms[d.from] ?? d.from;
    return `${d.allow ? "allowed" : "denied"} ${who}`.trim();
  },
  unknownHint: "It is not known whether this happened. Check where it would have arrived. If it is not there, ask the agent to try again; you will be asked to approve it again.",
  receipt: "Receipt",
  attempts: (n) => `${n} attempts`,
  undo: "Undo",
  undoUntil: (time) => `undo without the PIN until ${time}`,
  stop: "Stop",
  undone: (line) => `Undone: ${line}`,
  stopped: (line) => `Stopped: ${line}`,
  id: "ID",
  details: "Details",

  grant: (g) => `${g.keyName ? `“${g.keyName}”` : g.key === "local" ? "any agent on this computer" : g.key} ${tools[g.tool]?.may ?? g.tool}`,
  grantBounds: (g, until) => `until ${until}, at most ${g.perDay} within 24 hours`,
  revoke: "Revoke",
  revokeLabel: (g) => `Revoke: ${words.grant(g)} ${g.target}`,
  revoked: "Revoked. Such actions need your approval again.",

  noAnswer: "The hub did not answer. Check whether anything has changed before you try again.",
  tried: (text) => ` Try: ${text}`,
};
