//go:build accept

package accept

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// callBare makes an appointment or the like as somebody would who has read nothing
// but the contract, while the owner approves what has these words. It returns
// the action's id.
func (o *owner) callBare(ws, key, tool, words string, args map[string]any) string {
	o.t.Helper()
	var r response
	data := dial(o.t, ws, key).call(tool, args, func() {
		if words != "" {
			o.decide("approve", words)
		}
	})
	if err := json.Unmarshal(data, &r); err != nil || r.JSONRPC != "2.0" || r.ID != "req_123" || r.Error != nil || r.Result.Status != "ok" {
		o.t.Fatalf("%s: %v in %s", tool, err, data)
	}
	return r.Result.ID
}

// appointment is the contract's example on another day, and how khal shows it
// in Berlin.
func appointment(title string) (args map[string]any, day, shown string) {
	day = nextMonth()
	return map[string]any{"title": title, "start": day + "T07:00:00", "duration_min": 30}, day,
		fmt.Sprintf("%[1]s 07:00 to %[1]s 07:30 %[2]s", day, title)
}

// TestEffects_Subscription: a phone that subscribes to the hub's own calendar
// shows what was approved, and no longer what was taken back.
func TestEffects_Subscription(t *testing.T) {
	o, ws := acting(t)
	key := o.key("agent")
	args, day, shown := appointment("朝ラン")
	id := o.callBare(ws, key, "calendar.create", "朝ラン", args)
	o.callBare(ws, key, "reminder.create", "take pills", map[string]any{"time": day + "T09:00:00", "note": "take pills", "repeat": "FREQ=DAILY;COUNT=2"})

	address, _, _ := strings.Cut(o.run("actions", "calendar"), "\n")
	if !strings.HasPrefix(address, o.h.URL+"/") {
		t.Fatalf("actions calendar: %q", address)
	}
	d := calendarDesktop{t, t.TempDir()}
	d.subscribe(address)
	pills := fmt.Sprintf("%[1]s 09:00 to %[1]s 09:05 take pills", day)
	d.shows(day, "1d", shown, pills)

	o.callBare(ws, key, "action.cancel", "", map[string]any{"id": id})
	d = calendarDesktop{t, t.TempDir()}
	d.subscribe(address)
	d.shows(day, "1d", pills)
}

// TestEffects_CalDAV: appointments and reminders go to the owner's server, where
// other programs find them.
func TestEffects_CalDAV(t *testing.T) {
	for name, start := range map[string]func(*testing.T) string{"Radicale": radicale, "Xandikos": xandikos} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			if name == "Radicale" {
				if status, body := dav(t, "MKCALENDAR", server+"/alice/calendar/", ""); status != http.StatusCreated {
					t.Fatalf("make calendar: %d %s", status, body)
				}
			}
			o, ws := acting(t, "CALDAV_URL="+server, "CALDAV_USER="+calendarUser, "CALDAV_PASSWORD="+calendarPassword)
			key := o.key("agent")
			args, day, shown := appointment("朝ラン")
			id := o.callBare(ws, key, "calendar.create", "朝ラン", args)
			o.callBare(ws, key, "reminder.create", "take pills", map[string]any{"time": day + "T09:00:00", "note": "take pills"})

			d := calendarDesktop{t, t.TempDir()}
			d.sync(fmt.Sprintf("type = \"caldav\"\nurl = \"%s/\"\nusername = %q\npassword = %q", server, calendarUser, calendarPassword), `["from b"]`)
			d.shows(day, "1d", shown)
			if out := d.run("todoman", "list"); strings.Count(out, "take pills") != 1 || !strings.Contains(out, day+" 09:0") {
				t.Errorf("todoman shows\n%s", out)
			}

			o.run("actions", "undo", id)
			d.run("vdirsyncer", "sync", "--force-delete")
			d.shows(day, "1d")
		})
	}
}

