// The official TypeScript SDK as a client: node sdk.mjs DOOR TARGET [ARG...], as
// connect.mjs has it. Prints one JSON object with what it saw; the Go test
// judges it. It says on standard error which sound it waits for, and the test
// sends it.
import { connect, door, refusal, result } from "./connect.mjs";

const seconds = (since) => (performance.now() - since) / 1000;
const client = await connect();
const call = async (...args) => (await result(client, ...args)).structuredContent;

const saw = { server: client.getServerVersion(), instructions: client.getInstructions() };
saw.tools = (await client.listTools()).tools.map((t) => t.name);
const { sessionId, wsEndpoint } = await call("start_transcription", { title: "SDK by " + door, language: "en" });

// A wait without news takes its time, and other calls do not queue behind it.
let began = performance.now();
const quiet = call("get_transcription", { sessionId, waitSeconds: 2 });
await call("list_sessions", {});
saw.beside = seconds(began);
saw.quiet = (await quiet).segments.length;
saw.quietSeconds = seconds(began);

// A wait that is cancelled ends at once, and the connection lives on.
const abort = new AbortController();
began = performance.now();
const cancelled = refusal(call("get_transcription", { sessionId, waitSeconds: 20 }, { signal: abort.signal }));
setTimeout(() => abort.abort("enough"), 300);
saw.cancelled = await cancelled;
saw.cancelledSeconds = seconds(began);

// Following with the cursor while somebody speaks.
console.error("endpoint " + wsEndpoint);
saw.heard = [];
saw.lines = [];
for (let cursor, pages = 0; pages < 20 && !/for your country/i.test(saw.heard.join(" ")); pages++) {
  const page = await call("get_transcription", { sessionId, waitSeconds: 20, ...(cursor && { cursor }) });
  cursor = page.cursor;
  for (const s of page.segments) {
    saw.heard.push(s.text);
    saw.lines.push(s.line);
  }
}
saw.stopped = await call("stop_transcription", { sessionId });
saw.again = await refusal(call("stop_transcription", { sessionId }));
saw.unknown = await refusal(call("get_transcription", { sessionId: "00000000-0000-4000-8000-000000000000" }));
saw.invalid = (await client.callTool({ name: "get_transcription", arguments: { sessionId, limit: 0 } })).isError;
saw.found = (await call("search_transcripts", { query: "fellow Americans", sessionId })).hits?.length;
saw.srt = (await call("export_session", { sessionId, format: "srt" })).data;
saw.sessions = (await call("list_sessions", {})).sessions.map((s) => s.title);
saw.deleted = await call("delete_session", { sessionId });
saw.gone = await refusal(call("get_session_status", { sessionId }));
await client.close();
console.log(JSON.stringify(saw));
