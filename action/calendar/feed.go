package calendar

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// FeedPattern is where a router has to put a [Feed]. The address itself is the
// key to it, so it wants no other, and no log should show it.
const FeedPattern = "/calendar/"

// Actions is where a [Feed] finds what was done.
type Actions interface {
	Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error)
}

// FeedConfig is what a [Feed] is made of. Dir and Actions are required.
type FeedConfig struct {
	Dir     string // where the secret part of the address is kept
	Actions Actions
	Name    string // what subscribers see; empty for Hearken
	// Tasks shows reminders as tasks. Few apps read tasks from a subscribed
	// calendar, so the default is events that ring.
	Tasks bool
	Log   *slog.Logger
	Now   func() time.Time
}

// Feed is the built-in calendar as a file to subscribe to. It shows every
// appointment and reminder that was done and not undone.
type Feed struct {
	cfg   FeedConfig
	token string

	mu       sync.Mutex
	tag      string
	modified time.Time // when the content got its tag, as far as this process knows
}

// NewFeed makes a feed. Its address is made at the first time and then stays
// the same.
func NewFeed(cfg FeedConfig) (*Feed, error) {
	token, err := openToken(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Name = cmp.Or(safetext.Line(cfg.Name), "Hearken")
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Feed{cfg: cfg, token: token}, nil
}

// Path is the secret address. Whoever knows it reads the calendar.
func (f *Feed) Path() string { return FeedPattern + f.token + ".ics" }

// ServeHTTP answers with the calendar at the feed's address, and as if nothing
// were there at any other.
func (f *Feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, wanted := sha256.Sum256([]byte(r.URL.Path)), sha256.Sum256([]byte(f.Path()))
	if subtle.ConstantTimeCompare(asked[:], wanted[:]) != 1 {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "A calendar can only be read here.", http.StatusMethodNotAllowed)
		return
	}
	body, err := f.calendar(r.Context())
	if err != nil {
		// An empty calendar would have subscribers delete their entries.
		f.cfg.Log.Error("calendar feed cannot be read", "error", err)
		w.Header().Set("Retry-After", "60")
		http.Error(w, "The calendar cannot be read at the moment.", http.StatusServiceUnavailable)
		return
	}
	tag, modified := f.version(body)
	h := w.Header()
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("Content-Disposition", `inline; filename="hearken.ics"`)
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache") // keep it, but ask
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", modified, bytes.NewReader(body))
}

// version is the content's tag, and since when it is so. The store does not
// say when something vanished, so the time is when this process first saw the
// content. Times in HTTP have whole seconds: two contents never share one.
func (f *Feed) version(body []byte) (string, time.Time) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	f.mu.Lock()
	defer f.mu.Unlock()
	if tag != f.tag {
		now := f.cfg.Now().UTC().Truncate(time.Second)
		if next := f.modified.Add(time.Second); f.tag != "" && now.Before(next) {
			now = next
		}
		f.tag, f.modified = tag, now
	}
	return f.tag, f.modified
}

// calendar writes the whole file. It depends on the actions alone, so that
// equal calendars have equal tags.
func (f *Feed) calendar(ctx context.Context) ([]byte, error) {
	objects, err := f.objects(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{}
	w.line("BEGIN", "VCALENDAR")
	w.head()
	w.line("CALSCALE", "GREGORIAN")
	w.line("METHOD", "PUBLISH")
	w.text("NAME", f.cfg.Name)
	w.text("X-WR-CALNAME", f.cfg.Name)
	w.line("REFRESH-INTERVAL;VALUE=DURATION", "PT15M")
	w.line("X-PUBLISHED-TTL", "PT15M")
	w.zones(objects)
	for _, o := range objects {
		w.object(o)
	}
	w.line("END", "VCALENDAR")
	return []byte(w.b.String()), nil
}

// objects lists what the calendar shows, oldest first.
func (f *Feed) objects(ctx context.Context) ([]object, error) {
	var objects []object
	for tool, kind := range map[string]string{hearken.CalendarCreate: event, hearken.ReminderCreate: f.reminderKind()} {
		list, err := f.cfg.Actions.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionDone}, Tool: tool})
		if err != nil {
			return nil, err
		}
		for i := range list {
			// What cannot be written was never done here; nothing else
			// suffers from it.
			if o, err := newObject(&list[i], kind, ""); err == nil {
				objects = append(objects, o)
			}
		}
	}
	slices.SortFunc(objects, func(a, b object) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.uid, b.uid))
	})
	return objects, nil
}

func (f *Feed) reminderKind() string {
	if f.cfg.Tasks {
		return task
	}
	return event
}

// zones describes each zone in which something repeats, once, for all of it.
// The objects are in order of time. A calendar without any component is not
// valid, and some apps refuse it, so one with nothing in it describes UTC.
func (w *writer) zones(objects []object) {
	var names []string
	first, last := map[string]object{}, map[string]object{}
	for _, o := range objects {
		if !o.zoned() {
			continue
		}
		name := o.loc.String()
		if _, seen := first[name]; !seen {
			names = append(names, name)
			first[name] = o
		}
		last[name] = o
	}
	if len(objects) == 0 {
		w.zone(time.UTC, time.Unix(0, 0), time.Unix(0, 0))
	}
	for _, name := range names {
		w.zone(first[name].loc, first[name].at, last[name].at)
	}
}
