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
	// maxSMS is what Twilio takes as the text of one message.
	maxSMS = 1600
)

// The forms of numbers and of Twilio's ids.
var (
	e164       = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	senderID   = regexp.MustCompile(`^[0-9]{3,8}$|^[A-Za-z0-9 ]{0,10}[A-Za-z][A-Za-z0-9 ]{0,10}$`)
	accountSID = regexp.MustCompile(`^AC[0-9a-f]{32}$`)
	keySID     = regexp.MustCompile(`^SK[0-9a-f]{32}$`)
	serviceSID = regexp.MustCompile(`^MG[0-9a-f]{32}$`)
	messageSID = regexp.MustCompile(`^(SM|MM)[0-9a-f]{32}$`)
)

// SMSConfig is what [SMS] is made of: an account, its token or the secret of
// one of its API keys, and a number or a messaging service to send from.
type SMSConfig struct {
	AccountSID string // AC…
	KeySID     string // SK… of an API key; empty for the account's own token
	Secret     string // the account's auth token, or the API key's secret
	From       string // a number (E.164), a short code or a sender name
	ServiceSID string // MG… of a messaging service, in place of From
	BaseURL    string // https://api.twilio.com if empty
	CAFile     string // certificates to trust besides the system's
}

// SMS sends text messages through Twilio.
type SMS struct {
	cfg      SMSConfig
	messages string // the address of the account's messages
	door     *door
}

// NewSMS checks the settings. It does not connect.
func NewSMS(cfg SMSConfig) (*SMS, error) {
	switch {
	case cfg.AccountSID == "":
		return nil, missing("Twilio's account SID")
	case !accountSID.MatchString(cfg.AccountSID):
		return nil, hearken.Errorf(hearken.Invalid, "Twilio's account SID is not AC and 32 hexadecimal digits")
	case cfg.KeySID != "" && !keySID.MatchString(cfg.KeySID):
		return nil, hearken.Errorf(hearken.Invalid, "Twilio's key SID is not SK and 32 hexadecimal digits")
	case cfg.Secret == "":
		return nil, missing("Twilio's auth token")
	case cfg.From == "" && cfg.ServiceSID == "":
		return nil, missing("The number that text messages come from")
	case cfg.From != "" && cfg.ServiceSID != "":
		return nil, hearken.Errorf(hearken.Invalid, "Text messages come from a number or from a messaging service, not from both")
	case cfg.ServiceSID != "" && !serviceSID.MatchString(cfg.ServiceSID):
		return nil, hearken.Errorf(hearken.Invalid, "Twilio's messaging service SID is not MG and 32 hexadecimal digits")
	case cfg.From != "" && !e164.MatchString(cfg.From) && (!senderID.MatchString(cfg.From) || len(cfg.From) > 11):
		return nil, hearken.Errorf(hearken.Invalid, "What text messages come from is neither a number nor a sender's name").WithTry("+15005550006")
	}
	base, err := checkURL("Twilio's address", cmp.Or(cfg.BaseURL, twilioURL))
	if err != nil {
		return nil, err
	}
	d, err := newDoor("Twilio", base, cfg.CAFile)
	if err != nil {
		return nil, loadErr("Twilio's certificates", err)
	}
	return &SMS{cfg: cfg, messages: base.JoinPath("2010-04-01/Accounts", cfg.AccountSID, "Messages").String(), door: d}, nil
}

// Name is sms.
func (s *SMS) Name() string { return PlatformSMS }

// Repeatable is false: Twilio has no way to send the same message once.
func (s *SMS) Repeatable() bool { return false }

// Accepts says why a message could not be sent, before anybody is asked.
func (s *SMS) Accepts(m *hearken.Message) error {
	if !e164.MatchString(m.Address) {
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is not a telephone number with + and the country's code")
	}
	return checkText(m.Text, maxSMS, sizeUTF16, "characters")
}

