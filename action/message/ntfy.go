package message

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Connector = (*Ntfy)(nil)

// maxNtfy is how many bytes a server accepts as text; a longer one becomes a
// file.
const maxNtfy = 4096

var (
	topicForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	ntfyID    = regexp.MustCompile(`^[A-Za-z0-9]{6,32}$`)
	tokenForm = regexp.MustCompile(`^[!-~]{1,512}$`)
)

// NtfyConfig configures [Ntfy]. Server and Topic are required.
type NtfyConfig struct {
	Server string // such as https://ntfy.sh
	Topic  string // the one topic that messages go to
	Token  string // tk_…; may be empty
	CAFile string // certificates to trust in addition to the system's
}

// Ntfy publishes messages to one topic of an ntfy server.
type Ntfy struct {
	cfg     NtfyConfig
	url     string
	service *service
}

// NewNtfy checks the settings. It does not connect.
func NewNtfy(cfg NtfyConfig) (*Ntfy, error) {
	switch {
	case cfg.Server == "":
		return nil, missingSetting("The ntfy server's address")
	case cfg.Topic == "":
		return nil, missingSetting("The ntfy topic")
	case !topicForm.MatchString(cfg.Topic):
		return nil, hearken.Errorf(hearken.Invalid, "The ntfy topic must be 1 to 64 letters, digits, - and _")
	case cfg.Token != "" && !tokenForm.MatchString(cfg.Token):
		return nil, hearken.Errorf(hearken.Invalid, "The ntfy token contains characters that a token cannot have")
	}
	u, err := checkURL("The ntfy server's address", cfg.Server)
	if err != nil {
		return nil, err
	}
	if u.RawQuery != "" {
		return nil, hearken.Errorf(hearken.Invalid, "The ntfy server's address must not have a part after ?")
	}
	service, err := newService("The ntfy server", u, cfg.CAFile)
	if err != nil {
		return nil, settingFileError("The ntfy server's certificates", err)
	}
	return &Ntfy{cfg: cfg, url: u.JoinPath(cfg.Topic).String(), service: service}, nil
}

// Name is ntfy.
func (n *Ntfy) Name() string { return PlatformNtfy }

// Repeatable is false: a second attempt would notify twice.
func (n *Ntfy) Repeatable() bool { return false }

// Target is the topic.
func (n *Ntfy) Target() string { return n.cfg.Topic }

// Own is true: the topic is where the owner reads notifications.
func (n *Ntfy) Own() bool { return true }

// Accepts says why a message could not be sent, before anybody approves it.
func (n *Ntfy) Accepts(m *hearken.Message) error {
	if m.Address != n.cfg.Topic {
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is not the configured ntfy topic")
	}
	return checkText(m.Text, len(m.Text), maxNtfy, "bytes")
}

// Do publishes the message.
func (n *Ntfy) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	m, failed := messageOf(ctx, n, a)
	if failed != nil {
		return *failed
	}
	req, err := http.NewRequest(http.MethodPost, n.url, strings.NewReader(m.Text))
	if err != nil {
		return *permanent("The request to the ntfy server cannot be written")
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if n.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+n.cfg.Token)
	}
	resp, failed := n.service.do(ctx, req)
	if failed != nil {
		return *failed
	}
	var reply struct {
		ID   string `json:"id"`
		Code int    `json:"code"`
	}
	if err := json.Unmarshal(resp.body, &reply); err == nil && resp.status == http.StatusOK && ntfyID.MatchString(reply.ID) {
		return success(reply.ID)
	}
	return *n.service.refusal(resp, reply.Code != 0)
}
