package audit

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// An audit of at most so many bytes is verified before Open returns, which
	// takes a fraction of a second.
	quickBytes = 16 << 20
	// verifyInterval is how often the whole audit is verified.
	verifyInterval = time.Hour
	// recheckInterval is how often an audit that was not intact is looked at
	// again, besides whenever one of its files changes.
	recheckInterval = time.Minute
)

// start verifies the audit for the first time.
func (l *Log) start() {
	l.writeLock <- struct{}{}
	l.verifying.Store(true)
	l.checked = takeStamps(l.cfg.Dir, l.cfg.KeyDir)
	var size int64
	for _, info := range l.checked {
		size += info.Size()
	}
	first := func() {
		l.checkAndLog()
		l.verifying.Store(false)
		<-l.writeLock
	}
	if size <= l.cfg.quick {
		first()
	} else {
		l.running.Go(first)
	}
	l.running.Go(l.verifyRegularly)
}

// Problem says why nothing can be appended; nil if the audit is intact as far
// as is known. Its error has the code [hearken.AuditUnavailable].
func (l *Log) Problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.problem == nil && l.verifying.Load() {
		return stillVerifying()
	}
	return l.problem
}

// Check verifies the whole audit now and returns the problem that it finds.
func (l *Log) Check(ctx context.Context) error {
	select {
	case l.writeLock <- struct{}{}:
		defer func() { <-l.writeLock }()
		return l.check(ctx)
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
}

func stillVerifying() error {
	return hearken.Errorf(hearken.AuditUnavailable, "The audit is still being verified, so no action is carried out yet.").
		WithTry("again in a few seconds")
}

// ensureIntact is called before each write. It reads the whole audit only if
// something about its files is not as this process left it, or if the audit was
// not intact before. The caller holds writeLock.
func (l *Log) ensureIntact() error {
	if problem := l.Problem(); problem != nil {
		if l.cfg.Now().Sub(l.checkedAt) < recheckInterval && takeStamps(l.cfg.Dir, l.cfg.KeyDir).equal(l.checked) {
			return problem
		}
	} else if err := l.w.repair(); err != nil {
		return err
	} else if l.w.unchanged() {
		return nil
	}
	return l.check(l.closing)
}

// check verifies the whole audit and has the writer continue where it ends. It
// returns the problem that it found. The caller holds writeLock.
func (l *Log) check(ctx context.Context) error {
	err := l.w.repair()
	l.checkedAt, l.checked = l.cfg.Now(), takeStamps(l.cfg.Dir, l.cfg.KeyDir) // before reading, so that no change is missed
	if err == nil {
		err = l.verifyAndResume(ctx)
	}
	if ctx.Err() != nil && l.closing.Err() == nil {
		return ctx.Err() // nothing was found out
	}
	err = notIntact(err)
	l.mu.Lock()
	l.problem = err
	l.mu.Unlock()
	return err
}

// checkAndLog is check for the background.
func (l *Log) checkAndLog() {
	if err := l.check(l.closing); err != nil && l.closing.Err() == nil {
		l.cfg.Log.Error("audit: not intact, so no action is carried out", "error", err)
	}
}

func (l *Log) verifyAndResume(ctx context.Context) error {
	v, err := l.verify(ctx, l.w.newest)
	if hearken.CodeOf(err) == hearken.NotFound { // a new audit
		if l.cfg.Expected != nil {
			expected, err := l.cfg.Expected(ctx)
			if err != nil {
				return err
			}
			if expected {
				return tampered(l.cfg.Dir, 0, "The audit is missing, although the store has actions or grants.")
			}
		}
		if _, err = makeKeys(l.cfg.KeyDir); err == nil {
			l.checked = takeStamps(l.cfg.Dir, l.cfg.KeyDir)
			v, err = l.verify(ctx, nil)
		}
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.keys = v.keys
	l.mu.Unlock()
	return l.w.resume(v, maps.Clone(l.checked))
}

// verify reads the whole audit and compares it with what the store and this
// process know.
func (l *Log) verify(ctx context.Context, newest *checkpoint) (*verification, error) {
	opts := Options{KeyDir: l.cfg.KeyDir, Name: l.cfg.Name, newest: newest}
	if l.cfg.Store != nil {
		ctx, cancel := context.WithTimeout(ctx, headTimeout)
		defer cancel()
		heads, err := l.cfg.Store.AuditHeads(ctx)
		if err != nil {
			return nil, err
		}
		opts.Heads = heads
	}
	return verify(ctx, l.cfg.Dir, opts)
}

// verifyRegularly verifies the audit again and again while it is being written.
func (l *Log) verifyRegularly() {
	tick := time.NewTicker(verifyInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.closing.Done():
			return
		}
		if _, err := l.verify(l.closing, nil); err == nil && l.Problem() == nil {
			continue
		}
		// Look again without anybody writing. This also sets the problem.
		select {
		case l.writeLock <- struct{}{}:
			l.checkAndLog()
			<-l.writeLock
		case <-l.closing.Done():
			return
		}
	}
}

// notIntact wraps what a check found as people see it.
func notIntact(err error) error {
	if err == nil || hearken.CodeOf(err) == hearken.AuditUnavailable {
		return err
	}
	if t, ok := errors.AsType[*Tampered](err); ok {
		return hearken.Errorf(hearken.AuditUnavailable, "The audit is not intact, so no action is carried out: %w", t).
			WithTry("hearken audit verify, then hearken audit restart")
	}
	return hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be verified, so no action is carried out: %w.", err).
		WithTry("hearken audit verify")
}
