package act

import (
	"fmt"
	"slices"

	"github.com/hearken-dev/hearken"
)

// A Truth is how things stand after a storm: what the hub shows, what its
// audit says, and what the servers have in their books.
type Truth struct {
	Actions []hearken.Action
	Audit   []hearken.AuditRecord
	Effects map[string]int // how often each mark arrived, wherever
}

// A Judgement says what a storm has done. Faults are none if all is well.
type Judgement struct {
	Done    map[string]int // by tool and connector
	Unknown int            // nobody can say, which is shown
	Arrived int            // of the unknown, according to the servers
	Denied  int

	Faults    []string // all of them; some are counted below
	Twice     int      // effects that came more than once
	Lost      int      // what was acknowledged or done and is not there
	Unbidden  int      // effects that nobody allowed
	Unaudited int      // steps that the audit does not have
}

func (j *Judgement) fault(count *int, format string, args ...any) {
	if count != nil {
		*count++
	}
	j.Faults = append(j.Faults, fmt.Sprintf(format, args...))
}

// Judge holds what agents and owners were told against the truth.
func (s *Storm) Judge(truth Truth) *Judgement {
	j := &Judgement{Done: map[string]int{}}
	byMark := map[string][]*hearken.Action{}
	for i := range truth.Actions {
		a := &truth.Actions[i]
		byMark[MarkOf(a)] = append(byMark[MarkOf(a)], a)
	}
	known := map[string]bool{}
	for _, w := range s.Wishes {
		known[w.Mark] = true
		actions := byMark[w.Mark]
		for id := range s.acks[w.Mark] {
			if !slices.ContainsFunc(actions, func(a *hearken.Action) bool { return a.ID == id }) {
				j.fault(&j.Lost, "%s: the hub gave out %s and does not have it", w.Mark, id)
			}
		}
		if len(actions) != 1 {
			j.fault(&j.Lost, "%s: %d actions for one wish", w.Mark, len(actions))
			continue
		}
		s.judge(j, w, actions[0], truth.Effects[w.Mark])
		audited(j, actions[0], truth.Audit)
	}
	for mark, n := range truth.Effects {
		if !known[mark] {
			j.fault(&j.Unbidden, "%q arrived %d times and nobody wished it", mark, n)
		}
	}
	return j
}

// judge judges one wish by its action and how often it arrived.
func (s *Storm) judge(j *Judgement, w Wish, a *hearken.Action, arrived int) {
	repeatable := a.Appointment != nil
	switch {
	case arrived > 1:
		j.fault(&j.Twice, "%s arrived %d times", w.Mark, arrived)
	case arrived == 1 && !w.Allow:
		j.fault(&j.Unbidden, "%s was refused and arrived", w.Mark)
	}
	switch told := s.told[w.Mark]; {
	case !w.Allow && a.State == hearken.ActionDenied:
		j.Denied++
	case !w.Allow:
		j.fault(nil, "%s was refused and is %s", w.Mark, a.State)
	case a.State == hearken.ActionDone && arrived == 0:
		j.fault(&j.Lost, "%s is done and did not arrive", w.Mark)
	case a.State == hearken.ActionDone && told.Status != "ok" && told.Code() != hearken.OutcomeUnknown:
		j.fault(nil, "%s is done and its agent was told %q", w.Mark, told.Error)
	case a.State == hearken.ActionDone:
		j.Done[a.Tool+" "+a.Connector]++
	case a.State == hearken.ActionUnknown && repeatable:
		j.fault(nil, "%s could be repeated and is unknown: %s", w.Mark, a.Error)
	case a.State == hearken.ActionUnknown && told.Code() != hearken.OutcomeUnknown:
		j.fault(nil, "%s is unknown and its agent was told %q %q", w.Mark, told.Status, told.Error)
	case a.State == hearken.ActionUnknown:
		j.Unknown++
		j.Arrived += arrived
	default:
		j.fault(nil, "%s was allowed and is %s: %s", w.Mark, a.State, a.Error)
	}
	decisions := s.decided[a.ID]
	if len(decisions) > 1 {
		j.fault(nil, "%s: %d owners were told that they decided", w.Mark, len(decisions))
	}
	for _, allowed := range decisions {
		if a.Decision == nil || a.Decision.Allow != allowed {
			j.fault(&j.Lost, "%s: an owner's decision (%t) was taken and is not there", w.Mark, allowed)
		}
	}
}

// audited holds an action against the audit: each step of it is there, and in
// its order. After a crash a step may stand there once more.
func audited(j *Judgement, a *hearken.Action, audit []hearken.AuditRecord) {
	first := map[string]int{} // by step, counted from 1
	for i, r := range audit {
		if r.Action == a.ID && first[r.Type] == 0 {
			first[r.Type] = i + 1
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
			j.fault(&j.Unaudited, "%s (%s): the audit has no %s", a.ID, a.State, step)
		case at < before:
			j.fault(&j.Unaudited, "%s (%s): the audit has %s before what it follows from", a.ID, a.State, step)
		default:
			before = at
		}
	}
	if first[hearken.AuditExecuting] > 0 && a.State == hearken.ActionDenied {
		j.fault(&j.Unaudited, "%s was denied and the audit has an attempt", a.ID)
	}
}
