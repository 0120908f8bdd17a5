package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/people"
	"github.com/hearken-dev/hearken/audit"
)

// resultTimeout is how long a command waits for the result of an action. Most
// actions run at once.
const resultTimeout = 8 * time.Second

// ownerOps are the control requests about actions, keys and contacts, by name.
var ownerOps = map[string]func(*App, context.Context, controlRequest) (any, error){
	"owner.set": func(a *App, _ context.Context, _ controlRequest) (any, error) {
		return a.owner.HasPIN(), nil
	},
	"owner.pin": (*App).setPIN,
	"owner.check": func(*App, context.Context, controlRequest) (any, error) {
		return true, nil // only with the right PIN is it called
	},
	"keys.create": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		return a.createKey(ctx, req.Name, req.Toolsets, req.Approver)
	},
	"keys.revoke": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		return a.revokeKey(ctx, req.ID)
	},
	"actions.list": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		if req.Actions == nil {
			return nil, incomplete(req)
		}
		return a.queue.Actions(ctx, *req.Actions)
	},
	"actions.get": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		return a.queue.Action(ctx, req.ID)
	},
	"actions.problem": func(a *App, _ context.Context, _ controlRequest) (any, error) {
		if err := a.queue.Problem(); err != nil {
			return err.Error(), nil
		}
		return "", nil
	},
	"actions.why":  (*App).why,
	"actions.call": (*App).call,
	"actions.decide": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		if req.Verdict == nil {
			return nil, incomplete(req)
		}
		req.Verdict.By = "owner"
		action, won, err := a.queue.Decide(ctx, *req.Verdict)
		if err != nil {
			return nil, err
		}
		return decisionResult{Action: *action, Decided: won}, nil
	},
	"actions.await": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		return a.queue.Await(ctx, req.ID, resultTimeout)
	},
	"actions.undo": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		return a.queue.Cancel(ctx, "", req.ID)
	},
	"actions.undo-granted": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		return a.queue.UndoGranted(ctx, req.ID)
	},
	"actions.pause": func(a *App, ctx context.Context, _ controlRequest) (any, error) {
		return struct{}{}, a.queue.Pause(ctx, true, "terminal")
	},
	"actions.resume": func(a *App, ctx context.Context, _ controlRequest) (any, error) {
		return struct{}{}, a.queue.Pause(ctx, false, "terminal")
	},
	"grants.list": (*App).listGrants,
	"grants.create": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		if req.Grant == nil {
			return nil, incomplete(req)
		}
		return a.queue.Grant(ctx, *req.Grant)
	},
	"grants.revoke": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		return a.queue.RevokeGrant(ctx, req.ID)
	},
	"actions.calendar": func(a *App, ctx context.Context, _ controlRequest) (any, error) {
		transports, err := a.Transports(ctx)
		if err == nil && a.feed == nil {
			return nil, hearken.Errorf(hearken.RepositoryError, "The calendar is not available. The hub's log says why.")
		}
		if err != nil {
			return nil, hearken.Errorf(hearken.Busy, "The calendar is only available while the hub runs.").WithTry("hearken serve")
		}
		return transports.URL() + a.feed.Path(), nil
	},
	"audit.check":   (*App).checkAudit,
	"audit.restart": (*App).restartAudit,
	"contacts.list": func(a *App, ctx context.Context, _ controlRequest) (any, error) {
		return a.store.Contacts(ctx)
	},
	"contacts.import": (*App).importContacts,
	"contacts.remove": func(a *App, ctx context.Context, req controlRequest) (any, error) {
		return struct{}{}, a.store.DeleteContact(ctx, req.ID)
	},
}

// withoutPIN are the requests that never need a PIN: those that only read, and
// those that withdraw a permission. A coding agent has a shell, so it may make
// them too.
var withoutPIN = []string{
	"owner.set", "owner.pin", "actions.list", "actions.get", "actions.await", "actions.why", "actions.call", "actions.problem", "actions.pause", "actions.undo-granted",
	"actions.calendar", "audit.check",
	"grants.list", "grants.revoke", "keys.revoke", "contacts.list",
}

