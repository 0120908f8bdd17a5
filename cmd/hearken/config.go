package main

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
)

// Config is every setting of the program, and its only description: flags,
// environment, file, defaults, limits and help come from the tags. A field's
// flag is its name in kebab case, its key in the file the same with
// underscores, and its environment variable the tag var. Of these the flag
// wins, then the environment, then the file, then the tag default.
//
// More tags: of lists the allowed values; min and max bound numbers; secret
// keeps a value out of logs and lets NAME_FILE name a file that holds it.
type Config struct {
	Transport string   `var:"TRANSPORT" default:"http" of:"http,stdio" group:"doors" help:"What to do without a command: serve over HTTP, or be an MCP server on standard input and output."`
	Host      string   `var:"HOST" default:"127.0.0.1" group:"doors" help:"Address to listen on. Any other than a loopback address asks every caller for a key, and uses TLS."`
	Port      int      `var:"PORT" default:"8080" min:"0" max:"65535" group:"doors" help:"Port for HTTP. If it is taken, a free one is used; 0 always takes a free one."`
	WSListen  string   `var:"WS_LISTEN" default:"127.0.0.1:7777" group:"doors" help:"Address of the second door, MCP over WebSocket; off for none. If its port is taken, a free one is used."`
	PublicURL string   `var:"PUBLIC_URL" group:"doors" help:"Address by which clients reach the hub through a proxy, such as https://hearken.example.org. It is what wsEndpoint names."`
	Auth      string   `var:"AUTH" default:"auto" of:"auto,required" group:"doors" help:"auto lets callers from this computer in without a key, required nobody."`
	TLS       string   `var:"TLS" default:"auto" of:"auto,off" group:"doors" help:"auto uses TLS on addresses other than loopback, and wherever a certificate is given; off never does, for use behind a proxy."`
	TLSCert   string   `var:"TLS_CERT" group:"doors" help:"File with the certificate chain; without it a self-signed one is made in the data directory."`
	TLSKey    string   `var:"TLS_KEY" group:"doors" help:"File with the certificate's key."`
	Origins   []string `var:"ORIGINS" group:"doors" help:"Origins of other sites whose pages may use the hub, such as https://app.example.org; several with commas."`
	Toolsets  []string `var:"TOOLSETS" default:"all" of:"all,transcription,scribe,actions,read" group:"doors" help:"Which tools are offered; several with commas."`

	TranscriptionProvider []string `var:"TRANSCRIPTION_PROVIDER" of:"local,deepgram,openai,null" group:"hearing" help:"Engine of sessions that name none; several with commas are used in turn when one fails. Default: deepgram,local where Deepgram has a key, else local, the engine that needs none."`
	ProviderReturnSeconds int      `var:"PROVIDER_RETURN_SECONDS" default:"60" min:"0" max:"86400" group:"hearing" help:"When a session that had to go on with another engine first asks whether the wanted one is well again; 0 stays with the other."`
	DeepgramAPIKey        string   `var:"DEEPGRAM_API_KEY" secret:"" group:"hearing" help:"Key for Deepgram."`
	DeepgramBaseURL       string   `var:"DEEPGRAM_BASE_URL" group:"hearing" help:"Address of Deepgram, or of a server that speaks its API. Default: Deepgram's own."`
	DeepgramModel         string   `var:"DEEPGRAM_MODEL" group:"hearing" help:"Deepgram's model. Default: nova-3."`
	OpenaiAPIKey          string   `var:"OPENAI_API_KEY" secret:"" group:"hearing" help:"Key for OpenAI, or for the server at OPENAI_BASE_URL."`
	OpenaiBaseURL         string   `var:"OPENAI_BASE_URL" group:"hearing" help:"Address of a server with OpenAI's transcription API, such as Groq, speaches, whisper.cpp or vLLM. Default: OpenAI's own."`
	OpenaiModel           string   `var:"OPENAI_MODEL" group:"hearing" help:"That server's model. Default: whisper-1."`
	UploadMaxMB           int      `var:"UPLOAD_MAX_MB" default:"25" min:"1" max:"100000" group:"hearing" help:"Largest file that /v1/audio/transcriptions takes, in megabytes."`
	DefaultLanguage       string   `var:"DEFAULT_LANGUAGE" group:"hearing" help:"Language of sessions that name none. Default: pt-BR with deepgram, else en."`
	Vocabulary            string   `var:"VOCABULARY" group:"hearing" help:"File with names and terms to be spelt right, one a line."`
	MaxBufferChunks       int      `var:"MAX_BUFFER_CHUNKS" default:"100" min:"1" max:"100000" group:"hearing" help:"Chunks of sound held in memory for a session before they go to the spool."`
	Spool                 string   `var:"SPOOL" default:"disk" of:"disk,memory" group:"hearing" help:"Where sound waits until its words are final; memory for no sound on disk at all."`
	SpoolSeconds          int      `var:"SPOOL_SECONDS" default:"600" min:"10" max:"86400" group:"hearing" help:"Seconds of sound that a session may have waiting; what is beyond is dropped and shown as a gap."`
	ReconnectMaxRetries   int      `var:"RECONNECT_MAX_RETRIES" default:"3" min:"1" max:"100" group:"hearing" help:"Attempts to reach an engine again that was lost."`
	MaxSessions           int      `var:"MAX_SESSIONS" default:"1000" min:"1" max:"100000" group:"hearing" help:"Active sessions at a time; further ones are refused."`
	LocalModel            string   `var:"LOCAL_MODEL" default:"auto" of:"auto,tiny,base" group:"hearing" help:"Model of the offline engine for confirmed text; auto measures which one this computer can carry."`
	Models                string   `var:"HEARKEN_MODELS" group:"hearing" help:"Directory of the offline engine's models. Default: the cache directory."`
	CacheDir              string   `var:"HEARKEN_CACHE_DIR" group:"hearing" help:"Directory for what can be fetched again. Default: hearken in the user's cache directory."`

	ScribeBackend string `var:"SCRIBE_BACKEND" default:"auto" of:"auto,native,pscribe" group:"hearing" help:"Who hears this computer's microphone and system audio: Hearken itself (native), or ParrotScribe by its CLI (pscribe); auto takes the CLI where there is one."`
	PscribePath   string `var:"PSCRIBE_PATH" default:"pscribe" group:"hearing" help:"ParrotScribe's CLI: a path, or a name to be found in PATH."`
	ScribeKeep    bool   `var:"SCRIBE_KEEP" default:"false" group:"hearing" help:"Keep a copy of what ParrotScribe hears, as a session like others; without it nothing of that is stored."`
	Microphone    string `var:"MICROPHONE" group:"hearing" help:"Name of the microphone that the scribe captures; off for none. Default: the system's."`
	SystemAudio   string `var:"SYSTEM_AUDIO" group:"hearing" help:"Name of the output whose sound the scribe captures as the far side; off for none. Default: the system's."`

	Timezone          string   `var:"TIMEZONE" group:"acting" help:"Zone in which times without one are meant, such as Europe/Berlin. Default: this computer's."`
	CaldavURL         string   `var:"CALDAV_URL" group:"acting" help:"Address of a CalDAV server, or of one calendar on it, where appointments go. Default: the hub's own calendar."`
	CaldavUser        string   `var:"CALDAV_USER" group:"acting" help:"User there."`
	CaldavPassword    string   `var:"CALDAV_PASSWORD" secret:"" group:"acting" help:"Password there."`
	CaldavCalendar    string   `var:"CALDAV_CALENDAR" group:"acting" help:"Name or path of the calendar there. Default: the first one."`
	CaldavReminders   string   `var:"CALDAV_REMINDERS" default:"vtodo" of:"vtodo,vevent,both,off" group:"acting" help:"What a reminder becomes there: a task, an appointment, both, or nothing."`
	SMTPHost          string   `var:"SMTP_HOST" group:"acting" help:"Mail server by which email is sent."`
	SMTPPort          int      `var:"SMTP_PORT" default:"587" min:"1" max:"65535" group:"acting" help:"Its port: 465 for TLS from the start, others for STARTTLS."`
	SMTPUser          string   `var:"SMTP_USER" group:"acting" help:"User there."`
	SMTPPassword      string   `var:"SMTP_PASSWORD" secret:"" group:"acting" help:"Password there."`
	SMTPFrom          string   `var:"SMTP_FROM" group:"acting" help:"Address that email comes from, such as Ada <ada@example.org>."`
	TwilioAccountSID  string   `var:"TWILIO_ACCOUNT_SID" group:"acting" help:"Account at Twilio by which text messages are sent."`
	TwilioAuthToken   string   `var:"TWILIO_AUTH_TOKEN" secret:"" group:"acting" help:"Its token."`
	TwilioFrom        string   `var:"TWILIO_FROM" group:"acting" help:"Number that text messages come from, or a messaging service (MG...)."`
	TwilioBaseURL     string   `var:"TWILIO_BASE_URL" group:"acting" help:"Address of Twilio, or of a server that speaks its API. Default: Twilio's own."`
	NtfyURL           string   `var:"NTFY_URL" group:"acting" help:"Address of an ntfy server, with the owner's topic: https://ntfy.example.org/topic."`
	NtfyToken         string   `var:"NTFY_TOKEN" secret:"" group:"acting" help:"Access token there."`
	WebhookURL        string   `var:"WEBHOOK_URL" group:"acting" help:"Address that gets messages as signed webhooks."`
	WebhookSecret     string   `var:"WEBHOOK_SECRET" secret:"" group:"acting" help:"Secret of their signature, as whsec_ and base64."`
	ActionsCAFile     string   `var:"ACTIONS_CA_FILE" group:"acting" help:"File with further certificate authorities for the servers above."`
	CountryCode       string   `var:"COUNTRY_CODE" group:"acting" help:"Calling code of numbers written without one, such as 49."`
	RemindBy          []string `var:"REMIND_BY" default:"desktop" of:"desktop,email,ntfy,webhook" group:"acting" help:"How the owner is told of a reminder; several with commas."`
	OwnerEmail        string   `var:"OWNER_EMAIL" group:"acting" help:"Where reminders by email go. Default: SMTP_FROM."`
	ApprovalMinutes   float64  `var:"APPROVAL_MINUTES" default:"10" min:"0.01" max:"10080" group:"acting" help:"How long an action waits for its owner before it is denied."`
	GrantDelaySeconds float64  `var:"GRANT_DELAY_SECONDS" default:"5" min:"0" max:"600" group:"acting" help:"How long a message that a grant covers can still be cancelled."`
	FarRecipients     string   `var:"FAR_RECIPIENTS" default:"deny" of:"deny,ask" group:"acting" help:"What happens to a message whose new recipient only the far side of a call named."`
	ActionDays        int      `var:"ACTION_DAYS" default:"90" min:"0" max:"36500" group:"acting" help:"Remove the texts of ended actions after so many days; 0 keeps them. The audit never holds them."`
	RateLimit         int      `var:"RATE_LIMIT" default:"100" min:"1" max:"1000000" group:"acting" help:"Requests that a key may make in any 60 seconds."`
	OwnerPINFile      string   `var:"OWNER_PIN_FILE" group:"acting" help:"File that holds the owner's PIN, for scripts. Whoever can read it can approve."`
	KeyDir            string   `var:"HEARKEN_KEY_DIR" group:"acting" help:"Directory of the audit's signing key and of what verifies the PIN. Default: hearken/keys in the user's configuration directory; keys in the data directory where that is another than usual."`

	DataDir                 string `var:"HEARKEN_DATA_DIR" group:"keeping" help:"Directory of all state. Default: hearken in the user's data directory."`
	StorageBackend          string `var:"STORAGE_BACKEND" default:"sqlite" of:"sqlite,postgres,json" group:"keeping" help:"Where sessions are kept."`
	DatabaseURL             string `var:"DATABASE_URL" secret:"" group:"keeping" help:"File (sqlite), directory (json) or connection string (postgres). A relative path lies in the data directory. Default: hearken.db, or hearken.json.d."`
	PersistIntervalSeconds  int    `var:"PERSIST_INTERVAL_SECONDS" default:"30" min:"1" max:"3600" group:"keeping" help:"Write to the store at least this often."`
	PersistIntervalSegments int    `var:"PERSIST_INTERVAL_SEGMENTS" default:"10" min:"1" max:"10000" group:"keeping" help:"Write to the store after so many segments."`
	KeepAudio               bool   `var:"KEEP_AUDIO" default:"false" group:"keeping" help:"Keep the sound of sessions, so that they can be transcribed again."`
	RetentionDays           int    `var:"RETENTION_DAYS" default:"0" min:"0" max:"36500" group:"keeping" help:"Delete stopped sessions after so many days; 0 keeps them."`

	LogLevel    string  `var:"LOG_LEVEL" default:"info" of:"debug,info,warn,error" group:"running" help:"What is logged to standard error."`
	LogFormat   string  `var:"LOG_FORMAT" default:"text" of:"text,json" group:"running" help:"How it is logged."`
	IdleMinutes float64 `var:"IDLE_MINUTES" default:"10" min:"0.01" max:"10000" group:"running" help:"When a hub that --stdio started ends by itself, with no client and no active session."`
	Spawn       bool    `var:"HEARKEN_SPAWN" default:"true" negatable:"" group:"running" help:"Whether --stdio may start a hub that outlives it; false serves within its own process."`

	sources map[string]string // setting name -> where its value came from
}

