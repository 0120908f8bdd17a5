// Deepgram's official SDK for JavaScript as a client:
// node deepgram.mjs EDITION BASE_URL JOB
// EDITION is 5 or 4, followed by "browser" to have edition 5 take itself for
// one, and by "ws" to give edition 4 the WebSocket that programs on older
// versions of Node.js have. JOB says what to send; what came back is printed as
// one JSON object, and the Go test judges it.
import { createReadStream, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const [edition, base, text] = process.argv.slice(2);
const job = JSON.parse(text);
const library = (client) => createRequire(join(process.env.CLIENTS, client, "node_modules", "x.js"));
const saw = { opened: false, messages: [], errors: [] };
let close;
const closed = new Promise((done) => (close = done));

const told = (message) => saw.messages.push(message);
const opened = (protocol) => Object.assign(saw, { opened: true, protocol });
const ended = ({ code, reason }) => close((saw.closed ??= { code, reason }));
const failed = (e) => {
  saw.errors.push({
    message: e.message ?? String(e),
    status: e.statusCode ?? e.status,
    request: e.requestId,
    reason: e.body?.err_msg ?? e.responseHeaders?.["dg-error"],
  });
  if (!saw.opened) close();
};

async function five() {
  if (edition.endsWith("browser")) globalThis.window = { document: {}, navigator: { userAgent: "none" } };
  const { DeepgramClient } = library("deepgram")("@deepgram/sdk");
  const deepgram = new DeepgramClient({ ...(job.bearer ? { accessToken: job.key } : { apiKey: job.key }), baseUrl: base });
  if (job.record) {
    saw.recorded = await deepgram.listen.v1.media.transcribeFile(createReadStream(job.record), job.options);
    return;
  }
  const c = await deepgram.listen.v1.connect(job.options);
  c.on("open", () => opened(c.socket.protocol));
  c.on("message", told);
  c.on("error", failed);
  c.on("close", ended);
  c.connect();
  const leave = () => c.close();
  closed.then(leave); // it would connect again by itself
  return {
    leave,
    open: () => Promise.race([c.waitForOpen().catch(() => {}), closed]),
    send: (sound) => c.sendMedia(sound),
    keepAlive: () => c.sendKeepAlive({ type: "KeepAlive" }),
    finalize: () => c.sendFinalize({ type: "Finalize" }),
    finish: () => c.sendCloseStream({ type: "CloseStream" }),
  };
}

async function four() {
  const { createClient, LiveTranscriptionEvents } = library("deepgram4")("@deepgram/sdk");
  const websocket = edition.endsWith("ws") ? { client: library("deepgram4")("ws") } : {};
  const global = { url: base, websocket };
  const deepgram = job.bearer ? createClient({ accessToken: job.key, global }) : createClient(job.key, { global });
  if (job.record) {
    const { result, error } = await deepgram.listen.prerecorded.transcribeFile(readFileSync(job.record), job.options);
    if (error) throw error;
    saw.recorded = result;
    return;
  }
  const c = deepgram.listen.live(job.options);
  const { Open, Close, Error, Unhandled, ...kinds } = LiveTranscriptionEvents;
  const open = new Promise((done) => c.on(Open, done));
  c.on(Open, () => opened(c.conn.protocol));
  for (const kind of Object.values(kinds)) c.on(kind, told);
  c.on(Unhandled, (message) => failed({ message: "unhandled: " + JSON.stringify(message) }));
  c.on(Error, failed);
  c.on(Close, ended);
  return {
    open: () => Promise.race([open, closed]),
    send: (sound) => c.send(sound),
    keepAlive: () => c.keepAlive(),
    finalize: () => c.finalize(),
    finish: () => c.requestClose(),
    leave: () => {
      c.disconnect();
      close();
    },
  };
}

// heard waits for a message that is still to come.
async function heard(is) {
  const from = saw.messages.length;
  for (let left = 400; left > 0 && !saw.closed; left--) {
    if (saw.messages.slice(from).some(is)) return;
    await sleep(50);
  }
}

const steps = {
  // Pieces of 100 ms, a little faster than they were spoken.
  async send(c, path) {
    const sound = readFileSync(path);
    const piece = job.rate / 10;
    const began = performance.now();
    for (let at = 0; at < sound.length && !saw.closed; at += piece) {
      c.send(sound.subarray(at, at + piece));
      await sleep(Math.max(0, began + (80 * (at + piece)) / piece - performance.now()));
    }
  },
  async quiet(c, seconds) {
    for (; seconds > 0 && !saw.closed; seconds -= 3) {
      c.keepAlive();
      await sleep(1000 * Math.min(3, seconds));
    }
  },
  silent: (c, seconds) => Promise.race([sleep(1000 * seconds), closed]),
  async finalize(c) {
    c.finalize();
    await heard((m) => m.from_finalize);
  },
  async finish(c) {
    if (!saw.closed) c.finish();
    await closed;
  },
  leave: (c) => c.leave(),
};

try {
  const c = await (edition.startsWith("5") ? five() : four());
  if (c) {
    await c.open();
    for (const { do: step, with: what } of saw.opened ? job.steps : []) await steps[step](c, what);
  }
} catch (e) {
  failed(e);
}
process.stdout.write(JSON.stringify(saw), () => process.exit());
