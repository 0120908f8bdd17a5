package calendar

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/hearken-dev/hearken"
)

const (
	mostAnswer    = 16 << 20 // bytes of an answer that are read
	mostRedirects = 5
)

// An answer is what a server said, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
	url    *url.URL // of what answered
}

// send asks the server for something. It follows redirects with the same
// method and body, as WebDAV needs it, but never to another server: the
// password is for this one alone.
func (c *CalDAV) send(ctx context.Context, method string, u *url.URL, header map[string]string, body string) (*answer, error) {
	for range mostRedirects {
		a, err := c.sendOnce(ctx, method, u, header, body)
		if err != nil {
			return nil, unreachable(err, u)
		}
		switch a.status {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return a, nil
		}
		if u, err = c.resolve(u, a.header.Get("Location")); err != nil {
			return nil, err
		}
	}
	return nil, &failure{err: rejected("The calendar server %s sends from one address to the next without end.", u.Host)}
}

func (c *CalDAV) sendOnce(ctx context.Context, method string, u *url.URL, header map[string]string, body string) (*answer, error) {
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
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, err
	}
	return &answer{resp.StatusCode, resp.Header, data, u}, nil
}

// resolve is an address that the server named, which has to be on the same
// server.
func (c *CalDAV) resolve(base *url.URL, ref string) (*url.URL, error) {
	u, err := base.Parse(ref)
	if err != nil || ref == "" {
		return nil, &failure{err: rejected("The calendar server %s names an address that cannot be read.", base.Host)}
	}
	if origin(u) != origin(c.base) || u.User != nil {
		place := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
		return nil, &failure{err: rejected("The calendar server %s points to another server, which does not get the password unasked.", c.base.Host).
			WithTry("CALDAV_URL=%s, if you trust it", plain(place.String()))}
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// origin is the server of an address, its port always named.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// The answer to PROPFIND and REPORT.
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
		List []right `xml:"DAV: privilege"`
	} `xml:"DAV: current-user-privilege-set"`
	Data string `xml:"urn:ietf:params:xml:ns:caldav calendar-data"`
}

type right struct {
	All   *struct{} `xml:"DAV: all"`
	Write *struct{} `xml:"DAV: write"`
	Bind  *struct{} `xml:"DAV: bind"`
}

// props is what the server knows of an entry.
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

// ask sends a PROPFIND or REPORT and reads the list that answers it, with the
// address that it is about.
func (c *CalDAV) ask(ctx context.Context, method string, u *url.URL, depth, body string) ([]entry, *url.URL, error) {
	a, err := c.send(ctx, method, u, map[string]string{"Depth": depth, "Content-Type": "application/xml; charset=utf-8"}, body)
	if err != nil {
		return nil, nil, err
	}
	if a.status != http.StatusMultiStatus {
		return nil, nil, refusal(a)
	}
	var m multistatus
	if err := xml.NewDecoder(bytes.NewReader(a.body)).Decode(&m); err != nil {
		return nil, nil, &failure{status: a.status, err: hearken.Errorf(hearken.ProviderRejected, "The calendar server %s answered with something that cannot be read: %w", a.url.Host, err)}
	}
	return m.Entries, a.url, nil
}
