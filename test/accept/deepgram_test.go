//go:build accept

package accept

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// TestDeepgram has programs that were written for Deepgram use the hub through
// its official SDKs: both editions for JavaScript, and the one for Go. Only the
// address is the hub's.
func TestDeepgram(t *testing.T) {
	root := engine(t)
	jfk, dashwood := newClip(t, spoken), newClip(t, "ps-0870.wav")
	h := hubtest.Start(t, "HEARKEN_MODELS="+root)
	for _, edition := range []string{"5", "4", "go"} {
		t.Run(edition, func(t *testing.T) {
			t.Parallel()
			d := newDeepgram(t, edition, h)
			t.Run("Live", func(t *testing.T) { d.live(t, jfk, dashwood) })
			t.Run("Leaves", func(t *testing.T) { d.leaves(t, jfk) })
			t.Run("TwoChannels", func(t *testing.T) { d.twoChannels(t, jfk, dashwood) })
			t.Run("Recording", func(t *testing.T) { d.recording(t, jfk) })
			t.Run("Refused", func(t *testing.T) { d.refused(t, jfk) })
		})
	}
	t.Run("Silent", func(t *testing.T) {
		t.Parallel()
		saw := newDeepgram(t, "5", h).use(t, job{Options: raw(nil), Steps: []step{{"send", file(t, jfk.pcm[:32000])}, {"silent", 20}}})
		if saw.Closed == nil || saw.Closed.Code != 1011 || !strings.HasPrefix(saw.Closed.Reason, "NET-0001") {
			t.Errorf("10 s without a sign of the client: closed %+v", saw.Closed)
		}
	})
}

// TestDeepgram_Key has the hub ask for a key, which the SDKs show in every way
// that they have: as Token, as Bearer, and as browsers must, in a subprotocol.
func TestDeepgram_Key(t *testing.T) {
	root := engine(t)
	jfk := newClip(t, spoken)
	h := hubtest.Start(t, "HEARKEN_MODELS="+root, "AUTH=required")
	key := newKey(t, h)
	for _, way := range []struct {
		name, edition, protocol string
		bearer                  bool
		refusal                 string
	}{
		{name: "5/Token", edition: "5", refusal: "401"},
		{name: "5/Bearer", edition: "5", bearer: true, refusal: "401"},
		{name: "5/Browser", edition: "5browser", protocol: "token", refusal: "non-101"},
		{name: "4/Browser", edition: "4", protocol: "token", refusal: "non-101"},
		{name: "4/BrowserBearer", edition: "4", protocol: "bearer", bearer: true, refusal: "non-101"},
		{name: "4/Token", edition: "4ws", refusal: "401"},
		{name: "go/Token", edition: "go", refusal: "not connected"},
		{name: "go/Bearer", edition: "go", bearer: true, refusal: "not connected"},
	} {
		t.Run(way.name, func(t *testing.T) {
			d := newDeepgram(t, way.edition, h)
			j := job{Key: key, Bearer: way.bearer, Options: raw(nil), Steps: []step{{"send", file(t, jfk.pcm[:4*32000])}, {"finish", nil}}}
			saw := d.use(t, j)
			if !saw.Opened || saw.Protocol != way.protocol || len(saw.Errors) > 0 {
				t.Errorf("with the key: opened %t by %q, errors %+v", saw.Opened, saw.Protocol, saw.Errors)
			}
			checkText(t, saw.text(0), "and so my fellow americans ask")
			for _, wrong := range []string{"hk_" + strings.Repeat("x", 40), "of Deepgram's"} {
				j.Key = strings.ReplaceAll(wrong, " ", "_")
				saw := d.use(t, j)
				if saw.Opened || len(saw.Errors) == 0 || !strings.Contains(saw.Errors[0].Message, way.refusal) {
					t.Errorf("with the key %s: opened %t, errors %+v", j.Key, saw.Opened, saw.Errors)
				}
				if way.edition == "go" {
					break // it tries three times, which takes a while
				}
			}
		})
	}
}

// A job says what a client is to do; see deepgram.mjs.
type job struct {
	Key     string         `json:"key"`
	Bearer  bool           `json:"bearer"`
	Rate    int            `json:"rate"` // bytes per second of pcm
	Options map[string]any `json:"options"`
	Steps   []step         `json:"steps,omitempty"`
	Record  string         `json:"record,omitempty"` // a recording to be sent at once
}

