package mcpserver

import (
	"testing"

	"github.com/hearken-dev/hearken"
)

// To a model, what failed or may have happened is an error. What people decided,
// or still have to, is not: an error is a reason to try another way.
func TestActionResult_IsError(t *testing.T) {
	for state, want := range map[hearken.ActionState]bool{
		hearken.ActionDone: false, hearken.ActionPending: false, hearken.ActionApproved: false, hearken.ActionDenied: false,
		hearken.ActionExpired: false, hearken.ActionCancelled: false, hearken.ActionUndone: false,
		hearken.ActionFailed: true, hearken.ActionUnknown: true,
	} {
		a := &hearken.Action{ID: hearken.NewActionID(hearken.MessageSend), State: state}
		if state.Final() && state != hearken.ActionDone {
			a.SetFailure(hearken.ActionWasDenied, "it did not happen.")
		}
		if got := actionResult(a); got.IsError != want {
			t.Errorf("%s: isError %v", state, got.IsError)
		}
	}
}
