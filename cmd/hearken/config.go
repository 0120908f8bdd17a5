package main

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
)

// Config holds all settings. Their tags are the only description: flags,
// environment variables, keys, defaults, limits and help come from them. A
// field's flag is its name in kebab case, its key in the file the same with
// underscores, and its environment variable the tag var. The flag wins, then the
// environment, then the file, then the tag default.
//
// More tags: of lists the allowed values; min and max bound numbers; secret
// hides a value and lets NAME_FILE name a file that holds it.
type Config struct {
	Transport string   `var:"TRANSPORT" default:"http" of:"http,stdio" group:"network" help:"What to do without a command: run the hub (http), or run as an MCP server on standard input and output (stdio)."`
	Host      string   `var:"HOST" default:"127.0.0.1" group:"network" help:"Address to listen on. On any address other than loopback, every caller needs a key and TLS is on."`
	Port      int      `var:"PORT" default:"8080" min:"0" max:"65535" group:"network" help:"Port for HTTP. If it is taken, Hearken uses a free one. 0 always uses a free one."`
	WSListen  string   `var:"WS_LISTEN" default:"127.0.0.1:7777" group:"network" help:"Address for MCP over WebSocket, or off. If its port is taken, Hearken uses a free one."`
	PublicURL string   `var:"PUBLIC_URL" group:"network" help:"Address at which clients reach the hub through a proxy, such as https://hearken.example.org. Session endpoints are built from it."`
	Auth      string   `var:"AUTH" default:"auto" of:"auto,required" group:"network" help:"auto: callers on this computer need no key. required: everyone does."`
	TLS       string   `var:"TLS" default:"auto" of:"auto,off" group:"network" help:"auto: TLS on every address except loopback, and wherever you give a certificate. off: never, for use behind a proxy."`
	TLSCert   string   `var:"TLS_CERT" group:"network" help:"File with the certificate chain. Without it, Hearken makes a self-signed certificate in the data directory."`
	TLSKey    string   `var:"TLS_KEY" group:"network" help:"File with the certificate's private key."`
	Origins   []string `var:"ORIGINS" group:"network" help:"Origins of other sites whose pages may use the hub, such as https://app.example.org, separated by commas."`
	Toolsets  []string `var:"TOOLSETS" default:"all" of:"all,transcription,scribe,actions,read" group:"network" help:"Groups of tools to offer, separated by commas."`

	TranscriptionProvider []string `var:"TRANSCRIPTION_PROVIDER" of:"local,deepgram,openai,null" group:"transcription" help:"Engine for sessions that do not name one. With several, separated by commas, the next takes over when one fails. This computer's microphone and system audio go to no other engine than local unless you set this. Default: deepgram,local if Deepgram has a key, otherwise local, which needs none."`
	ProviderReturnSeconds int      `var:"PROVIDER_RETURN_SECONDS" default:"60" min:"0" max:"86400" group:"transcription" help:"How long after a switch to another engine a session first checks whether the preferred one works again. 0: never."`
	DeepgramAPIKey        string   `var:"DEEPGRAM_API_KEY" secret:"" group:"transcription" help:"API key for Deepgram."`
	DeepgramBaseURL       string   `var:"DEEPGRAM_BASE_URL" group:"transcription" help:"Address of Deepgram, or of a server with the same API. Default: Deepgram's own."`
	DeepgramModel         string   `var:"DEEPGRAM_MODEL" group:"transcription" help:"Model to use at Deepgram. Default: nova-3."`
	OpenaiAPIKey          string   `var:"OPENAI_API_KEY" secret:"" group:"transcription" help:"API key for OpenAI, or for the server at OPENAI_BASE_URL."`
	OpenaiBaseURL         string   `var:"OPENAI_BASE_URL" group:"transcription" help:"Address of a server with OpenAI's transcription API, such as Groq, speaches, whisper.cpp or vLLM. Default: OpenAI's own."`
	OpenaiModel           string   `var:"OPENAI_MODEL" group:"transcription" help:"Model to use at that server. Default: whisper-1."`
	UploadMaxMB           int      `var:"UPLOAD_MAX_MB" default:"25" min:"1" max:"100000" group:"transcription" help:"Largest file that /v1/audio/transcriptions accepts, and POST /v1/listen if ffmpeg must decode it, in megabytes."`
	DefaultLanguage       string   `var:"DEFAULT_LANGUAGE" group:"transcription" help:"Language of sessions that do not name one. Default: pt-BR with deepgram, otherwise en."`
	Vocabulary            string   `var:"VOCABULARY" group:"transcription" help:"File with names and terms to spell correctly, one per line."`
	MaxBufferChunks       int      `var:"MAX_BUFFER_CHUNKS" default:"100" min:"1" max:"100000" group:"transcription" help:"Audio chunks that a session holds in memory before they go to the spool."`
	Spool                 string   `var:"SPOOL" default:"disk" of:"disk,memory" group:"transcription" help:"Where audio waits until its words are final. memory: no audio is written to disk."`
	SpoolSeconds          int      `var:"SPOOL_SECONDS" default:"600" min:"10" max:"86400" group:"transcription" help:"How many seconds of audio may wait in a session. Any more is dropped and shown as a gap."`
	ReconnectMaxRetries   int      `var:"RECONNECT_MAX_RETRIES" default:"3" min:"1" max:"100" group:"transcription" help:"How often to retry when the connection to an engine is lost."`
	MaxSessions           int      `var:"MAX_SESSIONS" default:"1000" min:"1" max:"100000" group:"transcription" help:"How many sessions may be active at once. Any more are refused."`
	LocalModel            string   `var:"LOCAL_MODEL" default:"auto" of:"auto,tiny,base" group:"transcription" help:"Offline model for confirmed text. auto: measure which one this computer can run."`
	Models                string   `var:"HEARKEN_MODELS" group:"transcription" help:"Directory with the offline engine's models. Default: in the cache directory."`
	CacheDir              string   `var:"HEARKEN_CACHE_DIR" group:"transcription" help:"Directory for files that can be downloaded again. Default: hearken in your cache directory."`

	ScribeBackend string `var:"SCRIBE_BACKEND" default:"auto" of:"auto,native,pscribe" group:"transcription" help:"What captures this computer's microphone and system audio: Hearken (native) or ParrotScribe's CLI (pscribe). auto: the CLI if it is installed."`
	PscribePath   string `var:"PSCRIBE_PATH" default:"pscribe" group:"transcription" help:"ParrotScribe's CLI: a path, or a name to look up in PATH."`
	ScribeKeep    bool   `var:"SCRIBE_KEEP" default:"false" group:"transcription" help:"Also save what ParrotScribe transcribes as sessions of the hub. Otherwise the hub stores none of it."`
	Microphone    string `var:"MICROPHONE" group:"transcription" help:"Microphone that the scribe captures, or off. Default: the system's."`
	SystemAudio   string `var:"SYSTEM_AUDIO" group:"transcription" help:"Output device that the scribe captures as the other side of a call, or off. Default: the system's."`

	Timezone                  string   `var:"TIMEZONE" group:"actions" help:"Time zone for times given without one, such as Europe/Berlin. Default: this computer's."`
	CaldavURL                 string   `var:"CALDAV_URL" group:"actions" help:"Address of a CalDAV server, or of one calendar on it, to create appointments in. Default: the hub's own calendar."`
	CaldavUser                string   `var:"CALDAV_USER" group:"actions" help:"User name at the CalDAV server."`
	CaldavPassword            string   `var:"CALDAV_PASSWORD" secret:"" group:"actions" help:"Password at the CalDAV server."`
	CaldavCalendar            string   `var:"CALDAV_CALENDAR" group:"actions" help:"Name or path of the calendar to use. Default: the first one."`
	CaldavReminders           string   `var:"CALDAV_REMINDERS" default:"vtodo" of:"vtodo,vevent,both,off" group:"actions" help:"What a reminder becomes on the CalDAV server: a task, an appointment, both or nothing."`
	SMTPHost                  string   `var:"SMTP_HOST" group:"actions" help:"Mail server that sends email."`
	SMTPPort                  int      `var:"SMTP_PORT" default:"587" min:"1" max:"65535" group:"actions" help:"Port of the mail server. 465: TLS from the start. Others: STARTTLS."`
	SMTPUser                  string   `var:"SMTP_USER" group:"actions" help:"User name at the mail server."`
	SMTPPassword              string   `var:"SMTP_PASSWORD" secret:"" group:"actions" help:"Password at the mail server."`
	SMTPFrom                  string   `var:"SMTP_FROM" group:"actions" help:"Sender of email, such as Ada <ada@example.org>."`
	TwilioAccountSID          string   `var:"TWILIO_ACCOUNT_SID" group:"actions" help:"Twilio account that sends text messages."`
	TwilioAuthToken           string   `var:"TWILIO_AUTH_TOKEN" secret:"" group:"actions" help:"Token of the Twilio account."`
	TwilioFrom                string   `var:"TWILIO_FROM" group:"actions" help:"Sender of text messages: a phone number, or a messaging service (MG...)."`
	TwilioBaseURL             string   `var:"TWILIO_BASE_URL" group:"actions" help:"Address of Twilio, or of a server with the same API. Default: Twilio's own."`
	NtfyURL                   string   `var:"NTFY_URL" group:"actions" help:"Your topic on an ntfy server: https://ntfy.example.org/topic."`
	NtfyToken                 string   `var:"NTFY_TOKEN" secret:"" group:"actions" help:"Access token for the ntfy server."`
	WebhookURL                string   `var:"WEBHOOK_URL" group:"actions" help:"Address that receives messages as signed webhooks."`
	WebhookSecret             string   `var:"WEBHOOK_SECRET" secret:"" group:"actions" help:"Secret that signs webhooks, as whsec_ and base64."`
	ActionsCAFile             string   `var:"ACTIONS_CA_FILE" group:"actions" help:"File with additional certificate authorities to trust for the servers above."`
	CountryCode               string   `var:"COUNTRY_CODE" group:"actions" help:"Country calling code for phone numbers without one, such as 49."`
	RemindBy                  []string `var:"REMIND_BY" default:"desktop" of:"desktop,email,ntfy,webhook" group:"actions" help:"How to remind you, separated by commas."`
	OwnerEmail                string   `var:"OWNER_EMAIL" group:"actions" help:"Where to send reminders by email. Default: SMTP_FROM."`
	ApprovalMinutes           float64  `var:"APPROVAL_MINUTES" default:"10" min:"0.01" max:"10080" group:"actions" help:"How long an action waits for your approval before it is denied."`
	GrantDelaySeconds         float64  `var:"GRANT_DELAY_SECONDS" default:"5" min:"0" max:"600" group:"actions" help:"How long you can still cancel a message to yourself that a grant covers."`
	GrantsAfterAudioMinutes   float64  `var:"GRANTS_AFTER_AUDIO_MINUTES" default:"10" min:"0" max:"1440" group:"actions" help:"Grants do not apply to a key that can read transcripts while a session has live audio, nor for this long afterwards."`
	GrantsAfterReadingMinutes float64  `var:"GRANTS_AFTER_READING_MINUTES" default:"30" min:"0" max:"1440" group:"actions" help:"Grants do not apply to a key for this long after it has read transcript text."`
	FarRecipients             string   `var:"FAR_RECIPIENTS" default:"deny" of:"deny,ask" group:"actions" help:"What to do with a message to a new recipient whom only the other side of a call named."`
	ActionDays                int      `var:"ACTION_DAYS" default:"90" min:"0" max:"36500" group:"actions" help:"Delete the texts of finished actions after this many days. 0: keep them. The audit never holds them."`
	RateLimit                 int      `var:"RATE_LIMIT" default:"100" min:"1" max:"1000000" group:"actions" help:"How many requests a key may make in any 60 seconds."`
	OwnerPINFile              string   `var:"OWNER_PIN_FILE" group:"actions" help:"File with your PIN, for scripts. Anyone who can read it can approve."`
	KeyDir                    string   `var:"HEARKEN_KEY_DIR" group:"actions" help:"Directory with the audit's signing key and your PIN's hash. Default: hearken/keys in your configuration directory, or keys in the data directory if you chose that yourself."`

	DataDir                 string `var:"HEARKEN_DATA_DIR" group:"storage" help:"Directory for everything Hearken stores. Default: hearken in your data directory."`
	StorageBackend          string `var:"STORAGE_BACKEND" default:"sqlite" of:"sqlite,postgres,json" group:"storage" help:"What stores sessions, actions and keys."`
	DatabaseURL             string `var:"DATABASE_URL" secret:"" group:"storage" help:"File (sqlite), directory (json) or connection string (postgres). Relative paths start in the data directory. Default: hearken.db, or hearken.json.d."`
	PersistIntervalSeconds  int    `var:"PERSIST_INTERVAL_SECONDS" default:"30" min:"1" max:"3600" group:"storage" help:"Write to the store at least this often, in seconds."`
	PersistIntervalSegments int    `var:"PERSIST_INTERVAL_SEGMENTS" default:"10" min:"1" max:"10000" group:"storage" help:"Write to the store after this many segments."`
	KeepAudio               bool   `var:"KEEP_AUDIO" default:"false" group:"storage" help:"Keep the audio of sessions, so that they can be transcribed again."`
	RetentionDays           int    `var:"RETENTION_DAYS" default:"0" min:"0" max:"36500" group:"storage" help:"Delete stopped sessions after this many days. 0: keep them."`

	LogLevel    string  `var:"LOG_LEVEL" default:"info" of:"debug,info,warn,error" group:"running" help:"Lowest level to log, on standard error."`
	LogFormat   string  `var:"LOG_FORMAT" default:"text" of:"text,json" group:"running" help:"Format of the log."`
	IdleMinutes float64 `var:"IDLE_MINUTES" default:"10" min:"0.01" max:"10000" group:"running" help:"Minutes without a client, an active session or a reminder after which a hub started by --stdio exits."`
	Spawn       bool    `var:"HEARKEN_SPAWN" default:"true" negatable:"" group:"running" help:"Let --stdio start a hub that outlives it. If false, it serves in its own process."`

	sources map[string]string // setting name -> where its value came from
}

