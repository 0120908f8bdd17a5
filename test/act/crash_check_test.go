package act

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// An outcome is how things stand after a [crashTest]: what the hub shows, what
// its audit says, and what reached the servers.
type outcome struct {
	Actions []hearken.Action
	Audit   []hearken.AuditRecord
	Effects map[string]int // how often each mark arrived, wherever
}

// findings are what a [crashTest] brought about. A run without faults is good.
type findings struct {
	done    map[string]int // by tool and connector
	unknown int            // actions that are shown as unknown
	arrived int            // of the unknown, those that reached a server
	denied  int
	faults  []string
}

func (f *findings) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// check compares what agents and owners were told with the outcome.
func (c *crashTest) check(actual outcome) *findings {
	f := &findings{done: map[string]int{}}
	byMark := map[string][]*hearken.Action{}
	for i := range actual.Actions {
		a := &actual.Actions[i]
		byMark[MarkOf(a)] = append(byMark[MarkOf(a)], a)
	}
	known := map[string]bool{}
	for _, r := range c.requests {
		known[r.Mark] = true
		actions := byMark[r.Mark]
		for id := range c.acknowledged[r.Mark] {
			if !slices.ContainsFunc(actions, func(a *hearken.Action) bool { return a.ID == id }) {
				f.fault("%s: the hub gave out %s and does not have it", r.Mark, id)
			}
		}
		if len(actions) != 1 {
			f.fault("%s: %d actions for one request", r.Mark, len(actions))
			continue
		}
		c.checkRequest(f, r, actions[0], actual.Effects[r.Mark])
		checkAudit(f, actions[0], actual.Audit)
	}
	for mark, n := range actual.Effects {
		if !known[mark] {
			f.fault("%q arrived %d times and nobody asked for it", mark, n)
		}
	}
	return f
}

// checkRequest checks one request by its action and how often it arrived.
func (c *crashTest) checkRequest(f *findings, r request, a *hearken.Action, arrived int) {
	repeatable := a.Appointment != nil
	switch {
	case arrived > 1:
		f.fault("%s arrived %d times", r.Mark, arrived)
	case arrived == 1 && !r.Allow:
		f.fault("%s was refused and arrived", r.Mark)
	}
	switch answer := c.answers[r.Mark]; {
	case !r.Allow && a.State == hearken.ActionDenied:
		f.denied++
	case !r.Allow:
		f.fault("%s was refused and is %s", r.Mark, a.State)
	case a.State == hearken.ActionDone && arrived == 0:
		f.fault("%s is done and did not arrive", r.Mark)
	case a.State == hearken.ActionDone && answer.Status != "ok" && answer.Code() != hearken.OutcomeUnknown:
		f.fault("%s is done and its agent was told %q", r.Mark, answer.Error)
	case a.State == hearken.ActionDone:
		f.done[a.Tool+" "+a.Connector]++
	case a.State == hearken.ActionUnknown && repeatable:
		f.fault("%s could be repeated and is unknown: %s", r.Mark, a.Error)
	case a.State == hearken.ActionUnknown && answer.Code() != hearken.OutcomeUnknown:
		f.fault("%s is unknown and its agent was told %q %q", r.Mark, answer.Status, answer.Error)
	case a.State == hearken.ActionUnknown:
		f.unknown++
		f.arrived += arrived
	default:
		f.fault("%s was allowed and is %s: %s", r.Mark, a.State, a.Error)
	}
	decisions := c.decisions[a.ID]
	if len(decisions) > 1 {
		f.fault("%s: %d owners were told that they decided", r.Mark, len(decisions))
	}
	for _, allowed := range decisions {
		if a.Decision == nil || a.Decision.Allow != allowed {
			f.fault("%s: an owner's decision (%t) was taken and is not there", r.Mark, allowed)
		}
	}
}

// checkAudit checks that the audit has each step of an action, in order. After
// a crash it may have a step twice.
func checkAudit(f *findings, a *hearken.Action, audit []hearken.AuditRecord) {
	first := map[string]int{} // by step, counted from 1
	for i, record := range audit {
		if record.Action == a.ID && first[record.Type] == 0 {
			first[record.Type] = i + 1
		}
	}
	want := []string{hearken.AuditProposed, hearken.AuditDecided}
	if a.State != hearken.ActionDenied {
		want = append(want, hearken.AuditExecuting, hearken.AuditResult)
	}
	before := 0
	for _, step := range want {
		switch at := first[step]; {
		case at == 0:
			f.fault("%s (%s): the audit has no %s", a.ID, a.State, step)
		case at < before:
			f.fault("%s (%s): the audit has %s before what it follows from", a.ID, a.State, step)
		default:
			before = at
		}
	}
	if first[hearken.AuditExecuting] > 0 && a.State == hearken.ActionDenied {
		f.fault("%s was denied and the audit has an attempt", a.ID)
	}
}

