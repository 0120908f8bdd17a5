package act_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/store/storetest"
)

// A prober is a key with a grant.
type prober struct {
	*world
	principal string
}

// granted lets a key create appointments.
func (w *world) granted(principal string) prober {
	w.Helper()
	w.grant(principal, hearken.CalendarCreate, "builtin")
	return prober{w, principal}
}

// applies reports whether the grant applies now: an appointment is created, or
// the owner is asked and told why.
func (p prober) applies() bool {
	p.Helper()
	req := p.event("Probe " + rand.Text())
	req.Principal = p.principal
	a := p.propose(req)
	off, err := p.queue.WhyGrantsAreOff(p.Context(), p.principal)
	if err != nil {
		p.Fatal(err)
	}
	ran := p.ranByGrant(a)
	if ran == (off != "") {
		p.Errorf("it ran: %v, although the grant is off because %q", ran, off)
	}
	if warned := strings.Contains(strings.Join(a.Warnings, " "), "A grant covers this, but "); warned == ran {
		p.Errorf("it ran: %v, with the warnings %q", ran, a.Warnings)
	}
	return ran
}

// want checks whether the grant applies now.
func (p prober) want(applies bool, when string) {
	p.Helper()
	if got := p.applies(); got != applies {
		p.Errorf("%s: the grant applies: %v", when, got)
	}
}

func TestExposure_Audio(t *testing.T) {
	run(t, func(w *world) {
		agent := w.granted(w.key("agent"))
		agent.want(true, "in silence")
		w.calls.sound("a")
		agent.want(false, "at the first sound")
		w.sleep(3 * time.Hour)
		agent.want(false, "during a long call")
		w.calls.stop("a")
		agent.want(false, "at its end")
		w.sleep(9*time.Minute + 59*time.Second)
		agent.want(false, "9:59 later")
		w.sleep(2 * time.Second)
		agent.want(true, "10:01 later")
		w.calls.sound("b")
		w.calls.remove("b")
		w.sleep(time.Minute)
		agent.want(false, "after a session that was deleted")
	})
}

func TestExposure_Reading(t *testing.T) {
	run(t, func(w *world) {
		agent, other, local := w.granted(w.key("agent")), w.granted(w.key("other")), w.granted(act.Local)
		w.cfg.Exposure.Read(agent.principal)
		agent.want(false, "at once")
		other.want(true, "another key")
		local.want(true, "a program of this computer")
		w.sleep(29*time.Minute + 59*time.Second)
		agent.want(false, "29:59 later")
		w.sleep(2 * time.Second)
		agent.want(true, "30:01 later")
		w.cfg.Exposure.Read(act.Local)
		local.want(false, "a program of this computer that has read")
		agent.want(true, "a key, after a program of this computer has read")
	})
}

// Who reads without a key may be any agent's program.
func TestExposure_ReadingWithoutKey(t *testing.T) {
	for _, reader := range []string{"loopback", "", "ticket"} {
		run(t, func(w *world) {
			agent, local := w.granted(w.key("agent")), w.granted(act.Local)
			w.cfg.Exposure.Read(reader)
			agent.want(false, "a key, after "+reader)
			local.want(false, "local, after "+reader)
			w.sleep(30*time.Minute + time.Second)
			agent.want(true, "a key, 30:01 after "+reader)
			local.want(true, "local, 30:01 after "+reader)
		})
	}
}

// The owner is told who has read, which need not be the key itself.
func TestExposure_SaysWhoHasRead(t *testing.T) {
	run(t, func(w *world) {
		agent := w.key("agent")
		for _, tt := range []struct{ reader, principal, want string }{
			{agent, agent, "this key has read transcripts within the last 30 minutes"},
			{act.Local, act.Local, "an agent or a command on this computer has read transcripts within the last 30 minutes"},
			{"loopback", agent, "a program without a key has read transcripts within the last 30 minutes"},
			{"loopback", act.Local, "a program without a key has read transcripts within the last 30 minutes"},
		} {
			w.cfg.Exposure.Read(tt.reader)
			if got, err := w.queue.WhyGrantsAreOff(w.Context(), tt.principal); err != nil || got != tt.want {
				w.Errorf("%s has read: %q, %v", tt.reader, got, err)
			}
			w.sleep(31 * time.Minute)
		}
	})
}

