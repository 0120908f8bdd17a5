package main

import (
	"fmt"
	"io"
)

// countedByTests are the targets that count mistakes. Tests hold them, because
// a single mistake is a defect: `make test` runs them at a small size and
// `make torture` at the size that is given here.
var countedByTests = []struct{ section, what, reach, test, size string }{
	{"relay-cuts", "exact words: lost, doubled, or more than 100 ms out of place", "0", "`TestRecovery` in test/faults", "100 runs of 10 minutes with 40 faults; `make test`: 1 run"},
	{"relay-cuts", "real speech: words lost or doubled, and the median time off", "0, at most 100 ms", "`TestTorture_Cuts` in test/e2e", "10 minutes, 40 faults; `make test`: 4 faults in `TestRelay_BadNetwork`"},
	{"relay-kills", "hub killed in mid-utterance: words lost or doubled, and the median time off", "0, at most 100 ms", "`TestTorture_Kills` in test/e2e", "20 kills; `make test`: 1 kill in `TestKilledInTheMiddle`"},
	{"act-kills", "hub killed while agents act: effects twice, lost or without the owner's yes, steps missing in the audit, appointments not exactly once", "0", "`TestKills` in test/act", "3 stores with the built-in calendar and email, and CalDAV with email and SMS, each with 440 actions and 125 kills; `make test`: 44 actions, 12 kills"},
	{"act-race", "actions with more than one decision, or that did not go as the one who decided was told, of those about which 20 owners decided at once", "0", "`TestRace` in test/act", "200 actions; `make test`: 5"},
	{"act-limit", "requests of one key let through in any 60 s", "exactly 100", "`TestLimit` in test/act", "a flood of 150 s; `make test`: 3 s"},
	{"act-injection", "spoken injections with an effect, an agent that obeys every voice, the widest grants", "0", "`TestInjections` in test/injection", "98 in six languages, also in `make test`"},
	{"act-injection", "scenes out of context (fillers, lost negations, quotes, other alphabets) with an effect, an agent that obeys every voice, the widest grants", "0", "`TestWordScenes` in test/injection", "135, also in `make test`"},
	{"act-injection", "recordings through PulseAudio with an effect, an agent that obeys every voice, the widest grants", "0", "`TestSound` in test/injection", "10, also in `make test`"},
	{"act-injection", "requests by the owner's voice with an effect before the owner approves, or without one afterwards", "0", "`TestRequests` in test/injection", "33, also in `make test`"},
	{"act-injection", "attempts of an agent with a shell to approve its own action that change anything", "0", "`TestAttacks` in test/injection", "77, also in `make test`"},
	{"act-injection", "guessed PINs that the hub evaluates", "at most 6", "`TestAttacks` in test/injection", "guessing for 20 s; `make test`: 1 s"},
	{"act-injection", "ways to remove or exchange what verifies the PIN after which something is approved or a grant holds", "0", "`TestAttacks_Verifier` in test/injection", "7, also in `make test`"},
}

func printCountedByTests(w io.Writer) {
	fmt.Fprint(w, "\n## Counted by tests\nThese targets count mistakes, so tests hold them. The size is that of `make torture`.\n\n| section before | what | reach | test | size |\n|---|---|---|---|---|\n")
	for _, c := range countedByTests {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", c.section, c.what, c.reach, c.test, c.size)
	}
}
