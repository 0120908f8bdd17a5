package upload

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	maxField  = 64 << 10 // bytes of one field
	maxFields = 256
	maxForm   = 1 << 20 // bytes of everything but the file
	// slowest is how many bytes per second a client must send on the whole.
	slowest = 64 << 10
	// politely is how much of an upload that is refused is still read.
	politely = 256 << 20
)

// A form is what a client sent.
type form struct {
	path   string // of the file; empty if there was none
	name   string // as the client calls it
	size   int64
	fields map[string][]string
	held   int // bytes of the fields
}

// remove deletes the file. It works on nil too.
func (f *form) remove(log *slog.Logger) {
	if f == nil || f.path == "" {
		return
	}
	if err := os.Remove(f.path); err != nil {
		log.Warn("upload not removed", "err", err)
	}
}

// value is the last value of a field, without space around it.
func (f *form) value(name string) string {
	v := f.fields[name]
	if len(v) == 0 {
		return ""
	}
	return strings.TrimSpace(v[len(v)-1])
}

// receive reads the request. The form is not nil if a file was begun.
func (h *Handler) receive(r *http.Request, b *body) (*form, error) {
	if r.ContentLength > h.cfg.MaxBytes+maxForm {
		return nil, h.tooLarge()
	}
	r.Body = b // the multipart reader looks here
	reader, err := r.MultipartReader()
	if err != nil {
		return nil, notForm(err)
	}
	f := &form{fields: map[string][]string{}}
	err = h.parts(reader, f)
	if err == nil {
		_, err = io.Copy(io.Discard, b) // so that the server notices when the client hangs up
	}
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, errTooLarge):
		return f, h.tooLarge()
	case errors.Is(b.err, os.ErrDeadlineExceeded):
		slow := invalid("file", "request_timeout", "The upload took too long.")
		slow.status = http.StatusRequestTimeout
		return f, slow
	case b.err != nil:
		return f, invalid("", "", "The upload was cut off.")
	}
	return f, err
}

func notForm(err error) error {
	return invalid("", "", "Could not parse multipart form: %v. Send the recording as multipart/form-data.", err)
}

var errTooLarge = errors.New("too large")

func (h *Handler) tooLarge() *failure {
	f := invalid("file", "file_too_large", "Maximum content size limit (%d) exceeded.", h.cfg.MaxBytes)
	f.status = http.StatusRequestEntityTooLarge
	return f
}

// parts takes one part after the other.
func (h *Handler) parts(reader *multipart.Reader, f *form) error {
	for n := 0; ; n++ {
		part, err := reader.NextPart()
		if err == io.EOF { // it wraps the one of a form that was cut off
			return nil
		}
		if err != nil {
			return formError(err)
		}
		name := part.FormName()
		switch {
		case n >= maxFields:
			return invalid("", "", "The form has more than %d fields.", maxFields)
		case name == "file" && f.path != "":
			return invalid("file", "", "One recording at a time: there are two files.")
		case name == "file":
			if err := h.keep(part, f); err != nil {
				return err
			}
		default:
			if err := f.add(name, part); err != nil {
				return err
			}
		}
	}
}

// formError tells a form that is wrong from one that is too large.
func formError(err error) error {
	if errors.Is(err, errTooLarge) {
		return err
	}
	return notForm(err)
}

// add takes a field. Lists are written as name, name[] or name[0].
func (f *form) add(name string, r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, maxField+1))
	if err != nil {
		return formError(err)
	}
	if f.held += len(b); f.held > maxForm {
		return invalid("", "", "The fields of the form have more than %d bytes.", maxForm)
	}
	if open := strings.LastIndexByte(name, '['); open > 0 && strings.HasSuffix(name, "]") &&
		strings.Trim(name[open+1:len(name)-1], "0123456789") == "" {
		name = name[:open]
	}
	if len(b) > maxField {
		return invalid(name, "", "The field %.60s has more than %d bytes.", name, maxField)
	}
	f.fields[name] = append(f.fields[name], string(b))
	return nil
}

// keep writes the recording to a file of its own, which nobody else can read.
func (h *Handler) keep(part *multipart.Part, f *form) (err error) {
	if h.cfg.TempDir != "" {
		if err := os.MkdirAll(h.cfg.TempDir, 0o700); err != nil {
			return fmt.Errorf("make directory for uploads: %w", err)
		}
	}
	file, err := os.CreateTemp(h.cfg.TempDir, tempPattern)
	if err != nil {
		return fmt.Errorf("keep upload: %w", err)
	}
	f.path, f.name = file.Name(), part.FileName()
	defer func() {
		if e := file.Close(); e != nil && err == nil {
			err = fmt.Errorf("keep upload: %w", e)
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, readErr := part.Read(buf)
		if f.size += int64(n); f.size > h.cfg.MaxBytes {
			return errTooLarge
		}
		if _, err := file.Write(buf[:n]); err != nil {
			return fmt.Errorf("keep upload: %w", err)
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return formError(readErr)
		}
	}
}

// A body is a request's body, bounded in size and time.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	within  time.Duration // for each read
	waits   bool          // the client sends only when it is read
	left    int64
	end     time.Time
	err     error // of the connection
}

func (h *Handler) newBody(w http.ResponseWriter, r *http.Request) *body {
	limit := h.cfg.MaxBytes + maxForm
	return &body{
		ReadCloser: r.Body, control: http.NewResponseController(w), within: h.patience, left: limit,
		waits: r.Header.Get("Expect") != "",
		end:   time.Now().Add(h.patience + time.Duration(limit/slowest)*time.Second),
	}
}

func (b *body) Read(p []byte) (int, error) {
	b.waits = false
	deadline := time.Now().Add(b.within)
	if deadline.After(b.end) {
		deadline = b.end
	}
	_ = b.control.SetReadDeadline(deadline) // not every writer can
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), max(1, b.left))])
	if n > 0 && b.left <= 0 {
		return 0, errTooLarge
	}
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// drain reads what is left of a request that is refused. A client that looks
// at the answer only when it has sent everything sees one then, and no broken
// connection.
func (b *body) drain() {
	if b.waits || b.err != nil {
		return
	}
	b.left, b.end = politely, time.Now().Add(b.within)
	_, _ = io.Copy(io.Discard, b)
}

// done takes the deadline off: the server goes on reading to notice when the
// client hangs up.
func (b *body) done() { _ = b.control.SetReadDeadline(time.Time{}) }
