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

// WebhookConfig configures [Webhook]. URL and Secret are required.
type WebhookConfig struct {
	URL    string
	Secret string // whsec_ and 24 to 64 bytes in base64
	CAFile string // certificates to trust in addition to the system's
}

// Webhook posts messages to one URL, signed as Standard Webhooks says. Each
// request has the action's id, so that the receiver can drop repeated ones.
type Webhook struct {
	url, host string
	key       []byte
	service   *service
}

// NewWebhook checks the settings. It does not connect.
func NewWebhook(cfg WebhookConfig) (*Webhook, error) {
	switch {
	case cfg.URL == "":
		return nil, missingSetting("The webhook's URL")
	case cfg.Secret == "":
		return nil, missingSetting("The webhook's secret")
	}
	u, err := checkURL("The webhook's URL", cfg.URL)
	if err != nil {
		return nil, err
	}
	encoded, prefixed := strings.CutPrefix(cfg.Secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !prefixed || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, hearken.Errorf(hearken.Invalid, "The webhook's secret must be whsec_ and 24 to 64 bytes in base64").
			WithTry(`echo "whsec_$(openssl rand -base64 32)"`)
	}
	service, err := newService("The webhook", u, cfg.CAFile)
	if err != nil {
		return nil, settingFileError("The webhook's certificates", err)
	}
	return &Webhook{url: u.String(), host: u.Host, key: key, service: service}, nil
}

// Name is webhook.
func (w *Webhook) Name() string { return PlatformWebhook }

// Repeatable is true: the receiver knows a repeated request by its id.
func (w *Webhook) Repeatable() bool { return true }

// Target is the host; the rest of the URL may be secret.
func (w *Webhook) Target() string { return w.host }

// Own is false: a webhook may lead to a room with other people in it.
func (w *Webhook) Own() bool { return false }

// Accepts says why a message could not be sent, before anybody approves it.
func (w *Webhook) Accepts(m *hearken.Message) error {
	if m.Address != w.host {
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is not the configured webhook")
	}
	return checkText(m.Text, len(m.Text), maxWebhook, "bytes")
}

// webhookBody is the body of a request.
type webhookBody struct {
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
	m, failed := messageOf(ctx, w, a)
	if failed != nil {
		return *failed
	}
	now := w.service.now()
	body, err := json.Marshal(webhookBody{hearken.MessageSend, now.UTC(), webhookData{a.ID, m.To, m.Name, m.Text}})
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
	resp, failed := w.service.do(ctx, req)
	switch {
	case failed != nil:
		return *failed
	case resp.status/100 == 2:
		return success(a.ID)
	case resp.status == http.StatusInternalServerError, resp.status == http.StatusServiceUnavailable:
		// The receiver itself says that it failed; 502 and 504 come from gateways.
		return *retryAfter(temporary("The webhook failed to process the message (%d)", resp.status), resp.after)
	}
	return *w.service.refusal(resp, false)
}

func (w *Webhook) sign(id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, w.key)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
