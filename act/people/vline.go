package people

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"mime/quotedprintable"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// maxFile bounds a file; with pictures a large address book has some
	// hundred megabytes.
	maxFile = 512 << 20
	// maxLine is what is kept of a line. Only pictures are longer, and those
	// are not looked at.
	maxLine = 16 << 10
	// maxHead is what a line may have in front of its colon.
	maxHead = 1 << 10
)

// lines reads a file of vCards line by line, as they were before they were
// folded.
type lines struct {
	r      *bufio.Reader
	left   int64
	number int    // of the last line that was read
	ahead  []byte // a line that was read to see whether it goes on
	has    bool
}

// newLines knows the marks of UTF-8 and UTF-16 at the beginning of a file.
func newLines(r io.Reader) *lines {
	decoded := transform.NewReader(r, unicode.BOMOverride(transform.Nop))
	return &lines{r: bufio.NewReader(decoded), left: maxFile}
}

// raw reads a line as it stands, whichever way it ends.
func (l *lines) raw() ([]byte, error) {
	if l.has {
		l.has = false
		return l.ahead, nil
	}
	var out []byte
	for n := 0; ; n++ {
		b, err := l.r.ReadByte()
		if err == io.EOF && n > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if l.left--; l.left < 0 {
			return nil, hearken.Errorf(hearken.Invalid, "The file is larger than %d MB.", maxFile>>20)
		}
		if b == '\r' {
			if next, err := l.r.Peek(1); err == nil && next[0] == '\n' {
				continue
			}
			break // as old telephones end lines
		}
		if b == '\n' {
			break
		}
		if len(out) < maxLine {
			out = append(out, b)
		}
	}
	l.number++
	return out, nil
}

// next reads a line with what was folded behind it.
func (l *lines) next() (line, error) {
	for {
		b, err := l.raw()
		if err != nil {
			return line{}, err
		}
		at := l.number
		out, ok := parseLine(b)
		for {
			more, err := l.raw()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return line{}, err
			}
			soft := ok && out.encoding() == "QUOTED-PRINTABLE" && bytes.HasSuffix(out.value, []byte("="))
			folded := len(more) > 0 && (more[0] == ' ' || more[0] == '\t')
			if !soft && !folded {
				l.ahead, l.has = more, true
				break
			}
			if soft {
				// The = at the end of a line is no part of the value, and in
				// this encoding nothing else folds it.
				out.value = out.value[:len(out.value)-1]
				more = bytes.TrimLeft(more, " \t")
			} else {
				more = more[1:]
			}
			if room := maxLine - len(out.value); len(more) > room {
				more = more[:max(room, 0)]
			}
			if ok {
				out.value = append(out.value, more...)
			} else if len(b) < maxHead { // folded within its parameters
				b = append(b, more...)
				out, ok = parseLine(b)
			}
		}
		if ok {
			out.at = at
			return out, nil
		}
	}
}

// A line is a property: item1.EMAIL;TYPE=INTERNET,HOME:bob@example.org
type line struct {
	name   string
	params []string // in capitals: TYPE=HOME, or HOME as in version 2.1
	value  []byte
	at     int // its number in the file
}

// parseLine takes a line apart. It reports false for what is no property.
func parseLine(b []byte) (line, bool) {
	head, value, ok := cutUnquoted(b)
	if !ok {
		return line{}, false
	}
	fields := strings.Split(strings.ToUpper(head), ";")
	name := strings.TrimSpace(fields[0])
	if _, bare, ok := strings.Cut(name, "."); ok {
		name = bare // the group that it belongs to says nothing here
	}
	out := line{name: name, value: bytes.Clone(value)}
	for _, f := range fields[1:] {
		out.params = append(out.params, strings.ReplaceAll(strings.TrimSpace(f), `"`, ""))
	}
	return out, name != ""
}

// cutUnquoted cuts at the first colon outside of quotes.
func cutUnquoted(b []byte) (string, []byte, bool) {
	quoted := false
	for i, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ':' && !quoted:
			return string(b[:i]), b[i+1:], true
		}
	}
	return "", nil, false
}

func (l line) is(name, value string) bool {
	return l.name == name && strings.EqualFold(strings.TrimSpace(string(l.value)), value)
}

// param reports whether the line is of a type, however it is written.
func (l line) param(want string) bool {
	for _, p := range l.params {
		p = strings.TrimPrefix(p, "TYPE=")
		for of := range strings.SplitSeq(p, ",") {
			if strings.TrimSpace(of) == want {
				return true
			}
		}
	}
	return false
}

// of is the value of a parameter.
func (l line) of(name string) string {
	for _, p := range l.params {
		if v, ok := strings.CutPrefix(p, name+"="); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// pref is how much the value is preferred: 1 is the most.
func (l line) pref() int {
	if n, err := strconv.Atoi(l.of("PREF")); err == nil && n >= 1 && n <= 100 {
		return n
	}
	if l.param("PREF") {
		return 1
	}
	return math.MaxInt32
}

// encoding is how the value is written, by its usual name.
func (l line) encoding() string {
	switch e := l.of("ENCODING"); {
	case e == "QUOTED-PRINTABLE" || e == "Q" || l.param("QUOTED-PRINTABLE"):
		return "QUOTED-PRINTABLE"
	case e == "B" || e == "BASE64" || l.param("BASE64"):
		return "BASE64"
	}
	return ""
}

// text is the value in UTF-8, still escaped.
func (l line) text() string {
	b := l.value
	switch l.encoding() {
	case "QUOTED-PRINTABLE":
		// Broken ends are common; what was read before them is good.
		b, _ = io.ReadAll(quotedprintable.NewReader(bytes.NewReader(b)))
	case "BASE64":
		b, _ = io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(bytes.ReplaceAll(b, []byte(" "), nil))))
	}
	if name := l.of("CHARSET"); name != "" && name != "UTF-8" {
		if set, err := htmlindex.Get(name); err == nil {
			if out, err := set.NewDecoder().Bytes(b); err == nil {
				b = out
			}
		}
	}
	if !utf8.Valid(b) {
		b, _ = charmap.Windows1252.NewDecoder().Bytes(b)
	}
	return string(b)
}

// plain is the value as one text.
func (l line) plain(old bool) string { return strings.TrimSpace(unescape(l.text(), old)) }

// parts are the texts between unescaped separators.
func (l line) parts(separator byte, old bool) []string {
	var out []string
	text := l.text()
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case separator:
			out = append(out, strings.TrimSpace(unescape(text[from:i], old)))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(unescape(text[min(from, len(text)):], old)))
}

var (
	escapes    = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\:`, ":")
	oldEscapes = strings.NewReplacer(`\;`, ";", `\,`, ",", `\:`, ":")
)

func unescape(s string, old bool) string {
	if old {
		return oldEscapes.Replace(s)
	}
	return escapes.Replace(s)
}
