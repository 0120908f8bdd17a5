package ws

import (
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// Close codes of our own; their last three digits are HTTP's.
const (
	closeInvalid      websocket.StatusCode = 4400
	closeUnauthorized websocket.StatusCode = 4401
	closeForbidden    websocket.StatusCode = 4403
	closeNotFound     websocket.StatusCode = 4404
	closeReplaced     websocket.StatusCode = 4409
	closeStopped      websocket.StatusCode = 4410
)

// A frame is a text message to the sender. The package comment lists them.
type frame map[string]any

// An errorFrame is the frame for an error.
type errorFrame struct {
	Type    string       `json:"type"`
	Code    hearken.Code `json:"code"`
	Message string       `json:"message"`
}

// errorOf is the frame for an error. Senders do not learn what went wrong
// inside the hub.
func errorOf(err error) errorFrame {
	code := hearken.CodeOf(err)
	if code == "" {
		return errorFrame{"error", "internal", "the hub failed; its log says why."}
	}
	return errorFrame{"error", code, err.Error()}
}

// eventFrame is the frame for an event, or nil if it has none.
func eventFrame(ev hearken.InputEvent) any {
	kind := string(ev.Kind)
	switch ev.Kind {
	case hearken.InputPartial, hearken.InputFinal:
		s := *ev.Segment
		if s.Words == nil {
			s.Words = []hearken.Word{} // clients get a list, even if it is empty
		}
		return frame{"type": kind, "segment": &s}
	case hearken.InputSpeechStarted:
		return frame{"type": kind, "time": ev.Seconds}
	case hearken.InputLag, hearken.InputDropped:
		return frame{"type": kind, "seconds": ev.Seconds}
	case hearken.InputError:
		return errorOf(ev.Err)
	}
	return nil
}

// closeCodeForError is the code with which a connection ends because of err.
func closeCodeForError(err error) websocket.StatusCode {
	switch hearken.CodeOf(err) {
	case hearken.Invalid, hearken.Undecodable:
		return closeInvalid
	case hearken.Unauthorized, hearken.APIKeyMissing:
		return closeUnauthorized
	case hearken.Forbidden, hearken.SessionAlreadyActive:
		return closeForbidden
	case hearken.SessionNotFound, hearken.NotFound:
		return closeNotFound
	case hearken.AudioWebSocketClosed:
		return closeReplaced
	case hearken.SessionAlreadyStopped:
		return closeStopped
	case hearken.Busy:
		return websocket.StatusTryAgainLater
	case codeTooBig:
		return websocket.StatusMessageTooBig
	}
	return websocket.StatusInternalError
}

// codeTooBig is the code of an error frame before 1009.
const codeTooBig hearken.Code = "message_too_big"

// closeCodeForReason is the code with which a connection ends because its session
// stopped.
func closeCodeForReason(reason string) websocket.StatusCode {
	switch reason {
	case hearken.StopShutdown:
		return websocket.StatusGoingAway
	case hearken.StopProviderFailed:
		return websocket.StatusInternalError
	}
	return websocket.StatusNormalClosure
}

// A control is a sender's text message: one of ours, or without a type one of
// Twilio's.
type control struct {
	Type       string `json:"type"`
	Encoding   string `json:"encoding"`
	SampleRate int    `json:"sampleRate"`
	Channels   int    `json:"channels"`
	twilioMessage
}

const frameHelp = `audio goes into binary messages; text is one of {"type":"config","encoding":"linear16","sampleRate":16000,"channels":1} before the first audio, and {"type":"finish"} after the last.`

func parseControl(b []byte) (control, error) {
	var c control
	if err := json.Unmarshal(b, &c); err != nil {
		return c, hearken.Errorf(hearken.Invalid, "this text is not a frame: %s", frameHelp)
	}
	if c.Type != "config" && c.Type != "finish" && (c.Type != "" || c.Event == "") {
		return c, hearken.Errorf(hearken.Invalid, "there is no frame of this type: %s", frameHelp)
	}
	return c, nil
}

// parseFormat reads a declaration of raw audio from a query.
func parseFormat(q url.Values) (audio.Format, error) {
	f := audio.Format{Encoding: q.Get("encoding")}
	for _, p := range []struct {
		name string
		to   *int
	}{{"sample_rate", &f.Rate}, {"channels", &f.Channels}} {
		s := q.Get(p.name)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n <= 0 {
			return f, hearken.Errorf(hearken.Invalid, "%s must be a positive number.", p.name)
		}
		*p.to = n
	}
	return f, f.Check()
}