// resolve fills in the defaults that depend on other settings.
func (c *Config) resolve() error {
	if c.DataDir == "" {
		dir, err := userDataDir()
		if err != nil {
			return hearken.Errorf(hearken.Invalid, "There is no data directory: %w.", err).WithTry("set HEARKEN_DATA_DIR to a directory")
		}
		c.DataDir = dir
	}
	if c.KeyDir == "" {
		c.KeyDir = filepath.Join(c.DataDir, "keys")
		// By the directory itself and not by who named it: a hub that --stdio
		// starts gets its name from there.
		if usual, err := userDataDir(); err == nil && filepath.Clean(c.DataDir) == usual {
			if dir, err := os.UserConfigDir(); err == nil {
				c.KeyDir = filepath.Join(dir, "hearken", "keys")
			}
		}
	}
	for _, path := range []*string{&c.DataDir, &c.Models, &c.CacheDir, &c.Vocabulary, &c.TLSCert, &c.TLSKey, &c.ActionsCAFile, &c.OwnerPINFile, &c.KeyDir} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	if c.StorageBackend != "postgres" {
		if c.DatabaseURL == "" {
			c.DatabaseURL = map[string]string{"sqlite": "hearken.db", "json": "hearken.json.d"}[c.StorageBackend]
		}
		c.DatabaseURL = strings.TrimPrefix(c.DatabaseURL, "file:")
		if !filepath.IsAbs(c.DatabaseURL) {
			c.DatabaseURL = filepath.Join(c.DataDir, c.DatabaseURL)
		}
	}
	if len(c.TranscriptionProvider) == 0 {
		c.TranscriptionProvider = []string{"local"}
		if c.DeepgramAPIKey != "" {
			c.TranscriptionProvider = []string{"deepgram", "local"}
		}
	}
	return c.checkTogether()
}