// withoutFirstPIN are the requests that need the PIN only once one is set. Before
// that nothing can be approved.
var withoutFirstPIN = []string{"keys.create", "contacts.import", "contacts.remove", "actions.undo", "actions.resume"}

// checkOwner fails if a request needs the owner's PIN and does not have it.
func (a *App) checkOwner(ctx context.Context, req controlRequest) error {
	if err := a.ensureActions(ctx); err != nil {
		return err
	}
	if slices.Contains(withoutPIN, req.Op) {
		return nil
	}
	if !a.owner.HasPIN() && slices.Contains(withoutFirstPIN, req.Op) && req.Approver != hearken.ApproverClient {
		return nil
	}
	err := a.owner.Check(req.PIN)
	if err != nil {
		a.recordRefusal(ctx, hearken.AuditRecord{From: "terminal", State: req.Op, Error: string(hearken.CodeOf(err))})
	}
	return err
}

func incomplete(req controlRequest) error {
	return hearken.Errorf(hearken.Invalid, "The request %q is incomplete.", req.Op)
}

func (a *App) setPIN(ctx context.Context, req controlRequest) (any, error) {
	first := !a.owner.HasPIN()
	if err := a.owner.SetPIN(req.PIN, req.NewPIN); err != nil {
		a.recordRefusal(ctx, hearken.AuditRecord{From: "terminal", State: req.Op, Error: string(hearken.CodeOf(err))})
		return nil, err
	}
	a.page.SignOut() // everyone who signed in with the old PIN
	state := "changed"
	if first {
		state = "set"
	}
	a.record(ctx, hearken.AuditRecord{Type: hearken.AuditOwner, State: state, By: "owner", From: "terminal"})
	return struct{}{}, nil
}

func (a *App) importContacts(ctx context.Context, req controlRequest) (any, error) {
	known, err := a.store.Contacts(ctx)
	if err != nil {
		return nil, err
	}
	save, report := people.Merge(known, req.Contacts)
	for i := range save {
		if err := a.store.SaveContact(ctx, &save[i]); err != nil {
			return nil, hearken.Errorf(hearken.RepositoryError, "A contact could not be saved: %w.", err)
		}
	}
	a.record(ctx, hearken.AuditRecord{Type: hearken.AuditOwner, State: "contacts", By: "owner", From: "terminal"})
	return report, nil
}

// checkAudit says why the audit is not intact; it returns an empty text if it
// is.
func (a *App) checkAudit(ctx context.Context, _ controlRequest) (any, error) {
	if a.auditLog == nil {
		return nil, a.queue.Problem()
	}
	err := a.auditLog.Check(ctx)
	if found, ok := errors.AsType[*audit.Tampered](err); ok {
		return found.Message, nil
	}
	return "", err
}

// restartAudit starts a new audit in place of one that is not intact.
func (a *App) restartAudit(ctx context.Context, _ controlRequest) (any, error) {
	if a.auditLog == nil {
		return nil, a.queue.Problem()
	}
	found, err := a.auditLog.Restart(ctx, "terminal")
	if err != nil {
		return nil, err
	}
	a.log.Warn("audit restarted", "found", found.Found, "directory", found.Dir)
	a.queue.AuditRepaired()
	return found, nil
}

func (a *App) why(ctx context.Context, req controlRequest) (any, error) {
	action, err := a.queue.Action(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	var exported bytes.Buffer
	if err := audit.Export(a.cfg.auditDir(), &exported, audit.Filter{Action: req.ID}); err != nil {
		return nil, err
	}
	w := why{Action: *action, Audit: []auditLine{}}
	for raw := range bytes.Lines(exported.Bytes()) {
		var line auditLine
		if err := json.Unmarshal(raw, &line); err != nil {
			return nil, err
		}
		w.Audit = append(w.Audit, line)
	}
	return w, nil
}