// resolve fills in the defaults that depend on other settings.
func (c *Config) resolve() error {
	if c.DataDir == "" {
		dir, err := userDataDir()
		if err != nil {
			return hearken.Errorf(hearken.Invalid, "Cannot find the data directory: %w.", err).WithTry("set HEARKEN_DATA_DIR to a directory")
		}
		c.DataDir = dir
	}
	if c.KeyDir == "" {
		c.KeyDir = filepath.Join(c.DataDir, "keys")
		// Compare the directories, not where the name came from: --stdio names the
		// data directory to every hub that it starts.
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

// checkTogether finds values that are allowed alone but not together.
func (c *Config) checkTogether() error {
	for i, name := range c.TranscriptionProvider {
		if slices.Contains(c.TranscriptionProvider[:i], name) {
			return badValue("TRANSCRIPTION_PROVIDER", strings.Join(c.TranscriptionProvider, ","), "a list that names each engine once")
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
		_, port, err := net.SplitHostPort(c.WSListen)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
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

// languages returns the languages of sessions that name none, by provider.
func (c *Config) languages() map[string]string {
	if c.DefaultLanguage != "" {
		return nil // the same for all
	}
	return map[string]string{"deepgram": "pt-BR"}
}

// languageOf is the language of an engine's sessions that name none.
func (c *Config) languageOf(engine string) string {
	return cmp.Or(c.languages()[engine], c.DefaultLanguage, fallbackLanguage)
}

// providerNamed reports whether a person named the engine. Otherwise it follows
// from the keys that are there.
func (c *Config) providerNamed() bool { return c.sources["transcription-provider"] != "default" }

// captureChain names the engines for this computer's own audio. A key alone must
// not send it anywhere.
func (c *Config) captureChain() []string {
	if c.providerNamed() {
		return c.TranscriptionProvider
	}
	return []string{"local"}
}

// apiKey is the key for an engine; empty if it needs none.
func (c *Config) apiKey(engine string) string {
	return map[string]string{"deepgram": c.DeepgramAPIKey, "openai": c.OpenaiAPIKey}[engine]
}

// idleTimeout is how long an unused hub stays.
func (c *Config) idleTimeout() time.Duration {
	return time.Duration(c.IdleMinutes * float64(time.Minute))
}

// auditDir is the directory of the audit.
func (c *Config) auditDir() string { return filepath.Join(c.DataDir, auditFolder) }

// auditFolder is the folder of the audit in a data directory.
const auditFolder = "audit"

// storeName describes the store without its password.
func (c *Config) storeName() string { return c.StorageBackend + " at " + c.shownDatabaseURL() }

// shownDatabaseURL is the store's address without its password.
func (c *Config) shownDatabaseURL() string {
	if c.StorageBackend != "postgres" {
		return c.DatabaseURL
	}
	return redactURL(c.DatabaseURL)
}

// redactURL removes the password from a connection string.
func redactURL(raw string) string {
	const unreadable = "an address that cannot be read"
	isPassword := func(name string) bool { return strings.Contains(strings.ToLower(name), "password") }
	if strings.Contains(raw, "://") {
		u, err := url.Parse(raw)
		if err != nil {
			return unreadable
		}
		q := u.Query()
		maps.DeleteFunc(q, func(name string, _ []string) bool { return isPassword(name) })
		u.RawQuery = q.Encode()
		if u.User != nil {
			u.User = url.User(u.User.Username())
		}
		return u.String()
	}
	if !strings.Contains(raw, "=") {
		return raw
	}
	var pairs []string
	for _, pair := range connectionPair.FindAllStringSubmatch(raw, -1) {
		if !isPassword(pair[1]) {
			pairs = append(pairs, pair[1]+"="+pair[2])
		}
	}
	if strings.TrimSpace(connectionPair.ReplaceAllString(raw, "")) != "" {
		return unreadable
	}
	return strings.Join(pairs, " ")
}

// connectionPair is one setting in a connection string such as
// host=db.example.org password='a secret'.
var connectionPair = regexp.MustCompile(`(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)*)`)

func badValue(name, value, allowed string) *hearken.Error {
	return hearken.Errorf(hearken.Invalid, "%s is %q. It must be %s.", name, value, allowed)
}
