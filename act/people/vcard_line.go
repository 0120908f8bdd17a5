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
	// maxFile is the largest file in bytes. With pictures, a large address book
	// has some hundred megabytes.
	maxFile = 512 << 20
	// maxLine is how much of a line is read. Only pictures are longer, and
	// those are ignored.
	maxLine = 16 << 10
	// maxHead is the longest part before a line's colon.
	maxHead = 1 << 10
)

// A lineReader reads the lines of a vCard file and joins folded ones.
type lineReader struct {
	r      *bufio.Reader
	left   int64
	number int    // of the last line that was read
	ahead  []byte // a line read ahead to see whether it continues the last one
	has    bool   // whether ahead holds a line
}

// newLineReader decodes files that begin with a UTF-8 or UTF-16 byte order mark.
func newLineReader(r io.Reader) *lineReader {
	decoded := transform.NewReader(r, unicode.BOMOverride(transform.Nop))
	return &lineReader{r: bufio.NewReader(decoded), left: maxFile}
}

// readRaw reads one physical line, however it ends.
func (l *lineReader) readRaw() ([]byte, error) {
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
			break // old phones end lines with \r alone
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

// next reads a property and joins its folded lines.
func (l *lineReader) next() (vcardLine, error) {
	for {
		b, err := l.readRaw()
		if err != nil {
			return vcardLine{}, err
		}
		at := l.number
		out, ok := parseLine(b)
		for {
			more, err := l.readRaw()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return vcardLine{}, err
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

// A vcardLine is one property: item1.EMAIL;TYPE=INTERNET,HOME:bob@example.org
type vcardLine struct {
	name   string
	params []string // in upper case: TYPE=HOME, or HOME as in version 2.1
	value  []byte
	at     int // its number in the file
}

// parseLine splits a line into its parts. It returns false if it is not a
// property.
func parseLine(b []byte) (vcardLine, bool) {
	head, value, ok := cutUnquoted(b)
	if !ok {
		return vcardLine{}, false
	}
	fields := strings.Split(strings.ToUpper(head), ";")
	name := strings.TrimSpace(fields[0])
	if _, bare, ok := strings.Cut(name, "."); ok {
		name = bare // the group does not matter here
	}
	out := vcardLine{name: name, value: bytes.Clone(value)}
	for _, f := range fields[1:] {
		out.params = append(out.params, strings.ReplaceAll(strings.TrimSpace(f), `"`, ""))
	}
	return out, name != ""
}

// cutUnquoted splits at the first colon outside of quotes.
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

func (l vcardLine) is(name, value string) bool {
	return l.name == name && strings.EqualFold(strings.TrimSpace(string(l.value)), value)
}

// hasType reports whether the line has a type, in any notation.
func (l vcardLine) hasType(want string) bool {
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

// paramValue returns the value of a parameter.
func (l vcardLine) paramValue(name string) string {
	for _, p := range l.params {
		if v, ok := strings.CutPrefix(p, name+"="); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// pref returns how much the value is preferred: 1 is the highest.
func (l vcardLine) pref() int {
	if n, err := strconv.Atoi(l.paramValue("PREF")); err == nil && n >= 1 && n <= 100 {
		return n
	}
	if l.hasType("PREF") {
		return 1
	}
	return math.MaxInt32
}

// encoding returns the name of the value's encoding; empty if it has none.
func (l vcardLine) encoding() string {
	switch e := l.paramValue("ENCODING"); {
	case e == "QUOTED-PRINTABLE" || e == "Q" || l.hasType("QUOTED-PRINTABLE"):
		return "QUOTED-PRINTABLE"
	case e == "B" || e == "BASE64" || l.hasType("BASE64"):
		return "BASE64"
	}
	return ""
}

// text returns the value in UTF-8, still escaped.
func (l vcardLine) text() string {
	b := l.value
	switch l.encoding() {
	case "QUOTED-PRINTABLE":
		// Broken ends are common; what was read before them is valid.
		b, _ = io.ReadAll(quotedprintable.NewReader(bytes.NewReader(b)))
	case "BASE64":
		b, _ = io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(bytes.ReplaceAll(b, []byte(" "), nil))))
	}
	if name := l.paramValue("CHARSET"); name != "" && name != "UTF-8" {
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

// plain returns the value as one unescaped text.
func (l vcardLine) plain(old bool) string { return strings.TrimSpace(unescape(l.text(), old)) }

// parts returns the texts between unescaped separators.
func (l vcardLine) parts(separator byte, old bool) []string {
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
