// How the scripts here come to the hub with the official TypeScript SDK. DOOR is
// stdio, http, sse or ws and TARGET a program or the hub's address; those that
// end in 2026 are used with the SDK's second edition and its protocol.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { CLIENTS, KEY } = process.env;
const load = (client, path) =>
  import(pathToFileURL(createRequire(join(CLIENTS, client, "node_modules", "x.js")).resolve("@modelcontextprotocol/" + path)));
const sdk = (path) => load("sdk", "sdk/" + path);
const sdk2 = (path) => load("client", "client" + path);

export const [door, target, ...args] = process.argv.slice(2);
export const second = door.endsWith("2026");
const env = Object.fromEntries(["HOME", "PATH", "HEARKEN_DATA_DIR"].map((k) => [k, process.env[k]]));
const authorization = KEY ? { Authorization: "Bearer " + KEY } : {};

// The SDK's WebSocket cannot carry a key, so the key buys it a ticket.
export async function ticket() {
  const answer = await fetch(target + "/v1/ws-ticket", { method: "POST", headers: authorization });
  if (answer.status !== 201) throw new Error(`ws-ticket: ${answer.status} ${await answer.text()}`);
  return new URL((await answer.json()).url);
}

// connect comes in; elicit answers the questions of the server, if it is given.
export async function connect({ elicit, url } = {}) {
  const requestInit = { headers: authorization };
  const transport = await {
    stdio: async () => new (await sdk("client/stdio.js")).StdioClientTransport({ command: target, args, env }),
    http: async () => new (await sdk("client/streamableHttp.js")).StreamableHTTPClientTransport(new URL(target + "/mcp"), { requestInit }),
    sse: async () => new (await sdk("client/sse.js")).SSEClientTransport(new URL(target + "/sse"), { requestInit }),
    ws: async () => new (await sdk("client/websocket.js")).WebSocketClientTransport(url ?? (await ticket())),
    stdio2026: async () => new (await sdk2("/stdio")).StdioClientTransport({ command: target, args, env }),
    http2026: async () => new (await sdk2("")).StreamableHTTPClientTransport(new URL(target + "/mcp"), { requestInit }),
  }[door]();
  const { Client } = await (second ? sdk2("") : sdk("client/index.js"));
  const client = new Client(
    { name: "accept", version: "1" },
    {
      ...(second && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
      ...(elicit && { capabilities: { elicitation: { form: {} } } }),
    },
  );
  if (elicit) {
    client.setRequestHandler(second ? "elicitation/create" : (await sdk("types.js")).ElicitRequestSchema, elicit);
  }
  await client.connect(transport);
  return client;
}

// result is all that a tool answers.
export const result = (client, name, args, options) =>
  client.callTool({ name, arguments: args }, ...(second ? [] : [undefined]), options);

// refusal is the error that a promise ends with.
export const refusal = (promise) => promise.then(() => null, (e) => ({ code: e.code, message: e.message }));