// TestCrashTest_Check has the check find each fault: one that finds none would
// let every run pass.
func TestCrashTest_Check(t *testing.T) {
	email, refusal := "mark-0001", "mark-0002"
	for _, tt := range []struct {
		name  string
		spoil func(s *crashTest, actual *outcome)
		fault string // a part of it; empty for none
	}{
		{"Good", func(*crashTest, *outcome) {}, ""},
		{"Unknown", func(s *crashTest, actual *outcome) {
			actual.Actions[0].State = hearken.ActionUnknown
			s.answers[email] = Outcome{Status: "error", Error: "outcome_unknown: who knows"}
		}, ""},
		{"UnknownAndToldOK", func(_ *crashTest, actual *outcome) { actual.Actions[0].State = hearken.ActionUnknown }, "is unknown and its agent was told"},
		{"Twice", func(_ *crashTest, actual *outcome) { actual.Effects[email] = 2 }, "arrived 2 times"},
		{"NotArrived", func(_ *crashTest, actual *outcome) { delete(actual.Effects, email) }, "did not arrive"},
		{"RefusedAndArrived", func(_ *crashTest, actual *outcome) { actual.Effects[refusal] = 1 }, "was refused and arrived"},
		{"Unmarked", func(_ *crashTest, actual *outcome) { actual.Effects["unmarked"] = 1 }, "nobody asked for it"},
		{"Gone", func(_ *crashTest, actual *outcome) { actual.Actions = actual.Actions[1:] }, "does not have it"},
		{"TwoActions", func(_ *crashTest, actual *outcome) {
			second := actual.Actions[0]
			second.ID = "msg_other"
			actual.Actions = append(actual.Actions, second)
		}, "2 actions for one request"},
		{"Stuck", func(_ *crashTest, actual *outcome) { actual.Actions[0].State = hearken.ActionApproved }, "was allowed and is approved"},
		{"DecisionGone", func(_ *crashTest, actual *outcome) { actual.Actions[0].Decision = nil }, "is not there"},
		{"TwoDecisions", func(s *crashTest, _ *outcome) { s.decisions["msg_one"] = []bool{true, true} }, "2 owners"},
		{"NoAttempt", func(_ *crashTest, actual *outcome) { actual.Audit = slices.Delete(actual.Audit, 2, 3) }, "no action.executing"},
		{"AttemptBeforeDecision", func(_ *crashTest, actual *outcome) {
			actual.Audit[1], actual.Audit[2] = actual.Audit[2], actual.Audit[1]
		}, "action.executing before what it follows from"},
		{"DeniedAttempt", func(_ *crashTest, actual *outcome) {
			actual.Audit = append(actual.Audit, hearken.AuditRecord{Type: hearken.AuditExecuting, Action: "msg_two"})
		}, "was denied and the audit has an attempt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &crashTest{
				requests:     []request{{Mark: email, Allow: true}, {Mark: refusal}},
				answers:      map[string]Outcome{email: {Status: "ok", ID: "msg_one"}, refusal: {Status: "error", Error: "denied: no"}},
				acknowledged: map[string]map[string]bool{email: {"msg_one": true}, refusal: {"msg_two": true}},
				decisions:    map[string][]bool{"msg_one": {true}, "msg_two": {false}},
			}
			actual := outcome{Effects: map[string]int{email: 1}, Actions: []hearken.Action{
				{ID: "msg_one", State: hearken.ActionDone, Message: &hearken.Message{Text: email}, Decision: &hearken.Decision{Allow: true}},
				{ID: "msg_two", State: hearken.ActionDenied, Message: &hearken.Message{Text: refusal}, Decision: &hearken.Decision{}},
			}}
			for _, step := range []string{hearken.AuditProposed, hearken.AuditDecided, hearken.AuditExecuting, hearken.AuditResult} {
				actual.Audit = append(actual.Audit, hearken.AuditRecord{Type: step, Action: "msg_one"})
			}
			for _, step := range []string{hearken.AuditProposed, hearken.AuditDecided} {
				actual.Audit = append(actual.Audit, hearken.AuditRecord{Type: step, Action: "msg_two"})
			}
			tt.spoil(s, &actual)
			faults := strings.Join(s.check(actual).faults, "\n")
			if tt.fault == "" && faults != "" || !strings.Contains(faults, tt.fault) {
				t.Errorf("faults %q, want %q", faults, tt.fault)
			}
		})
	}
}
