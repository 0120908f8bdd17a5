package injection

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/soundcard"
	"github.com/hearken-dev/hearken/test/speech"
)

// A soundScene is played by PulseAudio to the real program, which captures this
// computer's microphone and speakers.
type soundScene struct {
	name string
	env  []string
	play func(c *soundCall) // plays, and returns when the agents shall ask
	ask  func(c *soundCall) // instead of asking after it was played
	// hears is the side whose words the transcript must have: M, S or neither.
	hears hearken.Origin
}

// soundScenes are what a hub may and may not hear of a call.
var soundScenes = []soundScene{
	{name: "the far side", play: func(c *soundCall) { c.play(speakers, 0, c.far) }, hears: hearken.System},
	{name: "the far side with one channel upside down", play: func(c *soundCall) { c.playUpsideDown(c.far) }, hears: hearken.System},
	{name: "the call on another output", play: func(c *soundCall) { c.play(soundcard.Headset, 0, c.far) }},
	{name: "a quiet system volume", play: func(c *soundCall) { c.card.SetVolume(c, speakers, "5%"); c.play(speakers, 0, c.far) }},
	{name: "the microphone only", env: []string{"SYSTEM_AUDIO=off"}, play: func(c *soundCall) { c.play(mike, 0, c.near) }, hears: hearken.Microphone},
	{name: "the far side as an echo", play: func(c *soundCall) {
		c.together(func() { c.play(speakers, 0, c.far) }, func() { c.play(mike, 120*time.Millisecond, quieter(c.far)) })
	}},
	{name: "both at once", play: func(c *soundCall) {
		c.together(func() { c.play(speakers, 0, c.far) }, func() { c.play(mike, 0, c.near) })
	}},
	{name: "the far side after the owner", play: func(c *soundCall) { c.play(mike, 0, c.near); c.play(speakers, 0, c.far) }},
	{name: "the far side begins when the agent asks", play: func(*soundCall) {}, ask: func(c *soundCall) {
		c.together(func() { c.play(speakers, 0, c.far) }, c.askAll)
	}},
	{name: "the call has just ended", play: func(c *soundCall) { c.play(speakers, 0, c.far); c.tool("pscribe_stop") }},
}

var mike, speakers = soundcard.Sinks[0], soundcard.Sinks[1]

// soundScenesAtOnce is how many are played at a time: most of their time is
// real time.
const soundScenesAtOnce = 5

// TestSound plays recordings while agents that obey every voice ask under the
// widest grants. Before the call the grants apply. During it and just after it
// everything waits for the owner, whatever the hub hears of it.
func TestSound(t *testing.T) {
	if err := soundcard.Missing(); err != nil {
		t.Skipf("no sound server to play to: %v", err)
	}
	models := speech.Models(t)
	bin := hubtest.Binary(t)
	turns := make(chan struct{}, soundScenesAtOnce)
	var all sync.WaitGroup
	for i := range soundScenes {
		s := &soundScenes[i]
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			t.Run(s.name, func(t *testing.T) { newSoundCall(t, bin, models, s).perform(s) })
		})
	}
	all.Wait()
}

// A soundCall is one run: a sound server, a hub, its owner's grants and two
// agents.
type soundCall struct {
	*testing.T
	card      *soundcard.Card
	hub       *hubtest.Server
	near, far []int16
	reached   atomic.Int32 // requests to the servers behind the connectors

	room    string             // the host behind the webhook
	store   *sqlite.Store      // the hub's, to look at without asking the hub
	key     string             // of one agent
	local   *mcp.ClientSession // of the other
	calling context.Context    // of calls that wait for the owner
	calls   sync.WaitGroup
}

func newSoundCall(t *testing.T, bin, models string, s *soundScene) *soundCall {
	c := &soundCall{T: t, card: soundcard.Start(t)}
	c.far, c.near = speech.Get(t, "ls-other-367-130732-0008").PCM(), speech.Get(t, "ls-other-1688-142285-0003").PCM()
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c.reached.Add(1)
		fmt.Fprint(w, `{"id":"abcdefgh","time":1}`)
	}))
	t.Cleanup(sink.Close)
	c.room = sink.Listener.Addr().String()
	var err error
	c.hub, err = hubtest.NewServer(bin, filepath.Join(t.TempDir(), "data"), slices.Concat(c.card.Env(), []string{
		"HEARKEN_MODELS=" + models, "LOCAL_MODEL=tiny", "NTFY_URL=" + sink.URL + "/ada", "WEBHOOK_URL=" + sink.URL + "/room",
		"WEBHOOK_SECRET=whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)), "GRANT_DELAY_SECONDS=0",
	}, s.env)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.hub.Kill)
	if err := c.hub.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.setUp()
	return c
}

// setUp has the owner make a key and all grants, and connects the agents.
func (c *soundCall) setUp() {
	c.Helper()
	const pin = "482 916 305"
	c.control(map[string]any{"op": "owner.pin", "newPin": pin}, nil)
	var made struct{ ID, Key string }
	c.control(map[string]any{"op": "keys.create", "name": "agent", "pin": pin}, &made)
	c.key = made.Key
	for _, who := range []string{act.Local, made.ID} {
		for tool, target := range map[string]string{hearken.CalendarCreate: "builtin", hearken.ReminderCreate: "builtin", hearken.MessageSend: "ntfy:ada"} {
			c.control(map[string]any{"op": "grants.create", "pin": pin, "grant": hearken.Grant{Principal: who, Tool: tool, Target: target, PerDay: 1000}}, nil)
		}
	}
	var err error
	if c.store, err = sqlite.Open(c.Context(), filepath.Join(c.hub.Dir, "hearken.db")); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { c.store.Close() })
	for i, who := range []string{act.Local, made.ID} { // as an earlier version allowed
		if err := c.store.SaveGrant(c.Context(), &hearken.Grant{
			ID: fmt.Sprintf("grn_old%d", i), Principal: who, Tool: hearken.MessageSend, Target: "webhook:" + c.room, PerDay: 1000,
			CreatedAt: time.Now(), ExpiresAt: time.Now().AddDate(1, 0, 0),
		}); err != nil {
			c.Fatal(err)
		}
	}
	conn, _, err := pipe.Dial(c.Context(), c.hub.Dir, pipe.Hello{Want: pipe.WantMCP})
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { conn.Close() })
	c.local, err = mcp.NewClient(&mcp.Implementation{Name: "obedient", Version: "1"}, nil).Connect(c.Context(), &mcp.IOTransport{Reader: conn, Writer: conn}, nil)
	if err != nil {
		c.Fatal(err)
	}
	var stop context.CancelFunc
	c.calling, stop = context.WithCancel(context.Background())
	c.Cleanup(func() {
		stop()
		c.calls.Wait()
	})
}

// perform plays the scene.
func (c *soundCall) perform(s *soundScene) {
	c.checkGrantsApply()
	before := c.reached.Load()
	c.tool("pscribe_start")
	s.play(c)
	if s.ask != nil {
		s.ask(c)
	} else {
		c.askAll()
	}
	c.checkPending(before)
	if s.hears == "" {
		return
	}
	hubtest.WaitUntil(c, 40*time.Second, fmt.Sprintf("the words of %s are in the transcript", s.hears), func() bool {
		return slices.ContainsFunc(strings.Split(c.tool("pscribe_tail"), "\n"), func(row string) bool {
			return strings.Contains(row, ","+string(s.hears)+",") && strings.Count(row, " ") > 3
		})
	})
}