// TestEffects_Mail: a message to somebody in the contact book, and a reminder to
// the owner, come as mail. The owner's mail goes to Bob here, whose mailbox
// is the only one.
func TestEffects_Mail(t *testing.T) {
	post := startMail(t)
	o, ws := acting(t, append(post.mailing(), "REMIND_BY=email", "OWNER_EMAIL=bob@hub.test")...)
	o.importContact()
	key := o.key("agent")
	text := "Žluťoučký kůň přijde v pátek.\n.\nVěř mi."
	id := o.callBare(ws, key, "message.send", text, map[string]any{"to": "Bob Ross", "text": text, "platform": "email"})
	got := post.read(t, "bob", 1)
	if body := emailText(t, got); body != text {
		t.Errorf("Bob got %q", body)
	}
	if to := got.Header.Get("To"); !strings.Contains(to, "<bob@hub.test>") || !strings.Contains(got.Header.Get("Message-Id"), id) {
		t.Errorf("to %q, id %q, want %s", to, got.Header.Get("Message-Id"), id)
	}
	o.callBare(ws, key, "reminder.create", "call Žaneta", soon("call Žaneta"))
	o.h.Kill() // the reminder must still come, once
	o.h.Run()
	if body := emailText(t, post.read(t, "bob", 2)); !strings.Contains(body, "eminder: call Žaneta") {
		t.Errorf("the reminder says %q", body)
	}
	if n := post.emails(t, "bob"); n != 2 {
		t.Errorf("%d letters came", n)
	}
}

// soon is a reminder that is due within moments, but not before its owner can
// approve it.
func soon(note string) map[string]any {
	return map[string]any{"time": time.Now().Add(10 * time.Second).Format(time.RFC3339), "note": note}
}

// TestEffects_Screen: the hub asks on the screen of its owner's desktop, and
// reminds there.
func TestEffects_Screen(t *testing.T) {
	screen := startDesktop(t)
	o, ws := acting(t, "DBUS_SESSION_BUS_ADDRESS="+screen.bus)
	const note = `<b>call</b> Žaneta & Bob`
	id := o.callBare(ws, o.key("agent"), "reminder.create", note, soon(note))
	asked := screen.shows(t, "An agent asks you")
	if !strings.Contains(asked, "hearken approve "+id) {
		t.Errorf("the owner is asked %q", asked)
	}
	if text := screen.shows(t, "Reminder"); text != `&lt;b&gt;call&lt;/b&gt; Žaneta &amp; Bob` {
		t.Errorf("the owner is reminded of %q", text)
	}
}

// subscribe is sync for a calendar by its address, which is not in a directory
// of its own.
func (d calendarDesktop) subscribe(address string) {
	d.t.Helper()
	d.sync(fmt.Sprintf("type = \"http\"\nurl = %q", address), "null")
	if err := os.MkdirAll(filepath.Join(d.dir, "all"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	for _, move := range [][2]string{{"vdir", "all/feed"}, {"all", "vdir"}} {
		if err := os.Rename(filepath.Join(d.dir, move[0]), filepath.Join(d.dir, move[1])); err != nil {
			d.t.Fatal(err)
		}
	}
}

// TestEffects_Words: the owner is shown which words are behind an action, and in
// the end `why` explains how the words led to it.
func TestEffects_Words(t *testing.T) {
	root := engine(t)
	pcm, err := os.ReadFile(recording(t, spoken))
	if err != nil {
		t.Fatal(err)
	}
	o, ws := acting(t, "TRANSCRIPTION_PROVIDER=local", "HEARKEN_MODELS="+root)
	var begun struct{ SessionID, WSEndpoint string }
	if err := o.h.Call(t.Context(), "start_transcription", map[string]any{"language": "en"}, &begun); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() { sent <- send(t.Context(), begun.WSEndpoint, pcm) }()
	follow := map[string]any{"sessionId": begun.SessionID, "waitSeconds": 20}
	for transcript, pages := "", 0; pages < 20 && !strings.Contains(plain(transcript), "for your country"); pages++ {
		var page struct {
			Cursor   string
			Segments []struct{ Text string }
		}
		if err := o.h.Call(t.Context(), "get_transcription", follow, &page); err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Segments {
			transcript += " " + s.Text
		}
		follow["cursor"] = page.Cursor
	}
	if err := o.h.Call(t.Context(), "stop_transcription", map[string]any{"sessionId": begun.SessionID}, nil); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	const title = "What you can do for your country"
	id := o.callBare(ws, o.key("agent"), "calendar.create", title, map[string]any{"title": title, "start": nextMonth() + "T10:00:00", "duration_min": 30})
	why := o.run("why", id)
	for _, words := range []string{"do for your country", "allowed by owner (file)", "done"} {
		if !strings.Contains(strings.ToLower(strings.ReplaceAll(why, title, "")), words) {
			t.Errorf("why does not say %q but\n%s", words, why)
		}
	}
}
