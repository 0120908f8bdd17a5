package act

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// TestStorm_Judge has the judge find each fault by itself: a judge that finds
// none would make every storm look well.
func TestStorm_Judge(t *testing.T) {
	letter, refusal := "wish-0001", "wish-0002"
	for _, tt := range []struct {
		name  string
		spoil func(s *Storm, truth *Truth)
		fault string // a part of it; empty for none
	}{
		{"Well", func(*Storm, *Truth) {}, ""},
		{"Unknown", func(s *Storm, truth *Truth) {
			truth.Actions[0].State = hearken.ActionUnknown
			s.told[letter] = Outcome{Status: "error", Error: "outcome_unknown: who knows"}
		}, ""},
		{"UnknownAndToldOK", func(_ *Storm, truth *Truth) { truth.Actions[0].State = hearken.ActionUnknown }, "is unknown and its agent was told"},
		{"Twice", func(_ *Storm, truth *Truth) { truth.Effects[letter] = 2 }, "arrived 2 times"},
		{"NotArrived", func(_ *Storm, truth *Truth) { delete(truth.Effects, letter) }, "did not arrive"},
		{"RefusedAndArrived", func(_ *Storm, truth *Truth) { truth.Effects[refusal] = 1 }, "was refused and arrived"},
		{"Strange", func(_ *Storm, truth *Truth) { truth.Effects["strange"] = 1 }, "nobody wished it"},
		{"Gone", func(_ *Storm, truth *Truth) { truth.Actions = truth.Actions[1:] }, "does not have it"},
		{"TwoActions", func(_ *Storm, truth *Truth) {
			second := truth.Actions[0]
			second.ID = "msg_other"
			truth.Actions = append(truth.Actions, second)
		}, "2 actions for one wish"},
		{"Stuck", func(_ *Storm, truth *Truth) { truth.Actions[0].State = hearken.ActionApproved }, "was allowed and is approved"},
		{"DecisionGone", func(_ *Storm, truth *Truth) { truth.Actions[0].Decision = nil }, "is not there"},
		{"TwoDecisions", func(s *Storm, _ *Truth) { s.decided["msg_one"] = []bool{true, true} }, "2 owners"},
		{"NoAttempt", func(_ *Storm, truth *Truth) { truth.Audit = slices.Delete(truth.Audit, 2, 3) }, "no action.executing"},
		{"AttemptBeforeDecision", func(_ *Storm, truth *Truth) {
			truth.Audit[1], truth.Audit[2] = truth.Audit[2], truth.Audit[1]
		}, "action.executing before what it follows from"},
		{"DeniedAttempt", func(_ *Storm, truth *Truth) {
			truth.Audit = append(truth.Audit, hearken.AuditRecord{Type: hearken.AuditExecuting, Action: "msg_two"})
		}, "was denied and the audit has an attempt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Storm{
				Wishes:  []Wish{{Mark: letter, Allow: true}, {Mark: refusal}},
				told:    map[string]Outcome{letter: {Status: "ok", ID: "msg_one"}, refusal: {Status: "error", Error: "denied: no"}},
				acks:    map[string]map[string]bool{letter: {"msg_one": true}, refusal: {"msg_two": true}},
				decided: map[string][]bool{"msg_one": {true}, "msg_two": {false}},
			}
			truth := Truth{Effects: map[string]int{letter: 1}, Actions: []hearken.Action{
				{ID: "msg_one", State: hearken.ActionDone, Message: &hearken.Message{Text: letter}, Decision: &hearken.Decision{Allow: true}},
				{ID: "msg_two", State: hearken.ActionDenied, Message: &hearken.Message{Text: refusal}, Decision: &hearken.Decision{}},
			}}
			for _, step := range []string{hearken.AuditProposed, hearken.AuditDecided, hearken.AuditExecuting, hearken.AuditResult} {
				truth.Audit = append(truth.Audit, hearken.AuditRecord{Type: step, Action: "msg_one"})
			}
			for _, step := range []string{hearken.AuditProposed, hearken.AuditDecided} {
				truth.Audit = append(truth.Audit, hearken.AuditRecord{Type: step, Action: "msg_two"})
			}
			tt.spoil(s, &truth)
			faults := strings.Join(s.Judge(truth).Faults, "\n")
			if tt.fault == "" && faults != "" || !strings.Contains(faults, tt.fault) {
				t.Errorf("faults %q, want %q", faults, tt.fault)
			}
		})
	}
}
