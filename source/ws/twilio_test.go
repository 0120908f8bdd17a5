package ws

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

// The messages as Twilio documents them.
const (
	twilioConnected = `{"event":"connected","protocol":"Call","version":"1.0.0"}`
	twilioStopped   = `{"event":"stop","sequenceNumber":"5","stop":{"accountSid":"ACXXX","callSid":"CAXXX"},"streamSid":"MZXXX"}`
	twilioMark      = `{"event":"mark","sequenceNumber":"4","streamSid":"MZXXX","mark":{"name":"my label"}}`
	twilioKey       = `{"event":"dtmf","streamSid":"MZXXX","sequenceNumber":"5","dtmf":{"track":"inbound_track","digit":"1"}}`
)

func twilioStarted(tracks, parameters string) string {
	return `{"event":"start","sequenceNumber":"1","start":{"accountSid":"ACXXX","streamSid":"MZXXX","callSid":"CAXXX","tracks":[` + tracks +
		`],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},"customParameters":{` + parameters + `}},"streamSid":"MZXXX"}`
}

func twilioAudio(track string, ms int, mulaw []byte) string {
	return fmt.Sprintf(`{"event":"media","sequenceNumber":"3","media":{"track":%q,"chunk":"1","timestamp":"%d","payload":%q},"streamSid":"MZXXX"}`,
		track, ms, base64.StdEncoding.EncodeToString(mulaw))
}

// loud is 20 ms of a constant level, and faint of another.
var loud, faint = bytes.Repeat([]byte{0x90}, 160), bytes.Repeat([]byte{0xd0}, 160)

// serveCalls is serve for senders that show a ticket in a message.
func serveCalls(t *testing.T) (h *hub, handler *Handler, url string) {
	h, handler, url = serve(t, 0)
	handler.cfg.Redeem = func(_ *http.Request, ticket string) (string, error) {
		if ticket != "t1cket" {
			return "", hearken.Errorf(hearken.Unauthorized, "the ticket is not valid.")
		}
		return "twilio", nil
	}
	return h, handler, url
}

// A call of two tracks has two sides; Twilio hears nothing from the hub.
func TestTwilio(t *testing.T) {
	h, _, url := serveCalls(t)
	c := dial(t, url+known, "nobody")
	c.text(twilioConnected)
	c.text(twilioStarted(`"inbound","outbound"`, `"FirstName":"Jane","ticket":"t1cket"`))
	for i := range 50 {
		c.text(twilioAudio("inbound", 20*i+5, loud))
		c.text(twilioAudio("outbound", 20*i+5, faint))
	}
	c.text(twilioMark)
	c.text(twilioKey)
	c.text(`{"event":"something new"}`)
	c.text(twilioStopped)
	if _, b, err := c.ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("%s, %v", b, err)
	}
	<-h.detached
	if h.principal != "twilio" || !h.finished {
		t.Errorf("sender %q, finished %v", h.principal, h.finished)
	}
	if diff := cmp.Diff([]any{"mulaw", 8000, 2}, h.declared); diff != "" {
		t.Errorf("described (-want +got):\n%s", diff)
	}
	got := h.audio()
	if len(got) != 2 || len(got[0]) != 16000 || len(got[1]) != 16000 {
		t.Fatalf("%d channels of %d samples", len(got), len(got[0]))
	}
	if us, them := got[0][8000], got[1][8000]; us < 100 || us > 1000 || them < 10000 {
		t.Errorf("outbound is %d, inbound %d", us, them)
	}
}

// One track is one side, whichever it is, and a ticket may come in the address.
func TestTwilio_OneTrack(t *testing.T) {
	for _, track := range []string{"inbound", "outbound"} {
		h, _, url := serveCalls(t)
		c := dial(t, url+known, "a") // the server knows the sender already
		c.until("ready")
		c.text(twilioConnected)
		c.text(twilioStarted(`"`+track+`"`, ""))
		c.text(twilioAudio(track, 0, loud))
		c.text(twilioAudio("other", 0, loud))
		c.text(twilioStopped)
		if ce := c.closed(); ce.Code != websocket.StatusNormalClosure {
			t.Errorf("closed with %v", ce)
		}
		if got := h.audio(); len(got) != 1 || len(got[0]) != 320 {
			t.Errorf("%s: %d channels", track, len(got))
		}
	}
}

