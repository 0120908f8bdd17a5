// An agent that acts, with the official TypeScript SDK: node actions.mjs DOOR
// TARGET [ARG...], as connect.mjs has it. It says on standard error what the
// owner does about the call that it makes next ("approve WORDS"), and the test
// does so while the call waits. Prints one JSON object with what it saw.
import { connect, door, refusal, result, ticket } from "./connect.mjs";

const { DAY, QUESTIONS } = process.env; // a day to come; how questions are answered
const saw = { answers: {}, questions: [] };
const elicit = QUESTIONS && (async (request) => {
  saw.questions.push(request.params);
  return QUESTIONS === "decline" ? { action: "decline" } : { action: "accept", content: { decision: QUESTIONS } };
});
const url = door === "ws" ? await ticket() : undefined;
const client = await connect({ elicit, url });
saw.tools = (await client.listTools()).tools.map((t) => t.name);

const named = (words) => `${words} by ${door}`;
const call = async (as, name, args, options) => (saw.answers[as] = await result(client, name, args, options));
const owner = (verb, as, name, args) => {
  console.error(`${verb} ${args.title ?? args.text ?? args.note}`);
  return call(as, name, args);
};
const event = (words, hour = "14") => ({ title: named(words), start: `${DAY}T${hour}:00:00`, duration_min: 45 });

if (QUESTIONS) {
  const made = call("asked", "calendar.create", event("Asked"));
  if (!process.env.APPROVED_BY_CLIENT) console.error("approve " + named("Asked"));
  await made;
} else {
  // Nobody decides about this one, whatever happens meanwhile.
  const progress = [];
  const unattended = call("unattended", "calendar_create", event("Unattended", "20"), { onprogress: (p) => progress.push(p.message) });

  await owner("approve", "event", "calendar.create", event("Lunch"));
  await call("same", "calendar_create", event("Lunch"));
  await owner("approve", "reminder", "reminder_create", { time: `${DAY}T09:30:00`, note: named("Pills"), repeat: "daily" });
  await owner("approve", "message", "message.send", { to: "Bob", text: named("I'll be late"), platform: "email" });
  await owner("deny", "denied", "calendar_create", event("Party", "23"));
  await call("stranger", "message_send", { to: "Zed", text: "Hello", platform: "email" });
  await call("past", "calendar_create", { title: "Past", start: "2020-01-01T10:00:00Z", duration_min: 30 });

  // A client that gives up takes its action with it; a connection that is
  // lost, which is how the newest clients give up over HTTP, does not.
  const abort = new AbortController();
  const left = refusal(call("", "calendar_create", event("Left", "21"), { signal: abort.signal }));
  setTimeout(() => abort.abort("enough"), 1000);
  saw.left = await left;

  const { id } = (await call("status", "action_status", { id: saw.answers.event.structuredContent.id })).structuredContent;
  await call("undone", "action.cancel", { id });
  await call("after", "action_status", { id });

  const waits = (await unattended).structuredContent;
  await call("waiting", "action_status", { id: waits.id });
  await call("cancelled", "action_cancel", { id: waits.id });
  await call("gone", "action.status", { id: waits.id });
  saw.progress = progress;
}
await client.close();
if (url) saw.usedTicket = await refusal(connect({ url }));
console.log(JSON.stringify(saw));
