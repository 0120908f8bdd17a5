package main

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/act/alarm"
	"github.com/hearken-dev/hearken/action/calendar"
	"github.com/hearken-dev/hearken/action/reminder"
	"github.com/hearken-dev/hearken/api"
	"github.com/hearken-dev/hearken/audit"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/owner"
	"github.com/hearken-dev/hearken/web"
)

// actionParts are the parts of the hub that carry out actions. A single command
// opens them only if it needs them; see [App.ensureActions].
type actionParts struct {
	queue        *act.Queue // nil if this hub carries out no actions
	actionsErr   error      // why it does not
	owner        *owner.Owner
	clock        *alarm.Clock
	exposure     *act.Exposure
	feed         *calendar.Feed // nil if it cannot be served
	desktop      *reminder.Desktop
	notifierList []alarm.Notifier // the ways to tell the owner something
	page         *web.Handler
	setupCode    string // lets the page set the first PIN
	stateKey     []byte // seals what clients hold between a question and its answer, and signs undo links

	audit    hearken.Audit // nil if this hub has no part in the audit
	auditLog *audit.Log    // nil if the audit cannot be written
	refusals act.RefusalThrottle
	started  bool // whether the audit records the hub's start

	ensuring      sync.Mutex                   // held by ensureActions
	quoting       atomic.Pointer[act.Queue]    // queue, for those who do not know whether it is open yet
	readyExposure atomic.Pointer[act.Exposure] // exposure, for the same
}

// openActions opens the action parts. Only wrong settings are an error. A hub
// that cannot act for another reason, such as a store of another owner, still
// transcribes and stores.
func (a *App) openActions(ctx context.Context) error {
	a.desktop = reminder.NewDesktop(os.Getenv)
	c, err := a.openConnectors()
	if err != nil {
		return err
	}
	a.notifierList = c.notifiers
	if a.actionsErr = a.openQueue(ctx, c); a.actionsErr != nil {
		if err := a.closeActions(ctx); err != nil {
			a.log.Warn("actions not closed", "error", err)
		}
		a.queue, a.clock, a.auditLog, a.audit = nil, nil, nil, nil
		return nil
	}
	a.quoting.Store(a.queue)
	a.openApprovals()
	return nil
}

// ensureActions opens the action parts if they are not open yet.
func (a *App) ensureActions(ctx context.Context) error {
	a.ensuring.Lock()
	defer a.ensuring.Unlock()
	if a.queue == nil && a.actionsErr == nil {
		if err := a.openActions(ctx); err != nil {
			return err
		}
		a.forgetMissingQuotes(ctx)
	}
	return a.actionsErr
}

// openQueue opens the queue and what it needs: owner, audit and clock.
func (a *App) openQueue(ctx context.Context, conn connectors) (err error) {
	c := a.cfg
	if a.owner, err = owner.Open(owner.Config{
		KeyDir: c.KeyDir, Store: a.store, StoreName: c.storeName(), DataDir: c.DataDir, Rounds: a.opts.PINRounds, Now: a.now,
	}); err != nil {
		return err
	}
	ownerReplaced, err := a.owner.Replaced(ctx)
	if err != nil {
		return err
	}
	if a.auditLog, err = audit.Open(audit.Config{
		Dir: c.auditDir(), KeyDir: c.KeyDir, Store: a.store, Name: c.auditName(), Expected: a.hasActed,
		Now: a.now, Log: a.log, Failpoint: a.opts.Failpoint,
	}); err != nil {
		a.log.Error("no audit; no action is carried out", "error", err)
		a.audit = noAudit{err}
	} else {
		a.audit = a.auditLog
	}
	if a.clock, err = alarm.Open(ctx, alarm.Config{
		Store: a.store, Audit: a.audit, Notifiers: conn.notifiers, Log: a.log, Now: a.now, Failpoint: a.opts.Failpoint,
	}); err != nil {
		return err
	}
	a.stateKey = loadOrCreateKey(filepath.Join(c.KeyDir, "state.key")) // before the queue, whose notices need it
	if a.queue, err = act.Open(ctx, act.Config{
		Dir: c.DataDir, Store: a.store, Audit: a.audit, Transcripts: a.hub, Exposure: a.exposure, Calls: a.hub,
		Calendars: conn.calendars, Messengers: conn.messengers, Reminders: append([]hearken.Connector{a.clock}, conn.reminders...),
		CallingCode: c.CountryCode,
		Zone:        conn.zone, Approval: time.Duration(c.ApprovalMinutes * float64(time.Minute)),
		Retention:     time.Duration(c.ActionDays) * 24 * time.Hour,
		FarRecipients: c.FarRecipients == "ask",
		Delay:         time.Duration(c.GrantDelaySeconds * float64(time.Second)),
		NewOwner:      ownerReplaced,
		NoNotifier:    a.noNotifier,
		OnNotice:      a.notifyOwner,
		Log:           a.log, Now: a.now, Failpoint: a.opts.Failpoint,
	}); err != nil {
		return err
	}
	if ownerReplaced {
		a.record(ctx, hearken.AuditRecord{Type: hearken.AuditOwner, State: "replaced", From: "file"})
		return a.owner.SaveToStore(ctx)
	}
	return nil
}

