package calendar

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// FeedPattern is the pattern to register a [Feed] with. The URL itself is the
// secret, so the feed needs no other key, and no log should show it.
const FeedPattern = "/calendar/"

// Actions lists stored actions.
type Actions interface {
	Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error)
}

// FeedConfig configures [Feed]. Dir and Actions are required.
type FeedConfig struct {
	Dir     string // where the secret part of the URL is stored
	Actions Actions
	Log     *slog.Logger
	Now     func() time.Time
}

// Feed serves the built-in calendar as a file to subscribe to. It shows every
// appointment and reminder that was done and not undone.
type Feed struct {
	cfg   FeedConfig
	token string

	mu       sync.Mutex
	etag     string
	modified time.Time // when this process first saw content with the tag
}

// NewFeed makes a feed. The first one in a directory chooses the URL, which
// then stays the same.
func NewFeed(cfg FeedConfig) (*Feed, error) {
	token, err := openToken(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Feed{cfg: cfg, token: token}, nil
}

// Path is the secret path. Whoever knows it can read the calendar.
func (f *Feed) Path() string { return FeedPattern + f.token + ".ics" }

// ServeHTTP serves the calendar at the feed's path, and answers 404 at any
// other.
func (f *Feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got, want := sha256.Sum256([]byte(r.URL.Path)), sha256.Sum256([]byte(f.Path()))
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "The calendar feed is read-only.", http.StatusMethodNotAllowed)
		return
	}
	body, err := f.calendar(r.Context())
	if err != nil {
		// With an empty calendar, subscribers would delete their entries.
		f.cfg.Log.Error("read calendar feed", "error", err)
		w.Header().Set("Retry-After", "60")
		http.Error(w, "The calendar cannot be read at the moment.", http.StatusServiceUnavailable)
		return
	}
	etag, modified := f.version(body)
	h := w.Header()
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("Content-Disposition", `inline; filename="hearken.ics"`)
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache") // store it, but revalidate
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", modified, bytes.NewReader(body))
}

// version is the content's ETag and when it changed. The store does not say
// when an entry was undone, so that is when this process first saw the content.
// HTTP's times have whole seconds: no two contents get the same one.
func (f *Feed) version(body []byte) (string, time.Time) {
	sum := sha256.Sum256(body)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	f.mu.Lock()
	defer f.mu.Unlock()
	if etag != f.etag {
		now := f.cfg.Now().UTC().Truncate(time.Second)
		if next := f.modified.Add(time.Second); f.etag != "" && now.Before(next) {
			now = next
		}
		f.etag, f.modified = etag, now
	}
	return f.etag, f.modified
}

// calendar writes the whole file. It depends on the actions alone, so that
// equal calendars have equal ETags.
func (f *Feed) calendar(ctx context.Context) ([]byte, error) {
	objects, err := f.objects(ctx)
	if err != nil {
		return nil, err
	}
	w := &icalWriter{}
	w.line("BEGIN", "VCALENDAR")
	w.header()
	w.line("CALSCALE", "GREGORIAN")
	w.line("METHOD", "PUBLISH")
	w.line("NAME", "Hearken")
	w.line("X-WR-CALNAME", "Hearken")
	w.line("REFRESH-INTERVAL;VALUE=DURATION", "PT15M")
	w.line("X-PUBLISHED-TTL", "PT15M")
	w.timezones(objects)
	for _, o := range objects {
		w.object(o)
	}
	w.line("END", "VCALENDAR")
	return []byte(w.b.String()), nil
}

// objects lists what the calendar shows, oldest first. Reminders are events
// with an alarm: few apps read tasks from a subscribed calendar.
func (f *Feed) objects(ctx context.Context) ([]object, error) {
	var objects []object
	for _, tool := range []string{hearken.CalendarCreate, hearken.ReminderCreate} {
		list, err := f.cfg.Actions.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionDone}, Tool: tool})
		if err != nil {
			return nil, err
		}
		for i := range list {
			// One that cannot be written must not break the others.
			if o, err := newObject(&list[i], event, ""); err == nil {
				objects = append(objects, o)
			}
		}
	}
	slices.SortFunc(objects, func(a, b object) int {
		return cmp.Or(a.start.Compare(b.start), strings.Compare(a.uid, b.uid))
	})
	return objects, nil
}

// timezones writes each zone of the recurring objects once. The objects are in
// the order of their start. A calendar without any component is not valid, and
// some apps refuse it, so an empty one gets the zone UTC.
func (w *icalWriter) timezones(objects []object) {
	var names []string
	first, last := map[string]object{}, map[string]object{}
	for _, o := range objects {
		if !o.needsTimezone() {
			continue
		}
		name := o.zone.String()
		if _, seen := first[name]; !seen {
			names = append(names, name)
			first[name] = o
		}
		last[name] = o
	}
	if len(objects) == 0 {
		w.timezone(time.UTC, time.Unix(0, 0), time.Unix(0, 0))
	}
	for _, name := range names {
		w.timezone(first[name].zone, first[name].start, last[name].start)
	}
}

// tokenName is the file in the data directory that holds the secret part of the
// feed's URL. If it is removed, the next start chooses another.
const tokenName = "calendar-address"

// openToken reads the secret, or makes one if there is none yet.
func openToken(dir string) (string, error) {
	path := filepath.Join(dir, tokenName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < 26 || strings.Trim(token, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return "", hearken.Errorf(hearken.Invalid, "The calendar's address in %s is damaged.", path).
			WithTry("remove the file, start again and subscribe to the new address")
	}
	// A backup may have restored it with wider permissions.
	if err := os.Chmod(path, 0o600); err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	return token, nil
}

func makeToken(path string) (string, error) {
	token := strings.ToLower(rand.Text())
	if err := files.Replace(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("calendar address: %w", err)
	}
	return token, nil
}
