//go:build accept

package accept

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

//go:embed recorder.html
var recorder []byte

// TestBrowser has Chromium record from a microphone, which plays a recording,
// and stream it while it records. The page comes from the hub's public address
// by way of a proxy; the same page from another address must be refused.
func TestBrowser(t *testing.T) {
	root := engine(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("no Chromium: %v", err)
	}
	var proxy http.Handler
	own := serve(t, &proxy)
	h := hubtest.Start(t, "HEARKEN_MODELS="+root, "PUBLIC_URL="+own.URL)
	hub, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(hub)
		r.Out.Host = r.In.Host
	}}

	t.Run("Own", func(t *testing.T) {
		session := start(t, h)
		if !strings.HasPrefix(session.WSEndpoint, "ws"+strings.TrimPrefix(own.URL, "http")) {
			t.Errorf("wsEndpoint %s, public address %s", session.WSEndpoint, own.URL)
		}
		r := browse(t, chromium, own, own.URL+"/mcp", session.WSEndpoint)
		if r.Error != "" || r.MCP.Status != http.StatusOK || r.Closed.Code != 1000 {
			t.Errorf("error %q, MCP %+v, closed %+v", r.Error, r.MCP, r.Closed)
		}
		final, partials := "", 0
		for _, f := range r.Frames {
			switch f.Type {
			case "final":
				final += " " + f.Text
			case "partial":
				partials++
			case "error":
				t.Errorf("error frame: %s", f.Message)
			}
		}
		if !strings.Contains(plain(final), theWords) || partials == 0 {
			t.Errorf("%d partial frames, and the transcript is %q", partials, final)
		}
		var status struct {
			Status   string
			Duration float64
			Config   struct{ Encoding string }
		}
		if err := h.Call(t.Context(), "get_session_status", map[string]any{"sessionId": session.SessionID}, &status); err != nil {
			t.Fatal(err)
		}
		if status.Status != "stopped" || status.Duration < recordSeconds-1 || status.Duration > recordSeconds+1 {
			t.Errorf("%+v after %d s of recording", status, recordSeconds)
		}
		t.Logf("%d bytes of WebM, %d partial frames, %.2f s as %s; transcript:%s", r.Sent, partials, status.Duration, status.Config.Encoding, final)
	})
	t.Run("Reloaded", func(t *testing.T) {
		session := start(t, h)
		first := browse(t, chromium, own, own.URL+"/mcp", session.WSEndpoint, "leave")
		if first.Error != "" || first.Closed.Code != 1005 {
			t.Errorf("the first page: error %q, closed %+v", first.Error, first.Closed)
		}
		second := browse(t, chromium, own, own.URL+"/mcp", session.WSEndpoint)
		if second.Error != "" || second.Closed.Code != 1000 {
			t.Errorf("the second page: error %q, closed %+v, frames %+v", second.Error, second.Closed, second.Frames)
		}
		var page struct{ Segments []struct{ Text string } }
		if err := h.Call(t.Context(), "get_transcription", map[string]any{"sessionId": session.SessionID}, &page); err != nil {
			t.Fatal(err)
		}
		transcript := ""
		for _, s := range page.Segments {
			transcript += " " + s.Text
		}
		if strings.Count(plain(transcript), theWords) != 2 {
			t.Errorf("said twice, and the transcript is %q", transcript)
		}
	})
	t.Run("Foreign", func(t *testing.T) {
		session := start(t, h)
		endpoint := strings.Replace(session.WSEndpoint, strings.TrimPrefix(own.URL, "http://"), hub.Host, 1)
		r := browse(t, chromium, serve(t, nil), h.URL+"/mcp", endpoint)
		if r.MCP.Error == "" || strings.Contains(r.MCP.Text, "start_transcription") {
			t.Errorf("a foreign page was answered: %+v", r.MCP)
		}
		if len(r.Frames) > 0 || r.Closed.Code != 1006 {
			t.Errorf("a foreign page with a ticket got %v, closed %+v", r.Frames, r.Closed)
		}
		if err := h.Call(t.Context(), "stop_transcription", map[string]any{"sessionId": session.SessionID}, nil); err != nil {
			t.Error(err)
		}
	})
}

const recordSeconds = 14 // the recording and some silence

type session struct{ SessionID, WSEndpoint string }

func start(t *testing.T, h *hubtest.Hub) (s session) {
	t.Helper()
	if err := h.Call(t.Context(), "start_transcription", map[string]any{"language": "en"}, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A site serves the page and takes its report. What is not its own goes to
// the handler, if there is one.
type site struct {
	*httptest.Server
	reports chan report
}

// A report is what the page saw.
type report struct {
	Error  string
	Sent   int
	Frames []struct{ Type, Text, Message string }
	Closed struct {
		Code   int
		Reason string
	}
	MCP struct {
		Status      int
		Text, Error string
	}
}

func serve(t *testing.T, rest *http.Handler) *site {
	s := &site{reports: make(chan report, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /recorder.html", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(recorder)
	})
	mux.HandleFunc("POST /report", func(w http.ResponseWriter, r *http.Request) {
		var rep report
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &rep)
		}
		if err != nil {
			t.Errorf("report: %v in %s", err, body)
		}
		s.reports <- rep
	})
	if rest != nil {
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			// Go's proxy drops an answer that comes before it has seen the end
			// of the request, so it is given the whole request.
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Errorf("request of the page: %v", err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			(*rest).ServeHTTP(w, r)
		})
	}
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// browse opens the page in a fresh browser and waits for its report.
func browse(t *testing.T, chromium string, s *site, mcp, endpoint string, leave ...string) report {
	t.Helper()
	fragment := url.Values{"endpoint": {endpoint}, "mcp": {mcp}, "seconds": {strconv.Itoa(recordSeconds)}, "leave": leave}
	home := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
		"--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
		"--use-file-for-fake-audio-capture="+recording(t, spoken)+"%noloop",
		"--user-data-dir="+home, s.URL+"/recorder.html#"+fragment.Encode())
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		cmd.Wait()
	}()
	select {
	case r := <-s.reports:
		return r
	case <-ctx.Done():
		t.Fatal("the page did not report within a minute")
	}
	return report{}
}