// A reading that lasts keeps grants off as long as it lasts, and another that
// ends meanwhile does not change that.
func TestExposure_LastingReading(t *testing.T) {
	run(t, func(w *world) {
		agent := w.granted(w.key("agent"))
		stop := w.cfg.Exposure.StartReading(agent.principal)
		w.cfg.Exposure.StartReading(agent.principal)()
		w.sleep(5 * time.Hour)
		agent.want(false, "five hours into it")
		stop()
		stop() // twice is once
		w.sleep(29*time.Minute + 59*time.Second)
		agent.want(false, "29:59 after its end")
		w.sleep(2 * time.Second)
		agent.want(true, "30:01 after its end")
	})
}

// A key that cannot read transcripts can use its grants at any time.
func TestExposure_ActionsOnly(t *testing.T) {
	run(t, func(w *world) {
		assistant, agent := w.granted(w.key("assistant", hearken.ActionsToolset)), w.granted(w.key("agent", hearken.ActionsToolset, "transcription"))
		w.calls.sound("a")
		defer w.cfg.Exposure.StartReading("loopback")()
		w.cfg.Exposure.Read("")
		w.sleep(time.Minute)
		assistant.want(true, "the assistant")
		agent.want(false, "a key that also reads")
	})
}

func TestExposure_Settings(t *testing.T) {
	for _, tt := range []struct {
		name              string
		audio, reading    time.Duration
		audioOff, audioOn time.Duration
		readOff, readOn   time.Duration
	}{
		{"Shorter", 2 * time.Minute, 5 * time.Minute, 119 * time.Second, 121 * time.Second, 299 * time.Second, 301 * time.Second},
		{"Longer", 3 * time.Hour, 4 * time.Hour, 179 * time.Minute, 181 * time.Minute, 239 * time.Minute, 241 * time.Minute},
		{"NotAtAll", -1, -1, 0, 6 * time.Second, -1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, func(w *world) {
				w.close()
				w.exposed.AfterAudio, w.exposed.AfterReading = tt.audio, tt.reading
				w.open()
				agent := w.granted(w.key("agent"))
				w.calls.sound("a")
				w.sleep(time.Minute)
				agent.want(false, "during audio") // always
				w.calls.stop("a")
				w.sleep(tt.audioOff)
				agent.want(false, "after audio")
				w.sleep(tt.audioOn - tt.audioOff)
				agent.want(true, "long after audio")
				stop := w.cfg.Exposure.StartReading(agent.principal)
				agent.want(false, "while it reads") // always
				stop()
				if tt.readOff >= 0 {
					w.sleep(tt.readOff)
					agent.want(false, "after reading")
				}
				w.sleep(tt.readOn - max(tt.readOff, 0))
				agent.want(true, "long after reading")
			})
		})
	}
}

// crash ends the hub without a last word to the store, and starts another.
func (w *world) crash(store *mortal) *mortal {
	w.Helper()
	store.dead.Store(true)
	w.close()
	w.calls.restart()
	next := &mortal{ExposureStore: w.store}
	w.exposed.Store = next
	w.open()
	return next
}

