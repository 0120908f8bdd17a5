package message

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Connector = (*SMS)(nil)

const (
	twilioURL = "https://api.twilio.com"
	// maxSMS is how many characters Twilio accepts in one message.
	maxSMS = 1600
)

// Phone numbers, senders and Twilio's ids.
var (
	e164       = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	senderID   = regexp.MustCompile(`^[0-9]{3,8}$|^[A-Za-z0-9 ]{0,10}[A-Za-z][A-Za-z0-9 ]{0,10}$`)
	accountSID = regexp.MustCompile(`^AC[0-9a-f]{32}$`)
	serviceSID = regexp.MustCompile(`^MG[0-9a-f]{32}$`)
	messageSID = regexp.MustCompile(`^(SM|MM)[0-9a-f]{32}$`)
)

// SMSConfig configures [SMS]: an account, its token, and a number or a
// messaging service to send from.
type SMSConfig struct {
	AccountSID string // AC…
	Secret     string // the account's auth token
	From       string // a number (E.164), a short code or a sender name
	ServiceSID string // MG… of a messaging service, in place of From
	BaseURL    string // https://api.twilio.com if empty
	CAFile     string // certificates to trust in addition to the system's
}

// SMS sends text messages through Twilio.
type SMS struct {
	cfg      SMSConfig
	messages string // the URL of the account's messages
	service  *service
}

// NewSMS checks the settings. It does not connect.
func NewSMS(cfg SMSConfig) (*SMS, error) {
	switch {
	case cfg.AccountSID == "":
		return nil, missingSetting("Twilio's account SID")
	case !accountSID.MatchString(cfg.AccountSID):
		return nil, hearken.Errorf(hearken.Invalid, "Twilio's account SID must be AC and 32 hexadecimal digits")
	case cfg.Secret == "":
		return nil, missingSetting("Twilio's auth token")
	case cfg.From == "" && cfg.ServiceSID == "":
		return nil, missingSetting("The sender of text messages")
	case cfg.From != "" && cfg.ServiceSID != "":
		return nil, hearken.Errorf(hearken.Invalid, "Set a sender or a messaging service for text messages, not both")
	case cfg.ServiceSID != "" && !serviceSID.MatchString(cfg.ServiceSID):
		return nil, hearken.Errorf(hearken.Invalid, "Twilio's messaging service SID must be MG and 32 hexadecimal digits")
	case cfg.From != "" && !e164.MatchString(cfg.From) && (!senderID.MatchString(cfg.From) || len(cfg.From) > 11):
		return nil, hearken.Errorf(hearken.Invalid, "The sender of text messages is neither a phone number nor a sender name").WithTry("+15005550006")
	}
	base, err := checkURL("Twilio's address", cmp.Or(cfg.BaseURL, twilioURL))
	if err != nil {
		return nil, err
	}
	service, err := newService("Twilio", base, cfg.CAFile)
	if err != nil {
		return nil, settingFileError("Twilio's certificates", err)
	}
	return &SMS{cfg: cfg, messages: base.JoinPath("2010-04-01/Accounts", cfg.AccountSID, "Messages.json").String(), service: service}, nil
}

// Name is sms.
func (s *SMS) Name() string { return PlatformSMS }

// Repeatable is false: Twilio cannot recognise a repeated request.
func (s *SMS) Repeatable() bool { return false }

// Accepts says why a message could not be sent, before anybody approves it.
func (s *SMS) Accepts(m *hearken.Message) error {
	if !e164.MatchString(m.Address) {
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is not a phone number with + and the country code")
	}
	return checkText(m.Text, sizeUTF16(m.Text), maxSMS, "characters")
}

// Do hands the message to Twilio, which queues it. Success does not mean that
// it reached the phone.
func (s *SMS) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	m, failed := messageOf(ctx, s, a)
	if failed != nil {
		return *failed
	}
	form := url.Values{"To": {m.Address}, "Body": {m.Text}}
	if s.cfg.ServiceSID != "" {
		form.Set("MessagingServiceSid", s.cfg.ServiceSID)
	} else {
		form.Set("From", s.cfg.From)
	}
	req, err := http.NewRequest(http.MethodPost, s.messages, strings.NewReader(form.Encode()))
	if err != nil {
		return *permanent("The request to Twilio cannot be written")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply, failed := s.request(ctx, req)
	if failed != nil {
		return *failed
	}
	if code := numberIn(reply.ErrorCode); code != 0 && (reply.Status == "failed" || reply.Status == "undelivered") {
		return *twilioRefusal(code)
	}
	return success(reply.SID)
}

