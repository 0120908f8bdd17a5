// Shows text from others so that it cannot deceive: characters that are
// invisible or reorder text are shown by their code points.
import { el } from "./dom.js";
import { words } from "./words.js";

// Characters that are invisible or reorder text: control and format characters,
// private ones, line separators, blank fillers, and variation selectors other
// than the two for emoji.
const hidden =
  /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/u;
const emoji = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u;

// isHidden reports whether a character must be made visible. Line breaks and
// tabs are visible as they are, and a joiner between two emoji joins them.
function isHidden(chars, i) {
  const c = chars[i];
  if (c === "\n" || c === "\t" || !hidden.test(c)) return false;
  return !(c === "\u200d" && emoji.test(chars[i - 1] ?? "") && emoji.test(chars[i + 1] ?? ""));
}

// reveal turns text into nodes and makes hidden characters visible.
export function reveal(text) {
  const out = document.createDocumentFragment();
  const chars = [...String(text).replaceAll("\r\n", "\n")];
  let plain = "";
  for (let i = 0; i < chars.length; i++) {
    if (!isHidden(chars, i)) {
      plain += chars[i];
      continue;
    }
    if (plain) out.append(plain);
    plain = "";
    const name = "U+" + chars[i].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    out.append(el("span", { class: "hidden-char", title: words.hidden(name), "aria-label": words.hidden(name), role: "img" }, name));
  }
  if (plain) out.append(plain);
  return out;
}

// isolated is text from others within a line; its direction does not affect the
// rest of the line.
export const isolated = (text, className) => el("bdi", { class: className }, reveal(text));

// address shows an address strictly from left to right, and under it the ASCII
// form of a domain that has other letters, which may look like another domain.
export function address(text) {
  const plain = asciiAddress(text);
  return [
    el("bdo", { dir: "ltr", class: "address" }, reveal(text)),
    plain && el("span", { class: "ascii-address" }, `${words.plain}: `, el("bdo", { dir: "ltr", class: "address" }, plain)),
  ];
}

// asciiAddress is an email address with its domain in ASCII (punycode); empty if
// the domain is ASCII already.
function asciiAddress(text) {
  const at = text.lastIndexOf("@");
  if (at < 0) return "";
  const domain = text.slice(at + 1);
  if (/^[\x21-\x7e]*$/.test(domain)) return "";
  try {
    return text.slice(0, at + 1) + new URL("http://" + domain).hostname;
  } catch {
    return "";
  }
}

const clip = 3000; // characters that are shown at first

// block shows a text with its line breaks. A long text is cut until the owner
// asks for all of it; whole reports whether all of it is shown.
export function block(text, onWhole = () => {}) {
  const box = el("div", { class: "text", dir: "auto", tabindex: "-1" });
  const chars = [...text];
  if (!text) box.append(el("span", { class: "muted" }, words.empty));
  else box.append(reveal(chars.length > clip ? chars.slice(0, clip).join("") + "…" : text));
  if (chars.length <= clip) {
    return { node: box, whole: true };
  }
  const more = el("button", {
    type: "button", class: "quiet",
    click: () => {
      box.replaceChildren(reveal(text));
      more.remove();
      box.focus();
      onWhole();
    },
  }, words.showAll(chars.length));
  return { node: el("div", {}, box, more), whole: false };
}