type step struct {
	Do   string `json:"do"`
	With any    `json:"with"`
}

// raw is the options for audio as the clips have it, and others.
func raw(more map[string]any) map[string]any {
	o := map[string]any{"model": "nova-3", "language": "en", "encoding": "linear16", "sample_rate": 16000}
	maps.Copy(o, more)
	return o
}

// file is the path of a file with this audio.
func file(t *testing.T, pcm []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audio.raw")
	if err := os.WriteFile(path, pcm, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A deepgram is a program with one of the SDKs.
type deepgram struct {
	edition string
	argv    []string
	hub     *hubtest.Hub
}

func newDeepgram(t *testing.T, edition string, h *hubtest.Hub) *deepgram {
	t.Helper()
	d := &deepgram{edition: edition, hub: h}
	switch edition[:1] {
	case "g":
		d.argv = []string{fetched(t, "deepgram-go", "deepgram-go")}
	case "4":
		installed(t, "deepgram4", "@deepgram", "sdk", "package.json")
		d.argv = []string{node(t), "deepgram.mjs", edition, h.URL}
	default:
		installed(t, "deepgram", "@deepgram", "sdk", "package.json")
		d.argv = []string{node(t), "deepgram.mjs", edition, h.URL}
	}
	return d
}

// use runs the program.
func (d *deepgram) use(t *testing.T, j job) *clientLog {
	t.Helper()
	j.Key = cmp.Or(j.Key, "any")
	j.Rate = cmp.Or(j.Rate, 32000)
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.argv[0], append(d.argv[1:], string(text))...)
	cmd.Env = append(slices.Clone(d.hub.Env), "CLIENTS="+os.Getenv("HEARKEN_ACCEPT_CLIENTS"))
	if d.edition == "go" {
		host := d.hub.URL
		if j.Record == "" {
			host = "ws" + strings.TrimPrefix(host, "http")
		}
		variable := "DEEPGRAM_API_KEY="
		if j.Bearer {
			variable = "DEEPGRAM_ACCESS_TOKEN="
		}
		cmd.Env = append(cmd.Env, "DEEPGRAM_HOST="+host, variable+j.Key)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, 5*time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &errs, &out)
	}
	w := new(clientLog)
	if err := json.Unmarshal(out.Bytes(), w); err != nil {
		t.Fatalf("%v in %s%s", err, &errs, &out)
	}
	return w
}

// live is a stream with all that there is: two talks, and between them more
// silence than a connection survives without KeepAlive.
func (d *deepgram) live(t *testing.T, first, second clip) {
	title := "Deepgram " + d.edition
	pcm := slices.Concat(first.pcm, make([]byte, 2*32000))
	saw := d.use(t, job{
		Options: raw(map[string]any{
			"interim_results": true, "endpointing": "300", "utterance_end_ms": "1000", "vad_events": true,
			"smart_format": true, "tag": []string{title}, "keyterm": []string{"Dashwood"},
		}),
		Steps: []step{
			{"send", file(t, pcm)}, {"quiet", 11}, {"send", file(t, second.pcm)}, {"finalize", nil}, {"finish", nil},
		},
	})
	saw.check(t, d.edition, 1, append(pcm, second.pcm...))
	checkText(t, saw.text(0), first.text, second.text)
	count := saw.count()
	if count["interim"] < 5 || count["SpeechStarted"] < 2 || count["UtteranceEnd"] < 1 || count["words and speech_final"] < 2 || count["from_finalize"] < 1 {
		t.Errorf("messages %v", count)
	}
	if text := saw.text(0); !strings.Contains(text, "Americans") || !strings.ContainsAny(text, ".,") {
		t.Errorf("with smart_format: %q", text)
	}
	m := checkSession(t, d.hub, saw.session(), "fellow Americans")
	checkText(t, m.text["M"], first.text, second.text)
	if m.Title != title {
		t.Errorf("the session's title is %q, its tag %q", m.Title, title)
	}
	t.Logf("%v; transcript: %s", count, saw.text(0))
}

