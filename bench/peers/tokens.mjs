// Counts tokens as o200k_base does, for the benchmark.
//
//   node tokens.mjs NODE_MODULES
//
// Takes texts on standard input, each a JSON string on a line, and answers
// each with its number of tokens.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const { countTokens } = createRequire(join(process.argv[2], 'x.js'))('gpt-tokenizer/encoding/o200k_base');

for await (const line of createInterface({ input: process.stdin })) {
  console.log(countTokens(JSON.parse(line)));
}