// Nothing is accepted before the ticket, and not much is read.
func TestTwilio_NoTicket(t *testing.T) {
	for name, tt := range map[string]struct {
		send []string
		code websocket.StatusCode
	}{
		"WrongTicket":   {[]string{twilioConnected, twilioStarted(`"inbound"`, `"ticket":"wrong"`)}, 4401},
		"NoTicket":      {[]string{twilioConnected, twilioStarted(`"inbound"`, "")}, 4401},
		"NumberTicket":  {[]string{twilioConnected, twilioStarted(`"inbound"`, `"ticket":5`)}, 4401},
		"OnlyMarks":     {slices.Repeat([]string{twilioMark}, maxMessagesBefore), 4401},
		"MediaFirst":    {append([]string{twilioConnected}, slices.Repeat([]string{twilioAudio("inbound", 0, loud)}, maxMessagesBefore)...), 4401},
		"OwnFrames":     {[]string{`{"type":"config","encoding":"mulaw"}`}, 4401},
		"NoJSON":        {[]string{"hello"}, 4401},
		"Huge":          {[]string{strings.Repeat(" ", maxBeforeTicket+1)}, websocket.StatusMessageTooBig},
		"SilentTooLong": {nil, 4401},
	} {
		t.Run(name, func(t *testing.T) {
			h, handler, url := serveCalls(t)
			if tt.send == nil {
				handler.ticketTimeout = 20 * time.Millisecond
			}
			c := dial(t, url+known, "nobody")
			for _, text := range tt.send {
				_ = c.ws.Write(t.Context(), websocket.MessageText, []byte(text)) // it may be closed already
			}
			if ce := c.closed(); ce.Code != tt.code {
				t.Errorf("closed with %v, want %d", ce, tt.code)
			}
			if h.sender() != nil || h.audio() != nil && len(h.audio()) > 0 {
				t.Error("it was let in")
			}
		})
	}
	t.Run("Binary", func(t *testing.T) {
		h, _, url := serveCalls(t)
		c := dial(t, url+known, "nobody")
		c.sendAudio(make([]byte, 3200))
		if ce := c.closed(); ce.Code != 4401 || h.sender() != nil {
			t.Errorf("closed with %v", ce)
		}
	})
}

// A sender that has not shown its ticket does not delay the end of the hub.
func TestTwilio_Close(t *testing.T) {
	_, handler, url := serveCalls(t)
	handler.ticketTimeout = time.Hour
	c := dial(t, url+known, "nobody")
	c.text(twilioConnected)
	done := make(chan error, 1)
	go func() { done <- handler.Close(t.Context()) }()
	if ce := c.closed(); ce.Code != websocket.StatusGoingAway {
		t.Errorf("closed with %v", ce)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTwilio_Invalid(t *testing.T) {
	for name, send := range map[string][]string{
		"MediaFirst": {twilioConnected, twilioAudio("inbound", 0, loud)},
		"Twice":      {twilioStarted(`"inbound"`, ""), twilioStarted(`"inbound"`, "")},
		"Encoding":   {strings.Replace(twilioStarted(`"inbound"`, ""), "audio/x-mulaw", "audio/opus", 1)},
		"Rate":       {strings.Replace(twilioStarted(`"inbound"`, ""), "8000", "4", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, url := serveCalls(t)
			c := dial(t, url+known, "a")
			for _, text := range send {
				c.text(text)
			}
			if ce := c.closed(); ce.Code != 4400 || ce.Reason == "" {
				t.Errorf("closed with %v, want 4400", ce)
			}
		})
	}
}

// The tracks stay together whatever one of them does.
func TestCall(t *testing.T) {
	type message struct {
		track string
		ms    int
	}
	both := func(from, to int) (list []message) {
		for ms := from; ms < to; ms += 20 {
			list = append(list, message{"inbound", ms}, message{"outbound", ms})
		}
		return list
	}
	one := func(track string, from, to int) (list []message) {
		for ms := from; ms < to; ms += 20 {
			list = append(list, message{track, ms})
		}
		return list
	}
	for name, tt := range map[string]struct {
		messages []message
		ms       int     // of the result
		quiet    [2]bool // at 1.5 s: outbound, inbound
	}{
		"Steady":       {both(0, 3000), 3000, [2]bool{false, false}},
		"OneMissing":   {one("inbound", 0, 3000), 3000, [2]bool{true, false}},
		"OneBegins":    {slices.Concat(one("inbound", 0, 2000), both(2000, 3000)), 3000, [2]bool{true, false}},
		"Gap":          {slices.Concat(both(0, 1000), both(2000, 3000)), 3000, [2]bool{true, true}},
		"GapInOne":     {slices.Concat(both(0, 1000), one("outbound", 1000, 2000), both(2000, 3000)), 3000, [2]bool{false, true}},
		"LateIsLost":   {slices.Concat(both(0, 1000), one("outbound", 1000, 3000), one("inbound", 1000, 1800)), 3000, [2]bool{false, true}},
		"Jitter":       {slices.Concat(both(60, 3000)), 2940, [2]bool{false, false}},
		"NonsenseTime": {slices.Concat(both(0, 2000), []message{{"inbound", -5}, {"inbound", 1 << 50}}), 2040, [2]bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			h, _, url := serveCalls(t)
			c := dial(t, url+known, "a")
			c.text(twilioStarted(`"inbound","outbound"`, ""))
			for _, m := range tt.messages {
				c.text(twilioAudio(m.track, m.ms, loud))
			}
			c.text(twilioStopped)
			c.closed()
			got := h.audio()
			if len(got) != 2 || len(got[0]) != tt.ms*16 || len(got[1]) != tt.ms*16 {
				t.Fatalf("%d channels of %d ms, want %d", len(got), len(got[0])/16, tt.ms)
			}
			for i, side := range got {
				if level := side[1500*16]; (level > -10 && level < 10) != tt.quiet[i] {
					t.Errorf("channel %d is %d at 1.5 s", i, level)
				}
			}
		})
	}
}