// leaves is a stream as an example has it, whose client does not wait for
// anything: what it said is still stored.
func (d *deepgram) leaves(t *testing.T, k clip) {
	saw := d.use(t, job{Options: raw(nil), Steps: []step{{"send", file(t, k.pcm)}, {"leave", nil}}})
	if count := saw.count(); count["Results"] == 0 || count["interim"]+count["SpeechStarted"]+count["UtteranceEnd"] > 0 {
		t.Errorf("nothing was asked for, and there came %v", count)
	}
	if text := saw.text(0); text != plain(text) {
		t.Errorf("without punctuate: %q", text)
	}
	if id := saw.session(); id != "" {
		checkText(t, checkSession(t, d.hub, id, "fellow Americans").text["M"], k.text)
	}
}

// twoChannels are two people who speak at the same time, each on a channel.
func (d *deepgram) twoChannels(t *testing.T, left, right clip) {
	pcm := make([]byte, 2*max(len(left.pcm), len(right.pcm)))
	for i, k := range []clip{left, right} {
		for at := 0; at+1 < len(k.pcm); at += 2 {
			copy(pcm[2*at+2*i:], k.pcm[at:at+2])
		}
	}
	saw := d.use(t, job{
		Rate:    64000,
		Options: raw(map[string]any{"channels": 2, "multichannel": true, "interim_results": true, "punctuate": true, "endpointing": "false"}),
		Steps:   []step{{"send", file(t, pcm)}, {"finish", nil}},
	})
	saw.check(t, d.edition, 2, pcm)
	if n := saw.count()["speech_final"]; n > 0 {
		t.Errorf("without endpointing %d results say speech_final", n)
	}
	checkText(t, saw.text(0), left.text)
	checkText(t, saw.text(1), right.text)
	m := checkSession(t, d.hub, saw.session(), "Dashwood")
	checkText(t, m.text["M"], left.text)
	checkText(t, m.text["S"], right.text)
}

// recording transcribes an existing file.
func (d *deepgram) recording(t *testing.T, k clip) {
	saw := d.use(t, job{Record: k.path, Options: map[string]any{"model": "nova-3", "smart_format": true, "utterances": true}})
	r := saw.Recorded
	if len(saw.Errors) > 0 || r == nil || len(r.Results.Channels) != 1 {
		t.Fatalf("errors %+v, recorded %+v", saw.Errors, r)
	}
	a := r.Results.Channels[0].Alternatives[0]
	checkText(t, a.Transcript, k.text)
	said := ""
	for _, u := range r.Results.Utterances {
		said += u.Transcript + " "
	}
	checkText(t, said, k.text)
	checkWords(t, a.Words, 0, k.seconds())
	checkText(t, checkSession(t, d.hub, r.Metadata.RequestID, "fellow Americans").text["M"], k.text)
}

// refused are requests that cannot be served, as the SDK tells a program.
func (d *deepgram) refused(t *testing.T, k clip) {
	edition, status := d.edition, "400"
	switch edition {
	case "4":
		edition = "4ws" // the WebSocket of newer versions of Node.js tells nobody why
	case "go":
		status = "not connected"
	}
	for name, wrong := range map[string]struct {
		options map[string]any
		reason  string
	}{
		"parameter": {map[string]any{"utterance_end_ms": "1000"}, "needs interim_results"},
		"model":     {map[string]any{"model": "gpt-9"}, "There is no model"},
		"language":  {map[string]any{"language": "xx"}, ""},
	} {
		saw := newDeepgram(t, edition, d.hub).use(t, job{Options: raw(wrong.options)})
		if saw.Opened || len(saw.Errors) == 0 || !strings.Contains(saw.Errors[0].Message, status) {
			t.Errorf("wrong %s: opened %t, errors %+v", name, saw.Opened, saw.Errors)
			continue
		}
		if e := saw.Errors[0]; edition == "4ws" && (e.Status != 400 || e.Request == "" || !strings.Contains(e.Reason, wrong.reason)) {
			t.Errorf("wrong %s: %+v", name, e)
		}
		if d.edition == "go" {
			break // it tries three times, which takes a while
		}
	}
	saw := d.use(t, job{Record: file(t, bytes.Repeat([]byte("This is not sound. "), 100)), Options: map[string]any{"model": "nova-3"}})
	if len(saw.Errors) != 1 || saw.Errors[0].Status != 400 || !strings.Contains(saw.Errors[0].Message+saw.Errors[0].Reason, "not decodable") {
		t.Errorf("a recording that is none: %+v", saw.Errors)
	}
}
