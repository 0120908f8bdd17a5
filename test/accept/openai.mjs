// OpenAI's official SDK for JavaScript as a client:
// node openai.mjs BASE_URL WHAT
// WHAT is formats, errors, key, patience or crowd. Prints one JSON object with what it
// saw; the Go test judges it. SOUND, TEXT, LARGE and KEY come from the
// environment.
import { createReadStream, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [baseURL, what] = process.argv.slice(2);
const { CLIENTS, SOUND, TEXT, LARGE, KEY } = process.env;
const { OpenAI, toFile } = createRequire(join(CLIENTS, "openai", "node_modules", "x.js"))("openai");

let requests = 0;
let busy = 0;
const counted = async (...args) => {
  if (String(args[0]).startsWith(baseURL)) requests++; // the SDK also tries what fetch can do
  try {
    const answer = await fetch(...args);
    if (answer.status === 429) busy++;
    return answer;
  } catch (e) {
    console.error("no answer");
    throw e;
  }
};
const maxRetries = { patience: 10, crowd: 20 }[what] ?? 2; // 2 is what it does by itself
const openai = new OpenAI({ apiKey: KEY ?? "any", baseURL, fetch: counted, maxRetries });
const hear = (options, file = createReadStream(SOUND)) =>
  openai.audio.transcriptions.create({ file, model: "whisper-1", ...options }).withResponse();

// refusal is an error as a program gets it, and how often it was asked for.
async function refusal(call) {
  const before = requests;
  try {
    return { name: "none", answer: await call() };
  } catch (e) {
    const { status, code, param, type, message, requestID } = e;
    return { name: e.constructor.name, status, code, param, type, message, request: requestID, requests: requests - before };
  }
}

const jobs = {
  async formats() {
    const saw = { texts: {}, sessions: {} };
    const keep = (format, { data, request_id }) => {
      saw.texts[format] = typeof data === "string" ? data : data.text;
      saw.sessions[format] = request_id;
      return data;
    };
    saw.usage = keep("json", await hear({})).usage;
    for (const response_format of ["text", "srt", "vtt"]) keep(response_format, await hear({ response_format }));
    const timestamp_granularities = ["word", "segment"];
    saw.verbose = keep("verbose_json", await hear({ response_format: "verbose_json", timestamp_granularities, language: "en" }));
    saw.diarized = keep("diarized_json", await hear({ response_format: "diarized_json", chunking_strategy: "auto" }));
    // A file that was made in memory, and has a name that says something else.
    keep("memory", await hear({ model: "gpt-4o-transcribe" }, await toFile(readFileSync(SOUND), "voice.mp3")));

    const { data: stream, request_id } = await hear({ model: "gpt-4o-mini-transcribe", stream: true });
    saw.events = [];
    for await (const event of stream) saw.events.push(event);
    saw.sessions.stream = request_id;

    saw.models = [];
    for await (const model of openai.models.list()) saw.models.push(model.id);
    saw.model = (await openai.models.retrieve("local")).id;
    return saw;
  },
  async errors() {
    const file = () => createReadStream(SOUND);
    return {
      model: await refusal(() => hear({ model: "gpt-9" })),
      format: await refusal(() => hear({ response_format: "docx" })),
      language: await refusal(() => hear({ language: "Klingon" })),
      text: await refusal(() => hear({}, createReadStream(TEXT))),
      empty: await refusal(async () => hear({}, await toFile(Buffer.alloc(0), "empty.wav"))),
      large: await refusal(() => hear({}, createReadStream(LARGE))),
      translation: await refusal(() => openai.audio.translations.create({ file: file(), model: "whisper-1" })),
      unknown: await refusal(() => openai.models.retrieve("gpt-9")),
      elsewhere: await refusal(() => openai.chat.completions.create({ model: "gpt-9", messages: [] })),
    };
  },
  async key() {
    const { data } = await hear({});
    const stranger = (apiKey) =>
      refusal(() => new OpenAI({ apiKey, baseURL, fetch: counted }).audio.transcriptions.create({ file: createReadStream(SOUND), model: "whisper-1" }));
    return { text: data.text, wrong: await stranger("hk_" + "x".repeat(40)), theirs: await stranger("sk-theirs") };
  },
  // The hub is not there yet when it is asked.
  async patience() {
    const { data } = await hear({}, await toFile(readFileSync(SOUND), "talk.wav"));
    return { text: data.text, requests };
  },
  // More at a time than the hub takes.
  async crowd() {
    const file = await toFile(readFileSync(SOUND), "talk.wav");
    const answers = await Promise.all(Array.from({ length: 40 }, () => hear({}, file)));
    return { texts: answers.map(({ data }) => data.text), busy };
  },
};

console.log(JSON.stringify(await jobs[what]()));
