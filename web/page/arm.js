// Buttons that cannot be pressed by accident: one works only after it has
// stood still before a person's eyes for half a second. A card that pushes
// itself under a finger that is about to press another one does nothing.

const after = 500; // milliseconds
const buttons = new Map(); // button -> {seen, timer}

const observer = new IntersectionObserver((entries) => {
  for (const { target, intersectionRatio } of entries) {
    const state = buttons.get(target);
    if (!state) continue;
    state.seen = intersectionRatio >= 0.9;
    restart(target, state);
  }
}, { threshold: [0, 0.9] });

function restart(button, state) {
  clearTimeout(state.timer);
  button.setAttribute("aria-disabled", "true");
  if (!state.seen || document.visibilityState !== "visible") return;
  state.timer = setTimeout(() => button.setAttribute("aria-disabled", "false"), after);
}

// arm has a button do something when it is pressed, once it may be.
export function arm(button, press) {
  button.setAttribute("aria-disabled", "true");
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") === "false") press(button);
  });
  buttons.set(button, { seen: false, timer: undefined });
  observer.observe(button);
  return button;
}

// moved says that things have moved on the page: all buttons wait anew.
export function moved() {
  for (const [button, state] of buttons) {
    if (button.isConnected) {
      restart(button, state);
      continue;
    }
    clearTimeout(state.timer);
    observer.unobserve(button);
    buttons.delete(button);
  }
}

document.addEventListener("visibilitychange", moved);