// openApprovals makes the approvals page and the calendar feed.
func (a *App) openApprovals() {
	c := a.cfg
	var err error
	if a.feed, err = calendar.NewFeed(calendar.FeedConfig{Dir: c.DataDir, Actions: a.queue, Log: a.log, Now: a.now}); err != nil {
		a.log.Error("the calendar is not served", "error", err)
	}
	if !a.owner.HasPIN() {
		a.setupCode = rand.Text()
	}
	a.page = web.New(web.Config{
		Queue: a.queue, Owner: a.owner, SetupCode: func() string { return a.setupCode }, Keys: a.store, Transcripts: a.hub,
		Audit: a.audit, UndoKey: a.stateKey, PublicURL: c.PublicURL, Log: a.log, Now: a.now,
	})
}

// loadOrCreateKey reads a secret key from a file and creates it the first time.
// If it cannot be saved, it lasts as long as the hub.
func loadOrCreateKey(path string) []byte {
	key, err := os.ReadFile(path)
	if err == nil && len(key) >= 32 {
		return key
	}
	key = make([]byte, 32)
	rand.Read(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		_ = os.WriteFile(path, key, 0o600)
	}
	return key
}

// actionQueue returns the queue for agents, or a nil interface if there is none.
func (a *App) actionQueue() mcpserver.ActionQueue {
	if a.queue == nil {
		return nil
	}
	return a.queue
}

// mountActions adds the approvals page and the calendar to HTTP. Neither needs a
// key: the page asks for the PIN, and the addresses of the calendar and of undo
// links are their secrets.
func (a *App) mountActions(server *api.API) {
	if a.queue == nil {
		return
	}
	for _, r := range a.page.Routes() {
		server.Mount(r.Pattern, r.Handler, api.RouteAccess{Open: true, Stream: r.Stream, Linked: r.Linked})
	}
	if a.feed != nil {
		server.Mount("GET "+calendar.FeedPattern, a.feed, api.RouteAccess{Open: true})
	}
}

// closeActions closes the action parts, the audit last.
func (a *App) closeActions(ctx context.Context) error {
	var errs []error
	if a.queue != nil {
		errs = append(errs, a.queue.Close(ctx))
	}
	if a.clock != nil {
		errs = append(errs, a.clock.Close(ctx))
	}
	if a.auditLog != nil {
		if a.started {
			a.record(ctx, hearken.AuditRecord{Type: hearken.AuditHub, State: "stopped"})
		}
		errs = append(errs, a.auditLog.Close())
	}
	return errors.Join(errs...)
}

// hasActed reports whether the store has actions or grants of this hub, which an
// audit must explain.
func (a *App) hasActed(ctx context.Context) (bool, error) {
	actions, err := a.store.Actions(ctx, hearken.ActionFilter{Limit: 1})
	if err != nil || len(actions) > 0 {
		return len(actions) > 0, err
	}
	grants, err := a.store.Grants(ctx)
	return len(grants) > 0, err
}

// noAudit is an audit that cannot be written.
type noAudit struct{ err error }

func (n noAudit) Append(context.Context, hearken.AuditRecord) error { return n.err }

func (n noAudit) Problem() error { return n.err }

// record appends to the audit. A failure is only logged: it stops actions,
// which the queue notices on its own.
func (a *App) record(ctx context.Context, r hearken.AuditRecord) {
	if a.audit == nil {
		return
	}
	if err := a.audit.Append(context.WithoutCancel(ctx), r); err != nil {
		a.log.Error("not in the audit", "type", r.Type, "error", err)
	}
}

// recordLimited records a key that makes too many requests.
func (a *App) recordLimited(principal string) {
	a.record(context.Background(), hearken.AuditRecord{Type: hearken.AuditLimited, Principal: principal})
}

// recordRefusedRequest records an HTTP request that was refused.
func (a *App) recordRefusedRequest(ctx context.Context, addr, route string, code hearken.Code) {
	a.recordRefusal(ctx, hearken.AuditRecord{From: addr, Target: route, Error: string(code)})
}

// recordRefusedTool records a call of an action tool that was refused.
func (a *App) recordRefusedTool(ctx context.Context, principal, tool string, code hearken.Code) {
	a.recordRefusal(ctx, hearken.AuditRecord{Principal: principal, Tool: tool, Error: string(code)})
}

// recordRefusal records a refusal. Of a flood of them it records only that there
// was one.
func (a *App) recordRefusal(ctx context.Context, r hearken.AuditRecord) {
	allowed, last := a.refusals.Allow(a.now())
	if !allowed {
		return
	}
	r.Type = hearken.AuditRefused
	if last {
		r.State = act.RefusalsOmitted
	}
	a.record(ctx, r)
}
