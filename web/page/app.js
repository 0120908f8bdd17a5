// The approvals page. It begins with who is there: nobody yet, somebody to
// sign in, or the owner.
import { showSession } from "./evidence.js";
import { change, forget, me, onNeedPIN } from "./hub.js";
import { showInbox } from "./inbox.js";
import { mountNotice, notice } from "./notice.js";
import { askPIN, showNoPIN, showSetPIN, showSignIn } from "./signin.js";
import { words } from "./words.js";

const root = document.getElementById("page");
mountNotice(document.body);
onNeedPIN(askPIN);

// The code from the terminal comes in the fragment, which is sent to nobody,
// and goes from the address at once.
// So does a session that a link was opened with.
const asked = new URLSearchParams(location.hash.slice(1));
const setupCode = asked.get("setup");
if (location.hash) history.replaceState(null, "", location.pathname);

function inbox() {
  const stop = showInbox(root, {
    onSignedOut: () => door(words.signIn.expired),
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
      door();
    },
  });
  if (asked.get("session")) showSession(asked.get("session"), Number(asked.get("line")));
  asked.delete("session");
}

function door(said) {
  forget();
  showSignIn(root, { said, onSignedIn: inbox });
}

async function begin() {
  let who;
  try {
    who = await me();
  } catch (e) {
    notice(e.message, true);
    setTimeout(begin, 3000);
    return;
  }
  if (who.signedIn) inbox();
  else if (who.pin) door();
  else if (setupCode) showSetPIN(root, setupCode, inbox);
  else showNoPIN(root, begin);
}
begin();
