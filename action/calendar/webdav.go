package calendar

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	maxResponse  = 16 << 20 // bytes that are read of one response
	maxRedirects = 5
)

type response struct {
	status int
	header http.Header
	body   []byte
	url    *url.URL // after redirects
}

// send makes a request. It follows redirects with the same method and body, as
// WebDAV needs it, but never to another server, which must not get the
// password.
func (c *CalDAV) send(ctx context.Context, method string, u *url.URL, header map[string]string, body string) (*response, error) {
	for range maxRedirects {
		r, err := c.sendOnce(ctx, method, u, header, body)
		if err != nil {
			return nil, transportError(err, u)
		}
		switch r.status {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return r, nil
		}
		if u, err = c.resolve(u, r.header.Get("Location")); err != nil {
			return nil, err
		}
	}
	return nil, &failure{err: rejected("The calendar server %s redirects without end.", u.Host)}
}

func (c *CalDAV) sendOnce(ctx context.Context, method string, u *url.URL, header map[string]string, body string) (*response, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", "Hearken")
	if c.cfg.User != "" {
		req.SetBasicAuth(c.cfg.User, c.cfg.Password)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	return &response{resp.StatusCode, resp.Header, data, u}, nil
}

// resolve resolves a reference that the server sent. It fails if that leads to
// another server.
func (c *CalDAV) resolve(base *url.URL, ref string) (*url.URL, error) {
	u, err := base.Parse(ref)
	if err != nil || ref == "" {
		return nil, &failure{err: rejected("The calendar server %s sent an invalid URL.", base.Host)}
	}
	if origin(u) != origin(c.base) || u.User != nil {
		elsewhere := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
		return nil, &failure{err: rejected("The calendar server %s refers to another server. Hearken does not send your password there.", c.base.Host).
			WithTry("CALDAV_URL=%s, if you trust it", cleanText(elsewhere.String()))}
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// origin is the scheme, host and port of a URL.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// multistatus is the response to PROPFIND and REPORT.
type multistatus struct {
	XMLName xml.Name `xml:"DAV: multistatus"`
	Entries []entry  `xml:"DAV: response"`
}

type entry struct {
	Href  string `xml:"DAV: href"`
	Found []struct {
		Status string `xml:"DAV: status"`
		Prop   props  `xml:"DAV: prop"`
	} `xml:"DAV: propstat"`
}

type props struct {
	Type struct {
		Calendar *struct{} `xml:"urn:ietf:params:xml:ns:caldav calendar"`
	} `xml:"DAV: resourcetype"`
	Name      string `xml:"DAV: displayname"`
	Principal string `xml:"DAV: current-user-principal>href"`
	Home      struct {
		Href string `xml:"DAV: href"`
	} `xml:"urn:ietf:params:xml:ns:caldav calendar-home-set"`
	Kinds *struct {
		List []struct {
			Name string `xml:"name,attr"`
		} `xml:"urn:ietf:params:xml:ns:caldav comp"`
	} `xml:"urn:ietf:params:xml:ns:caldav supported-calendar-component-set"`
	Rights *struct {
		List []privilege `xml:"DAV: privilege"`
	} `xml:"DAV: current-user-privilege-set"`
	Data string `xml:"urn:ietf:params:xml:ns:caldav calendar-data"`
}

type privilege struct {
	All   *struct{} `xml:"DAV: all"`
	Write *struct{} `xml:"DAV: write"`
	Bind  *struct{} `xml:"DAV: bind"`
}

// props are the properties that the server found.
func (e entry) props() props {
	for _, f := range e.Found {
		if strings.Contains(f.Status, " 200") {
			return f.Prop
		}
	}
	return props{}
}

const propfind = `<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop>
<D:resourcetype/><D:displayname/><D:current-user-principal/><D:current-user-privilege-set/>
<C:calendar-home-set/><C:supported-calendar-component-set/>
</D:prop></D:propfind>`

// queryEntries sends a PROPFIND or REPORT. It returns the entries of the
// response, and the URL that their references are relative to.
func (c *CalDAV) queryEntries(ctx context.Context, method string, u *url.URL, depth, body string) ([]entry, *url.URL, error) {
	r, err := c.send(ctx, method, u, map[string]string{"Depth": depth, "Content-Type": "application/xml; charset=utf-8"}, body)
	if err != nil {
		return nil, nil, err
	}
	if r.status != http.StatusMultiStatus {
		return nil, nil, statusError(r)
	}
	var m multistatus
	if err := xml.NewDecoder(bytes.NewReader(r.body)).Decode(&m); err != nil {
		f := &failure{status: r.status, err: rejected("The calendar server %s sent a response that cannot be read.", r.url.Host)}
		f.err.Err = err // not in the sentence: it repeats what the server wrote
		return nil, nil, f
	}
	return m.Entries, r.url, nil
}
