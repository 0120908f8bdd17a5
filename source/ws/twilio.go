package ws

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

const (
	// ticketTimeout is how long a sender without a ticket may take to show one.
	ticketTimeout = 10 * time.Second
	// maxBeforeTicket is how many bytes one of its messages may have until then,
	// and maxMessagesBefore how many messages.
	maxBeforeTicket   = 16 << 10
	maxMessagesBefore = 4
)

// A twilioMessage is one of Twilio's Media Streams. Marks, keys that were
// pressed and everything else in them have no effect here.
type twilioMessage struct {
	Event string       `json:"event"`
	Start *twilioStart `json:"start"`
	Media *twilioMedia `json:"media"`
}

type twilioStart struct {
	Tracks []string `json:"tracks"`
	Format struct {
		Encoding   string `json:"encoding"`
		SampleRate int    `json:"sampleRate"`
	} `json:"mediaFormat"`
	Parameters map[string]any `json:"customParameters"`
}

type twilioMedia struct {
	Track     string      `json:"track"`
	Timestamp json.Number `json:"timestamp"` // in milliseconds from the start
	Payload   []byte      `json:"payload"`   // in base64
}

// ticket is the custom parameter of that name.
func (s *twilioStart) ticket() string {
	ticket, _ := s.Parameters["ticket"].(string)
	return ticket
}

// awaitTicket reads the first messages of a sender that nobody knows: Twilio can
// show a ticket only in its start message. Nothing else is accepted until then.
func (c *conn) awaitTicket(r *http.Request) (principal string, err error) {
	unknown := hearken.Errorf(hearken.Unauthorized, "this sender has shown no ticket.").
		WithTry("the wsEndpoint of start_transcription, or with Twilio a custom parameter named ticket")
	known := make(chan struct{})
	defer close(known)
	go c.closeUnless(known, c.h.ticketTimeout)
	c.ws.SetReadLimit(maxBeforeTicket)
	defer c.ws.SetReadLimit(-1)
	for range maxMessagesBefore {
		kind, b, err := c.ws.Read(context.Background())
		if err != nil {
			return "", unknown
		}
		var m twilioMessage
		if kind != websocket.MessageText || json.Unmarshal(b, &m) != nil || m.Event == "" {
			return "", unknown
		}
		c.quiet.Store(true)
		if m.Event != "start" || m.Start == nil {
			continue
		}
		if m.Start.ticket() == "" {
			return "", unknown
		}
		c.pendingStart = m.Start
		return c.h.cfg.Redeem(r, m.Start.ticket())
	}
	return "", unknown
}

// closeUnless closes the connection of a sender that does not become known in
// time, or before the hub closes.
func (c *conn) closeUnless(known <-chan struct{}, within time.Duration) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-known:
	case <-timer.C:
		_ = c.ws.Close(closeUnauthorized, "no ticket came in time.")
	case <-c.h.conns.Closing():
		_ = c.ws.Close(websocket.StatusGoingAway, hearken.StopShutdown)
	}
}

// handleTwilio handles a message of Twilio's. From the first one on the hub
// sends nothing: Twilio takes what it does not know for an error.
func (c *conn) handleTwilio(m *twilioMessage) error {
	c.quiet.Store(true)
	switch {
	case c.finished:
		return nil
	case m.Event == "start" && m.Start != nil:
		return c.startTwilio(m.Start)
	case m.Event == "media" && m.Media != nil:
		if c.call == nil {
			return hearken.Errorf(hearken.Invalid, "a media message must come after start.")
		}
		return hubError(c.call.add(m.Media))
	case m.Event == "stop":
		return c.finish()
	}
	return nil
}

// startTwilio prepares for the audio that a start message announces.
func (c *conn) startTwilio(s *twilioStart) error {
	if c.decoder != nil || c.call != nil {
		return hearken.Errorf(hearken.Invalid, "a start message must come before any audio, and once.")
	}
	f := audio.Format{Encoding: audio.Mulaw, Rate: s.Format.SampleRate}
	switch s.Format.Encoding {
	case "", "audio/x-mulaw":
	default:
		return hearken.Errorf(hearken.Undecodable, "the media format %.40q is not audio/x-mulaw.", s.Format.Encoding)
	}
	call, err := newCall(f, s.Tracks, func(channels ...[]int16) error {
		f.Channels = len(channels)
		return c.deliverAs(f, channels...)
	})
	c.call = call
	return err
}

// readText reads a whole text message.
func readText(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err == nil && len(b) > maxText {
		err = hearken.Errorf(codeTooBig, "a text message of more than %d bytes: %s", maxText, frameHelp)
	}
	return b, err
}
