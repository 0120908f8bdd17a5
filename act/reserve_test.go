package act

import "testing"

// The worker must not start an action while any of several deciders still
// writes its decision to the audit.
func TestQueue_ReservedByTwo(t *testing.T) {
	q := &Queue{reserved: map[string]int{}, wakeup: make(chan struct{}, 1)}
	first, second := q.reserve("evt_1"), q.reserve("evt_1")
	first()
	if q.tryReserve("evt_1") {
		t.Error("the worker got the action while the second decider holds it")
	}
	second()
	if !q.tryReserve("evt_1") {
		t.Error("the worker did not get the action after both let go")
	}
	if q.tryReserve("evt_1") {
		t.Error("the worker got the action twice")
	}
	q.release("evt_1")
	if len(q.reserved) != 0 {
		t.Errorf("still reserved: %v", q.reserved)
	}
}
