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

// focusFirst gives the focus to the first of the nodes that can take it.
export function focusFirst(...nodes) {
  nodes.find((node) => {
    if (node?.checkVisibility()) node.focus();
    return node && document.activeElement === node;
  });
}

// arrange makes nodes the children of a parent, in this order, and reports
// whether anything moved. What is in its place already is not touched, so that it
// keeps the focus.
export function arrange(parent, nodes) {
  let moved = false;
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) {
    if (wanted.has(child)) continue;
    child.remove();
    moved = true;
  }
  nodes.forEach((node, i) => {
    if (parent.children[i] === node) return;
    parent.insertBefore(node, parent.children[i] ?? null);
    moved = true;
  });
  return moved;
}

// fact is one row of a list of facts.
export function fact(name, ...value) {
  return el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, ...value));
}