// A crash forgets nothing: what was recorded last may be up to a minute too
// early, so it counts as a minute later.
func TestExposure_Restart(t *testing.T) {
	run(t, func(w *world) {
		store := &mortal{ExposureStore: w.store}
		w.close()
		w.exposed.Store = store
		w.open()
		agent := w.granted(w.key("agent"))
		w.cfg.Exposure.Read(agent.principal)
		w.sleep(29 * time.Second)
		w.cfg.Exposure.Read(agent.principal) // too soon to be recorded again
		store = w.crash(store)
		w.sleep(29*time.Minute + 59*time.Second)
		agent.want(false, "29:59 after the last reading")
		w.sleep(33 * time.Second)
		agent.want(true, "31:01 after the recorded one")

		for _, recent := range []time.Duration{0, 10 * time.Second, 20 * time.Second, 29 * time.Second, 40 * time.Second, 59 * time.Second} {
			w.cfg.Exposure.Read(agent.principal)
			w.sleep(recent)
			stop := w.cfg.Exposure.StartReading(agent.principal)
			w.sleep(59 * time.Second)
			store = w.crash(store)
			stop() // the old hub's, which nobody hears of
			w.sleep(29*time.Minute + 59*time.Second)
			agent.want(false, "29:59 after a crash that ended a reading")
			w.sleep(time.Minute + 2*time.Second)
			agent.want(true, "31:01 after a crash that ended a reading")
		}
	})
}

// Audio that ended before a crash counts after it, even if its session was
// deleted.
func TestExposure_AudioBeforeCrash(t *testing.T) {
	for length := time.Second; length < time.Minute; length += 3 * time.Second {
		run(t, func(w *world) {
			store := &mortal{ExposureStore: w.store}
			w.close()
			w.exposed.Store = store
			w.open()
			agent := w.granted(w.key("agent"))
			w.calls.sound("a")
			w.propose(w.message("recorded now"))
			w.sleep(29 * time.Second)
			w.propose(w.message("too soon to be recorded again"))
			w.sleep(length)
			w.calls.remove("a")
			w.crash(store)
			w.sleep(9*time.Minute + 59*time.Second)
			agent.want(false, "9:59 after "+length.String()+" of audio")
			w.sleep(time.Minute + 2*time.Second)
			agent.want(true, "11:01 after "+length.String()+" of audio")
		})
	}
}

// Transcripts can be read while the store fails or hangs, and grants stay off.
func TestExposure_BadStore(t *testing.T) {
	for _, how := range []string{"Fails", "Hangs"} {
		t.Run(how, func(t *testing.T) {
			run(t, func(w *world) {
				faulty := storetest.NewFaulty(w.store)
				faulty.Only("SaveExposure")
				w.close()
				w.exposed.Store = faulty
				w.open()
				agent := w.granted(w.key("agent"))
				release := func() { faulty.Fail(nil) }
				if how == "Fails" {
					faulty.Fail(errors.New("disk full"))
				} else {
					release = faulty.Stall()
				}
				defer release()
				began := time.Now()
				w.cfg.Exposure.Read(agent.principal)
				stop := w.cfg.Exposure.StartReading(agent.principal)
				stop()
				if took := time.Since(began); took > 3*time.Second { // a second each
					w.Errorf("reading took %v", took)
				}
				agent.want(false, "while the store is bad")
				w.sleep(29 * time.Minute)
				agent.want(false, "29 minutes later")
				release()
				w.cfg.Exposure.Read(agent.principal)
				if saved, err := w.store.Exposures(w.Context()); err != nil || time.Since(saved[agent.principal]) > time.Second {
					w.Errorf("the store is good again and has %v, %v", saved, err)
				}
			})
		})
	}
}

// A store that cannot say what was read before keeps the hub from starting.
func TestOpenExposure_BadStore(t *testing.T) {
	faulty := storetest.NewFaulty(storetest.NewMemory())
	faulty.Fail(errors.New("disk full"))
	if _, err := act.OpenExposure(t.Context(), act.ExposureConfig{Store: faulty}); err == nil {
		t.Error("it opened")
	}
}

