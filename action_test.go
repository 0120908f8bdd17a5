package hearken

import "testing"

func TestAction_Failure(t *testing.T) {
	var fresh Action
	fresh.SetFailure(ProviderRejected, "The server said: no.")
	if fresh.Error != "provider_rejected: The server said: no." {
		t.Errorf("stored as %q", fresh.Error)
	}
	for name, tt := range map[string]struct {
		action  Action
		code    Code
		message string
	}{
		"None":        {Action{}, "", ""},
		"Fresh":       {fresh, ProviderRejected, "The server said: no."},
		"Old":         {Action{Error: "approval_expired: nobody decided in time, which means no."}, ApprovalExpired, "nobody decided in time, which means no."},
		"OldColons":   {Action{Error: "provider_rejected: The webhook refuses the message: 422"}, ProviderRejected, "The webhook refuses the message: 422"},
		"OldEmpty":    {Action{Error: "outcome_unknown: "}, OutcomeUnknown, ""},
		"NoCode":      {Action{Error: "something went wrong"}, "", "something went wrong"},
		"NotACode":    {Action{Error: "Dial tcp: connection refused"}, "", "Dial tcp: connection refused"},
		"CodeAlone":   {Action{Code: ActionWasDenied, Error: "no prefix"}, ActionWasDenied, "no prefix"},
		"OtherPrefix": {Action{Code: ActionWasDenied, Error: "denied: no: really"}, ActionWasDenied, "no: really"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, message := tt.action.FailureCode(), tt.action.FailureMessage(); code != tt.code || message != tt.message {
				t.Errorf("%q and %q, want %q and %q", code, message, tt.code, tt.message)
			}
		})
	}
}

func TestAlarm_Failure(t *testing.T) {
	a := Alarm{Error: "cancelled: The reminder was taken back."}
	if a.FailureCode() != ActionWasCancelled {
		t.Errorf("of earlier data: %q", a.FailureCode())
	}
	a.SetFailure(Errorf(OutcomeUnknown, "It may have arrived."))
	if a.FailureCode() != OutcomeUnknown || a.Error != "outcome_unknown: It may have arrived." {
		t.Errorf("%+v", a)
	}
	if a.SetFailure(nil); a != (Alarm{}) {
		t.Errorf("%+v", a)
	}
}
