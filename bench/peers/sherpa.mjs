// Runs a Moonshine model with sherpa-onnx on one thread, for the benchmark.
//
//   node sherpa.mjs NODE_MODULES MODEL_DIR TOKENS
//
// Takes names of WAV files on standard input and answers each with a line of
// JSON: the text and the milliseconds from samples to text.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [modules, model, tokens] = process.argv.slice(2);
const sherpa = createRequire(join(modules, 'x.js'))('sherpa-onnx-node');

const recognizer = new sherpa.OfflineRecognizer({
  featConfig: { sampleRate: 16000, featureDim: 80 },
  modelConfig: {
    moonshine: {
      encoder: join(model, 'encoder_model.onnx'),
      mergedDecoder: join(model, 'decoder_model_merged.onnx'),
    },
    tokens,
    numThreads: 1,
    provider: 'cpu',
  },
});

console.log(JSON.stringify({ ready: true }));
for await (const path of createInterface({ input: process.stdin })) {
  const wave = sherpa.readWave(path);
  const begun = performance.now();
  const stream = recognizer.createStream();
  stream.acceptWaveform(wave);
  recognizer.decode(stream);
  const { text } = recognizer.getResult(stream);
  console.log(JSON.stringify({ text, ms: performance.now() - begun }));
}
