// The approvals page. It starts with the PIN setup, the sign-in form or the
// inbox, depending on whether a PIN is set and the owner is signed in.
import { showSession } from "./evidence.js";
import { change, forget, me, onNeedPIN } from "./hub.js";
import { showInbox } from "./inbox.js";
import { mountNotice, notice } from "./notice.js";
import { askPIN, showNoPIN, showSetPIN, showSignIn } from "./signin.js";
import { words } from "./words.js";

const root = document.getElementById("page");
mountNotice(document.body);
onNeedPIN(askPIN);

// The setup code from the terminal, or the session that a link points to, comes
// in the fragment, which is not sent to any server. It is removed from the
// address at once.
const params = new URLSearchParams(location.hash.slice(1));
const setupCode = params.get("setup");
if (location.hash) history.replaceState(null, "", location.pathname);

function inbox() {
  const stop = showInbox(root, {
    onSignedOut: () => signInForm(words.signIn.expired),
    signOut: async () => {
      try {
        if (!(await change("logout"))) return;
      } catch (e) {
        if (e.status !== 401) {
          notice(e.message, true);
          return;
        }
      }
      stop();
      signInForm();
    },
  });
  if (params.get("session")) showSession(params.get("session"), Number(params.get("line")));
  params.delete("session");
}

function signInForm(message) {
  forget();
  showSignIn(root, { message, onSignedIn: inbox });
}

async function begin() {
  let state;
  try {
    state = await me();
  } catch (e) {
    notice(e.message, true);
    setTimeout(begin, 3000);
    return;
  }
  if (state.signedIn) inbox();
  else if (state.pin) signInForm();
  else if (setupCode) showSetPIN(root, setupCode, inbox);
  else showNoPIN(root, begin);
}
begin();