// A grant that was good when the action was requested and is off when it would
// be carried out asks the owner.
func TestExposure_BeforeClaim(t *testing.T) {
	run(t, func(w *world) {
		w.grant(act.Local, hearken.CalendarCreate, "builtin")
		w.onFailpoint("audited", func() { w.cfg.Exposure.Read(act.Local) })
		a := w.propose(w.event("Lunch"))
		if a.Decision == nil || a.Decision.By != "grant" {
			w.Fatalf("no grant: %+v", a)
		}
		w.sleep(time.Minute)
		got := w.action(a.ID)
		if got.State != hearken.ActionPending || got.Decision != nil || w.calendar.count() != 0 ||
			!strings.Contains(strings.Join(got.Warnings, " "), "an agent or a command on this computer has read transcripts") || got.ExpiresAt.Sub(a.CreatedAt) < 10*time.Minute {
			w.Fatalf("%+v, %d created", got, w.calendar.count())
		}
		told := w.notices.take()
		if len(told) != 1 || told[0].Kind != act.NoticePending || told[0].ID != a.ID {
			w.Errorf("told: %+v", told)
		}
		if done := w.approve(got); done.State != hearken.ActionDone || done.Decision.By != "owner" || w.calendar.count() != 1 {
			w.Errorf("%+v, %d created", done, w.calendar.count())
		}
		var states []string
		for _, r := range w.audit.all() {
			if r.Action == a.ID {
				states = append(states, r.Type+" "+r.State)
			}
		}
		want := "action.proposed approved, action.decided approved, action.executing executing, action.decided pending, " +
			"action.decided approved, action.executing executing, action.result done"
		if got := strings.Join(states, ", "); got != want {
			w.Errorf("the audit has %s", got)
		}
	})
}

// A retry that a grant no longer covers is not asked about if the first attempt
// may have succeeded: a no would be wrong then.
func TestExposure_BeforeRetry(t *testing.T) {
	run(t, func(w *world) {
		w.grant(act.Local, hearken.CalendarCreate, "builtin")
		w.calendar.outcomes = []hearken.Outcome{{Result: hearken.ResultTemporary, Message: "no answer."}}
		w.calendar.hook = func(*hearken.Action) { w.cfg.Exposure.Read(act.Local) }
		a := w.await(w.propose(w.event("Lunch")))
		if a.State != hearken.ActionUnknown || a.FailureCode() != hearken.OutcomeUnknown || w.calendar.count() != 1 {
			w.Errorf("%+v, %d attempts", a, w.calendar.count())
		}
	})
}

// A grant that is off is no reason to ask about what may not happen any more.
func TestExposure_AndRevoked(t *testing.T) {
	run(t, func(w *world) {
		w.close()
		w.cfg.Delay = time.Minute
		w.open()
		topic := "ntfy:ntfy.example/ada"
		k, _ := hearken.NewKey("agent", time.Now(), nil)
		if err := w.store.SaveKey(w.Context(), &k); err != nil {
			w.Fatal(err)
		}
		w.grant(k.ID, hearken.MessageSend, topic)
		g := w.grant(act.Local, hearken.MessageSend, topic)
		ofKey := w.write("ntfy", "of a key")
		ofKey.Principal = k.ID
		a, b := w.propose(ofKey), w.propose(w.write("ntfy", "of this computer"))
		now := time.Now()
		k.RevokedAt = &now
		if err := w.store.SaveKey(w.Context(), &k); err != nil {
			w.Fatal(err)
		}
		if _, err := w.queue.RevokeGrant(w.Context(), g.ID); err != nil {
			w.Fatal(err)
		}
		w.calls.sound("a")
		w.cfg.Exposure.Read("")
		w.sleep(2 * time.Minute)
		for _, a := range []*hearken.Action{a, b} {
			if got := w.action(a.ID); a.Decision == nil || got.State != hearken.ActionDenied || w.topic.count() != 0 {
				w.Errorf("%+v, %d sent", got, w.topic.count())
			}
		}
	})
}

// Only the owner and the hub itself know of exposures: the names under which the
// hub records them are no keys.
func TestExposure_ReservedNames(t *testing.T) {
	run(t, func(w *world) {
		for _, name := range []string{"audio", "everyone"} {
			if hearken.IsKeyID(name) {
				w.Errorf("%s is the id of a key", name)
			}
			if _, err := w.queue.WhyGrantsAreOff(context.Background(), name); hearken.CodeOf(err) != hearken.Unauthorized {
				w.Errorf("%s: %v", name, err)
			}
		}
	})
}
