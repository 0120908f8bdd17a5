package live

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// withCloud gives the hub a remote engine that is the default, and keeps this
// computer's own audio with the offline one.
func withCloud(cloud hearken.Provider) func(*Config) {
	return func(c *Config) {
		c.Providers = []hearken.Provider{cloud, offlineEngine{c.Providers[0].(*stttest.Scripted)}}
		c.Chain, c.Captures = []string{"cloud", "scripted"}, []string{"scripted"}
	}
}

func (h *testHub) startCapture(req hearken.StartRequest) *hearken.Session {
	h.Helper()
	req.Principal, req.Capture = "local", true
	s, err := h.hub.Start(h.Context(), req)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

func TestHub_CaptureChain(t *testing.T) {
	withHub(t, func(h *testHub) {
		for provider, want := range map[string][]string{
			"": {"scripted"}, "scripted": {"scripted"}, "cloud": {"cloud"}, "cloud,scripted": {"cloud", "scripted"},
		} {
			s := h.startCapture(hearken.StartRequest{Provider: provider})
			if got := append([]string{s.Provider}, s.Config.Chain...); !slices.Equal(got, want) {
				h.Errorf("%q: %q", provider, got)
			}
			remote := h.status(s.ID).Remote
			if slices.Contains(want, "cloud") != slices.Equal(remote, []string{"cloud"}) {
				h.Errorf("%q: remote engines %q", provider, remote)
			}
		}
		if s, err := h.hub.Start(h.Context(), hearken.StartRequest{}); err != nil || s.Provider != "cloud" {
			h.Errorf("other audio: %+v, %v", s, err)
		}
	}, withCloud(stttest.Every("cloud", 2)))
}

// A capture whose offline engine fails waits for it, and no other engine gets
// its audio: not at the start, not when the engine fails, not later, not after a
// restart, and not even if its own engine no longer exists.
func TestHub_CaptureStaysOffline(t *testing.T) {
	cloud := stttest.Every("cloud", 2)
	for name, fail := range map[string]func(h *testHub){
		"Open":   func(h *testHub) { h.engine.FailOpen(1_000_000, wrongKey) },
		"Stream": func(h *testHub) { h.engine.FailAt(5, 1_000_000, errors.New("out of memory")) },
	} {
		t.Run(name, func(t *testing.T) {
			withHub(t, func(h *testHub) {
				s := h.startCapture(hearken.StartRequest{})
				fail(h)
				in := h.attach(s.ID)
				for range 100 {
					if in.Write(make([]int16, hearken.SampleRate/10)) != nil {
						break
					}
					wait(100 * time.Millisecond)
				}
				wait(time.Hour)
				h.close()
				h.open(withCloud(cloud))
				wait(time.Hour)
				h.close()
				h.open(func(c *Config) { // the engine is gone
					c.Providers, c.Chain = []hearken.Provider{cloud, offlineEngine{stttest.Every("another", 2)}}, []string{"cloud"}
					c.Captures = []string{"another"}
				})
				wait(time.Hour)
				if n := len(cloud.Opened()); n > 0 {
					h.Errorf("%d streams in the cloud", n)
				}
			}, withCloud(cloud))
		})
	}
}

func TestHub_CaptureRefused(t *testing.T) {
	withHub(t, func(h *testHub) {
		h.engine.Refuse(hearken.Errorf(hearken.ProviderNotConfigured, "The offline engine has no models yet.").WithTry("hearken models pull"))
		_, err := h.hub.Start(h.Context(), hearken.StartRequest{Capture: true})
		want := "The offline engine has no models yet. This computer's own audio goes to no other engine unless TRANSCRIPTION_PROVIDER names one." +
			" Try: hearken models pull, another DEFAULT_LANGUAGE, or TRANSCRIPTION_PROVIDER=cloud, which sends the audio to another computer"
		if hearken.CodeOf(err) != hearken.ProviderNotConfigured || err == nil {
			h.Fatalf("got %v", err)
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			h.Error(diff)
		}
		if s, err := h.hub.Start(h.Context(), hearken.StartRequest{Capture: true, Provider: "scripted,cloud"}); err != nil {
			h.Errorf("with a remote engine that was named: %v, %v", s, err)
		}
	}, withCloud(stttest.Every("cloud", 2)))
}

// Transcribing a capture again sends it nowhere either, and what comes of it is
// still this computer's own audio.
func TestHub_RetranscribeCapture(t *testing.T) {
	cloud := stttest.Every("cloud", 2)
	withHub(t, func(h *testHub) {
		s := h.startCapture(hearken.StartRequest{KeepAudio: true})
		h.send(h.attach(s.ID), 10)
		if _, err := h.hub.Stop(h.Context(), s.ID); err != nil {
			h.Fatal(err)
		}
		wait(time.Second)
		again := func(id string, req hearken.StartRequest) (*hearken.Session, error) {
			req.Principal, req.KeepAudio = "local", true
			next, err := h.hub.Retranscribe(h.Context(), id, req)
			wait(10 * time.Second)
			return next, err
		}
		for range 2 { // the capture, and then what came of it
			for _, asked := range []string{"cloud", "scripted,cloud"} {
				if _, err := again(s.ID, hearken.StartRequest{Provider: asked}); hearken.CodeOf(err) != hearken.Forbidden || !strings.Contains(err.Error(), "TRANSCRIPTION_PROVIDER=cloud") {
					h.Errorf("again with %s: %v", asked, err)
				}
			}
			next, err := again(s.ID, hearken.StartRequest{})
			if err != nil || next.Provider != "scripted" || len(next.Config.Chain) > 0 || !next.Config.Capture || !next.Config.Recorded {
				h.Fatalf("again: %+v, %v", next, err)
			}
			s = next
		}
		if n := len(cloud.Opened()); n > 0 {
			h.Errorf("%d streams in the cloud", n)
		}
		if next, err := again(s.ID, hearken.StartRequest{Provider: "cloud", Named: "cloud"}); err != nil || next.Provider != "cloud" {
			h.Errorf("with an engine that the owner named: %+v, %v", next, err)
		}
	}, withCloud(cloud))
}