// Do hands the message to Twilio, which queues it. Whether it reaches the
// telephone is told by [SMS.Status].
func (s *SMS) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	m, bad := open(ctx, s, a)
	if bad != nil {
		return *bad
	}
	form := url.Values{"To": {m.Address}, "Body": {m.Text}}
	if s.cfg.ServiceSID != "" {
		form.Set("MessagingServiceSid", s.cfg.ServiceSID)
	} else {
		form.Set("From", s.cfg.From)
	}
	req, err := http.NewRequest(http.MethodPost, s.messages+".json", strings.NewReader(form.Encode()))
	if err != nil {
		return *permanent("The request to Twilio cannot be written")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply, bad := s.ask(ctx, req)
	if bad != nil {
		return *bad
	}
	if code := number(reply.ErrorCode); code != 0 && (reply.Status == "failed" || reply.Status == "undelivered") {
		return *twilioRefusal(code)
	}
	return ok(reply.SID)
}

// Status asks how far a sent message came, by its receipt: accepted, queued,
// sending, sent, delivered, undelivered or failed.
func (s *SMS) Status(ctx context.Context, sid string) (string, error) {
	if !messageSID.MatchString(sid) {
		return "", hearken.Errorf(hearken.Invalid, "The receipt is not one of Twilio's")
	}
	req, err := http.NewRequest(http.MethodGet, s.messages+"/"+sid+".json", nil)
	if err != nil {
		return "", hearken.Errorf(hearken.Invalid, "The request to Twilio cannot be written")
	}
	reply, bad := s.ask(ctx, req)
	switch {
	case bad != nil && bad.Result == hearken.ResultPermanent:
		return "", hearken.Errorf(hearken.ProviderRejected, "%s", bad.Message)
	case bad != nil:
		return "", hearken.Errorf(hearken.ProviderTemporary, "%s", bad.Message)
	case reply.SID != sid || !statuses[reply.Status]:
		return "", hearken.Errorf(hearken.ProviderTemporary, "Twilio answered in a way that it does not")
	}
	return reply.Status, nil
}

// statuses are the words of Twilio that are passed on.
var statuses = map[string]bool{
	"accepted": true, "scheduled": true, "queued": true, "sending": true, "sent": true, "delivered": true,
	"undelivered": true, "failed": true, "canceled": true, "read": true,
}

// A twilioReply is a message of Twilio's, or an error in its older or newer
// shape. Numbers come as numbers or as strings.
type twilioReply struct {
	SID       string          `json:"sid"`
	Status    string          `json:"-"`
	ErrorCode json.RawMessage `json:"error_code"`
	Code      json.RawMessage `json:"code"`
	RawStatus json.RawMessage `json:"status"` // a word for a message, a number for an error
}

// ask sends a request and reads the answer.
func (s *SMS) ask(ctx context.Context, req *http.Request) (*twilioReply, *hearken.Outcome) {
	req.SetBasicAuth(cmp.Or(s.cfg.KeySID, s.cfg.AccountSID), s.cfg.Secret)
	req.Header.Set("Accept", "application/json")
	a, bad := s.door.do(ctx, req)
	if bad != nil {
		return nil, bad
	}
	var reply twilioReply
	if err := json.Unmarshal(a.body, &reply); err != nil {
		return nil, s.door.refusal(a, false)
	}
	_ = json.Unmarshal(reply.RawStatus, &reply.Status) // a number stays empty
	if a.status/100 == 2 && messageSID.MatchString(reply.SID) {
		return &reply, nil
	}
	code := number(reply.Code)
	if a.status >= 400 && a.status < 500 && code != 0 && a.status != http.StatusRequestTimeout {
		return nil, after(twilioRefusal(code), a.after)
	}
	return nil, s.door.refusal(a, code != 0)
}

// number reads a number that may stand in quotes; 0 if it is none.
func number(raw json.RawMessage) int {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil || n < 0 || n > 999_999 {
		return 0
	}
	return n
}
