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
	// minBytesPerSecond is how fast a client must send on average.
	minBytesPerSecond = 64 << 10
	// maxDiscard is how much of a refused upload is still read.
	maxDiscard = 256 << 20
)

// A form is what a client sent.
type form struct {
	path       string // of the file; empty if there was none
	name       string // the client's name for it
	size       int64
	fields     map[string][]string
	fieldBytes int // bytes of the fields
}

// remove deletes the file. The form may be nil.
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

// receive reads the request. The form is not nil if there is a file to remove.
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

// parts reads all parts of the form.
func (h *Handler) parts(reader *multipart.Reader, f *form) error {
	for n := 0; ; n++ {
		part, err := reader.NextPart()
		if err == io.EOF { // a form that was cut off has a wrapped EOF
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
			if err := h.saveFile(part, f); err != nil {
				return err
			}
		default:
			if err := f.add(name, part); err != nil {
				return err
			}
		}
	}
}

// formError converts an error of the form, unless it is too large.
func formError(err error) error {
	if errors.Is(err, errTooLarge) {
		return err
	}
	return notForm(err)
}

// add reads a field. Lists are written as name, name[] or name[0].
func (f *form) add(name string, r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, maxField+1))
	if err != nil {
		return formError(err)
	}
	if f.fieldBytes += len(b); f.fieldBytes > maxForm {
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

// saveFile writes the recording to a temporary file that only this user can
// read.
func (h *Handler) saveFile(part *multipart.Part, f *form) (err error) {
	if h.cfg.TempDir != "" {
		if err := os.MkdirAll(h.cfg.TempDir, 0o700); err != nil {
			return fmt.Errorf("make directory for uploads: %w", err)
		}
	}
	file, err := os.CreateTemp(h.cfg.TempDir, tempPattern)
	if err != nil {
		return fmt.Errorf("save upload: %w", err)
	}
	f.path, f.name = file.Name(), part.FileName()
	defer func() {
		if e := file.Close(); e != nil && err == nil {
			err = fmt.Errorf("save upload: %w", e)
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, readErr := part.Read(buf)
		if f.size += int64(n); f.size > h.cfg.MaxBytes {
			return errTooLarge
		}
		if _, err := file.Write(buf[:n]); err != nil {
			return fmt.Errorf("save upload: %w", err)
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return formError(readErr)
		}
	}
}

// A body is a request's body with limits on size and time.
type body struct {
	io.ReadCloser
	control         *http.ResponseController
	readTimeout     time.Duration // for each read
	expectsContinue bool          // the client sends only when the body is read
	left            int64
	deadline        time.Time
	err             error // of the connection
}

func (h *Handler) newBody(w http.ResponseWriter, r *http.Request) *body {
	limit := h.cfg.MaxBytes + maxForm
	return &body{
		ReadCloser: r.Body, control: http.NewResponseController(w), readTimeout: h.readTimeout, left: limit,
		expectsContinue: r.Header.Get("Expect") != "",
		deadline:        time.Now().Add(h.readTimeout + time.Duration(limit/minBytesPerSecond)*time.Second),
	}
}

func (b *body) Read(p []byte) (int, error) {
	b.expectsContinue = false
	next := time.Now().Add(b.readTimeout)
	if next.After(b.deadline) {
		next = b.deadline
	}
	_ = b.control.SetReadDeadline(next) // not every writer can
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

// drain reads the rest of a refused request. A client that reads the answer
// only after it has sent everything then gets one, and no broken connection.
func (b *body) drain() {
	if b.expectsContinue || b.err != nil {
		return
	}
	b.left, b.deadline = maxDiscard, time.Now().Add(b.readTimeout)
	_, _ = io.Copy(io.Discard, b)
}

// done removes the deadline: the server keeps reading to notice when the client
// hangs up.
func (b *body) done() { _ = b.control.SetReadDeadline(time.Time{}) }
