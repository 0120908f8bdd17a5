// Buttons that cannot be pressed by accident: a button works only after it has
// been visible in the same place for half a second. So a new card that moves
// under a finger which is about to press another button does nothing.

const delay = 500; // milliseconds
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
  state.timer = setTimeout(() => button.setAttribute("aria-disabled", "false"), delay);
}

// arm calls press when a button is clicked that has been visible long enough.
export function arm(button, press) {
  button.setAttribute("aria-disabled", "true");
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") === "false") press(button);
  });
  buttons.set(button, { seen: false, timer: undefined });
  observer.observe(button);
  return button;
}

// rearm makes all buttons wait again, because the page's layout has changed.
export function rearm() {
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

document.addEventListener("visibilitychange", rearm);