// checkTogether finds values that are each allowed and do not fit together.
func (c *Config) checkTogether() error {
	for i, name := range c.TranscriptionProvider {
		if slices.Contains(c.TranscriptionProvider[:i], name) {
			return badValue("TRANSCRIPTION_PROVIDER", strings.Join(c.TranscriptionProvider, ","), "each engine once")
		}
	}
	if c.StorageBackend == "postgres" && c.DatabaseURL == "" {
		return badValue("DATABASE_URL", "", "a connection string such as postgres://user@host/hearken, since STORAGE_BACKEND is postgres")
	}
	if c.TLSCert != "" && c.TLSKey == "" {
		return badValue("TLS_KEY", "", "the file with the key of TLS_CERT")
	}
	if c.TLSCert == "" && c.TLSKey != "" {
		return badValue("TLS_CERT", "", "the file with the certificate of TLS_KEY")
	}
	if c.WSListen != "off" {
		if _, port, err := net.SplitHostPort(c.WSListen); err != nil || !isPort(port) {
			return badValue("WS_LISTEN", c.WSListen, "host:port, or off")
		}
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
			return badValue("PUBLIC_URL", c.PublicURL, "an http or https address without a query")
		}
		c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	}
	return mcpserver.CheckToolsets(c.Toolsets)
}

