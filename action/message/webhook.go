package message

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Connector = (*Webhook)(nil)

const (
	secretPrefix = "whsec_"
	maxWebhook   = 20_000
)

// WebhookConfig is what [Webhook] is made of. URL and Secret are required.
type WebhookConfig struct {
	URL    string
	Secret string // whsec_ and 24 to 64 bytes in base64
	CAFile string // certificates to trust besides the system's
}

// Webhook posts messages to one address, signed by the Standard Webhooks
// scheme. The action's id is the id of the call: a receiver that keeps the
// ids it has seen gets every message once, however often it is sent.
type Webhook struct {
	url, host string
	key       []byte
	door      *door
}

// NewWebhook checks the settings. It does not connect.
func NewWebhook(cfg WebhookConfig) (*Webhook, error) {
	switch {
	case cfg.URL == "":
		return nil, missing("The webhook's URL")
	case cfg.Secret == "":
		return nil, missing("The webhook's secret")
	}
	u, err := checkURL("The webhook's URL", cfg.URL)
	if err != nil {
		return nil, err
	}
	encoded, prefixed := strings.CutPrefix(cfg.Secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !prefixed || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, hearken.Errorf(hearken.Invalid, "The webhook's secret is not whsec_ and 24 to 64 bytes in base64").
			WithTry(`echo "whsec_$(openssl rand -base64 32)"`)
	}
	d, err := newDoor("The webhook", u, cfg.CAFile)
	if err != nil {
		return nil, loadErr("The webhook's certificates", err)
	}
	return &Webhook{url: u.String(), host: u.Host, key: key, door: d}, nil
}

// Name is webhook.
func (w *Webhook) Name() string { return PlatformWebhook }

// Repeatable is true: the receiver knows a call by its id.
func (w *Webhook) Repeatable() bool { return true }

// Target is the host that is reached; the rest of the URL may be a secret.
func (w *Webhook) Target() string { return w.host }

// Accepts says why a message could not be sent, before anybody is asked.
func (w *Webhook) Accepts(m *hearken.Message) error {
	if m.Address != w.host {
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is not the configured webhook")
	}
	return checkText(m.Text, maxWebhook, sizeBytes, "bytes")
}

// A webhookCall is the body of a request.
type webhookCall struct {
	Type      string      `json:"type"`
	Timestamp time.Time   `json:"timestamp"`
	Data      webhookData `json:"data"`
}

type webhookData struct {
	ID   string `json:"id"`
	To   string `json:"to"`
	Name string `json:"name,omitempty"`
	Text string `json:"text"`
}

// Do posts the message.
func (w *Webhook) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	m, bad := open(ctx, w, a)
	if bad != nil {
		return *bad
	}
	now := w.door.now()
	body, err := json.Marshal(webhookCall{hearken.MessageSend, now.UTC(), webhookData{a.ID, m.To, m.Name, m.Text}})
	if err != nil {
		return *permanent("The message cannot be written as JSON")
	}
	req, err := http.NewRequest(http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return *permanent("The request to the webhook cannot be written")
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", a.ID)
	req.Header.Set("webhook-timestamp", stamp)
	req.Header.Set("webhook-signature", "v1,"+w.sign(a.ID, stamp, body))
	answer, bad := w.door.do(ctx, req)
	switch {
	case bad != nil:
		return *bad
	case answer.status/100 == 2:
		return ok(a.ID)
	case answer.status == http.StatusInternalServerError, answer.status == http.StatusServiceUnavailable:
		// The receiver itself says that it failed; a gateway's word is none.
		return *after(temporary("The webhook failed over the message (%d)", answer.status), answer.after)
	}
	return *w.door.refusal(answer, false)
}

func (w *Webhook) sign(id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, w.key)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
