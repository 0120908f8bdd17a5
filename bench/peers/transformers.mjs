// Runs a Moonshine model with transformers.js on one thread, for the benchmark.
//
//   node transformers.mjs NODE_MODULES MODEL_DIR TOKENIZER
//
// MODEL_DIR holds config.json and the graphs under onnx/ as the library names
// them. Takes names of WAV files on standard input and answers each with a line
// of JSON: the text and the milliseconds from samples to text.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [modules, dir, tokenizer] = process.argv.slice(2);
const { MoonshineForConditionalGeneration, Tensor, env } = await import(
  pathToFileURL(join(modules, '@huggingface/transformers/dist/transformers.node.mjs')).href
);
env.allowRemoteModels = false;
env.localModelPath = dirname(dir);

const model = await MoonshineForConditionalGeneration.from_pretrained(basename(dir), {
  dtype: 'q8',
  device: 'cpu',
  session_options: { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential' },
});

// One piece a line; the first three are special, <0xNN> is a byte.
const pieces = readFileSync(tokenizer, 'utf8')
  .split('\n')
  .map((line) => line.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c)));

function textOf(ids) {
  const bytes = [];
  for (const id of ids) {
    if (id < 3 || id >= 32000) continue;
    const byte = /^<0x([0-9A-F]{2})>$/.exec(pieces[id]);
    bytes.push(byte ? Buffer.from(byte[1], 'hex') : Buffer.from(pieces[id].replaceAll('▁', ' ')));
  }
  return Buffer.concat(bytes).toString().trim();
}

// samplesOf reads 16-bit mono.
function samplesOf(path) {
  const wav = readFileSync(path);
  let at = 12;
  while (wav.toString('latin1', at, at + 4) !== 'data') {
    const size = wav.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  const size = Math.min(wav.readUInt32LE(at + 4), wav.length - at - 8);
  const samples = new Float32Array(size >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = wav.readInt16LE(at + 8 + 2 * i) / 32768;
  return samples;
}

console.log(JSON.stringify({ ready: true }));
for await (const path of createInterface({ input: process.stdin })) {
  const samples = samplesOf(path);
  const begun = performance.now();
  const output = await model.generate({
    inputs: new Tensor('float32', samples, [1, samples.length]),
    max_new_tokens: Math.floor((samples.length / 16000) * 6.5) + 1,
  });
  const text = textOf(output.tolist()[0].map(Number));
  console.log(JSON.stringify({ text, ms: performance.now() - begun }));
}
