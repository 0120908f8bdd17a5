// Building elements. Text is always added as text and never parsed as HTML; the
// page's security policy makes the browser refuse anything else.

// el makes an element. attrs become attributes, except for functions, which
// become listeners for the event of that name.
export function el(tag, attrs = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false && c !== ""));
  return node;
}

let ids = 0;
export const newID = (prefix) => `${prefix}-${++ids}`;

// field is a labelled control, with its label before it.
export function field(label, control, className = "field") {
  control.id ||= newID("f");
  return el("p", { class: className }, el("label", { for: control.id }, label), control);
}

// fact is one row of a list of facts.
export function fact(name, ...value) {
  return el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, ...value));
}