// languages is the language of sessions that name none, by provider.
func (c *Config) languages() map[string]string {
	if c.DefaultLanguage != "" {
		return nil // the same for all
	}
	return map[string]string{"deepgram": "pt-BR"}
}

// idle is how long a hub that nobody needs stays.
func (c *Config) idle() time.Duration { return time.Duration(c.IdleMinutes * float64(time.Minute)) }

// storeName says what the store is and where, without its password.
func (c *Config) storeName() string { return c.StorageBackend + " at " + redactURL(c.DatabaseURL) }

// redactURL takes the password out of a connection string.
func redactURL(raw string) string {
	if strings.Contains(raw, "://") {
		u, err := url.Parse(raw)
		if err != nil {
			return "an address that cannot be read"
		}
		q := u.Query()
		q.Del("password")
		u.RawQuery = q.Encode()
		if u.User != nil {
			u.User = url.User(u.User.Username())
		}
		return u.String()
	}
	if !strings.Contains(raw, "=") {
		return raw
	}
	var kept []string
	for pair := range strings.FieldsSeq(raw) {
		if !strings.HasPrefix(pair, "password") {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, " ")
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 65535
}

func badValue(name, value, allowed string) *hearken.Error {
	return hearken.Errorf(hearken.Invalid, "%s is %q; allowed is %s.", name, value, allowed)
}
