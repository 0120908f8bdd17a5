// Makes the calls that ParrotScribe's own MCP server made, for the benchmark:
// the same SDK on the same transport, and for each tool one execFileSync of the
// CLI at PSCRIBE_PATH with the same arguments. The package itself is no longer
// to be had; this is written after its documentation.
//
//   PSCRIBE_PATH=... node parrotscribe.mjs NODE_MODULES
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const sdk = (file) => import(pathToFileURL(join(process.argv[2], '@modelcontextprotocol/sdk/dist/esm', file)));
const { Server } = await sdk('server/index.js');
const { StdioServerTransport } = await sdk('server/stdio.js');
const { CallToolRequestSchema, ListToolsRequestSchema } = await sdk('types.js');

const cli = process.env.PSCRIBE_PATH || 'pscribe';
const run = (args) => execFileSync(cli, args, { encoding: 'utf8', maxBuffer: 1 << 26 });

const status = (args, value) => (value && value !== 'all' ? [...args, '--status', value] : args);

const number = { type: 'number' };
const string = { type: 'string' };
const tools = {
  pscribe_start: { properties: {}, call: () => run(['start']) },
  pscribe_stop: { properties: {}, call: () => run(['stop']) },
  pscribe_status: { properties: {}, call: () => run(['status']) },
  pscribe_new: { properties: {}, call: () => run(['new']) },
  pscribe_sessions: {
    properties: { limit: number },
    call: ({ limit = 10 }) => run(['list', '--limit', String(limit)]),
  },
  pscribe_tail: {
    properties: { n: number, since_line: number, status: string, session_id: string },
    call: ({ n = 10, since_line, status: only, session_id }) => {
      let args = status(['tail', '-n', since_line ? `+${since_line}` : String(n)], only);
      if (session_id) args = [...args, '--session', session_id];
      const out = run(args).trimEnd();
      const rows = out ? out.split('\n').length : 0;
      return `${out}\n--- ${rows} entries, last_line: ${since_line ? since_line + rows - 1 : rows} ---`;
    },
  },
  pscribe_cat: {
    properties: { session_ids: { type: 'array', items: string }, since: string, until: string, last: number, status: string },
    call: ({ session_ids = [], since, until, last, status: only = 'confirmed' }) => {
      const args = ['cat', ...session_ids];
      if (since) args.push('--since', since);
      if (until) args.push('--until', until);
      if (last) args.push('--last', String(last));
      return run(status(args, only));
    },
  },
};

const server = new Server({ name: 'parrotscribe', version: '0.3.1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.entries(tools).map(([name, { properties }]) => ({ name, inputSchema: { type: 'object', properties } })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  try {
    return { content: [{ type: 'text', text: tools[params.name].call(params.arguments ?? {}) }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: `[COMMAND_FAILED] ${error.message}` }] };
  }
});
await server.connect(new StdioServerTransport());
