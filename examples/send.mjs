// Sends a sound file to a session at the speed of speech and prints what is
// heard: node --experimental-websocket send.mjs WSENDPOINT FILE
// (Node 22 and later need no flag.)
import { readFileSync } from "node:fs";

const [endpoint, file] = process.argv.slice(2);
if (!file) {
  console.error("usage: node --experimental-websocket send.mjs WSENDPOINT FILE");
  process.exit(2);
}
const sound = readFileSync(file);
const chunk = 3200; // 100 ms of a 16 kHz mono WAV
const socket = new WebSocket(endpoint);

socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  switch (message.type) {
    case "ready":
      send(0);
      break;
    case "partial":
      process.stderr.write(`\r\x1b[K… ${message.segment.text}`);
      break;
    case "final":
      process.stderr.write("\r\x1b[K");
      console.log(`[${message.segment.startTime.toFixed(1)} s] ${message.segment.text}`);
      break;
    case "error":
      console.error(message.message);
      break;
  }
};
socket.onclose = ({ code, reason }) => {
  if (code !== 1000) console.error(`closed: ${code} ${reason}`);
};

function send(at) {
  if (at >= sound.length) {
    socket.send(JSON.stringify({ type: "finish" }));
    return;
  }
  socket.send(sound.subarray(at, at + chunk));
  setTimeout(send, 100, at + chunk);
}