// A twilioReply describes a message, or an error in Twilio's older or newer
// form. Numbers may be strings.
type twilioReply struct {
	SID       string          `json:"sid"`
	Status    string          `json:"-"`
	ErrorCode json.RawMessage `json:"error_code"`
	Code      json.RawMessage `json:"code"`
	RawStatus json.RawMessage `json:"status"` // a word for a message, a number for an error
}

// request sends a request and reads the reply.
func (s *SMS) request(ctx context.Context, req *http.Request) (*twilioReply, *hearken.Outcome) {
	req.SetBasicAuth(s.cfg.AccountSID, s.cfg.Secret)
	req.Header.Set("Accept", "application/json")
	resp, failed := s.service.do(ctx, req)
	if failed != nil {
		return nil, failed
	}
	var reply twilioReply
	if err := json.Unmarshal(resp.body, &reply); err != nil {
		return nil, s.service.refusal(resp, false)
	}
	_ = json.Unmarshal(reply.RawStatus, &reply.Status) // a number stays empty
	if resp.status/100 == 2 && messageSID.MatchString(reply.SID) {
		return &reply, nil
	}
	code := numberIn(reply.Code)
	if resp.status >= 400 && resp.status < 500 && code != 0 && resp.status != http.StatusRequestTimeout {
		return nil, retryAfter(twilioRefusal(code), resp.after)
	}
	return nil, s.service.refusal(resp, code != 0)
}

// numberIn reads a number that may be in quotes; 0 if it is none.
func numberIn(raw json.RawMessage) int {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil || n < 0 || n > 999_999 {
		return 0
	}
	return n
}

// twilioPermanent explains Twilio's error codes. Its own texts are not
// repeated: they contain numbers and names, and are not to be trusted.
var twilioPermanent = map[int]string{
	20003: "Twilio refuses the account or its token",
	20005: "The Twilio account is not active",
	20404: "Twilio does not know the account",
	21211: "The recipient is not an existing phone number",
	21212: "The sender's number is not valid",
	21408: "The Twilio account may not send to the recipient's country",
	21601: "The sender's number cannot send text messages",
	21606: "The sender's number cannot send text messages to the recipient",
	21607: "The sender's number is not the Twilio account's",
	21608: "A Twilio trial account sends only to numbers that are verified there",
	21610: "The recipient has opted out of messages from this sender",
	21612: "Twilio has no route from the sender to the recipient",
	21614: "The recipient's number is not a mobile number",
	21617: "The text is too long",
	21659: "The sender's number is not the Twilio account's",
	21660: "The sender's number is not the Twilio account's",
	21701: "Twilio does not know the messaging service",
	21703: "The messaging service has no number to send from",
	30003: "The recipient's phone cannot be reached",
	30004: "The recipient does not accept messages from this sender",
	30005: "The recipient's number is not in use",
	30006: "The recipient's number is a landline, or its network cannot be reached",
	30007: "The network filtered the message as spam",
	30034: "The sender's number is not registered for messages to the United States",
}

// twilioTemporary are the codes for requests that Twilio did not carry out and
// that may be repeated later.
var twilioTemporary = map[int]string{
	14107: "Twilio got too many messages from this sender",
	20429: "Twilio got too many requests",
	21611: "The sender's queue at Twilio is full",
	63038: "The Twilio account has reached its daily limit of messages",
}

// twilioRefusal is the outcome of one of Twilio's error codes.
func twilioRefusal(code int) *hearken.Outcome {
	if text, known := twilioTemporary[code]; known {
		return temporary("%s (%d)", text, code)
	}
	if text, known := twilioPermanent[code]; known {
		return permanent("%s (%d)", text, code)
	}
	return permanent("Twilio refuses the message (%d)", code)
}
