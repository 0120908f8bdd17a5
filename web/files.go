package web

import (
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

// page is what the browser loads, as it was written: there is no build step.
//
//go:embed page
var page embed.FS

// files serves the page and what belongs to it.
func (h *Handler) files() {
	list, err := fs.ReadDir(page, "page")
	if err != nil {
		panic(err) // it is part of the binary
	}
	for _, file := range list {
		content, err := fs.ReadFile(page, "page/"+file.Name())
		if err != nil {
			panic(err)
		}
		at := "/approvals/" + file.Name()
		if file.Name() == "index.html" {
			at = "/approvals"
		}
		kind := contentType(file.Name())
		h.mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(content) // a browser that has gone needs none
		})
	}
	h.mux.Handle("GET /approvals/{$}", http.RedirectHandler("/approvals", http.StatusMovedPermanently))
}

// contentType does not ask the computer's own tables, which may be wrong:
// browsers run no script that is not called one.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}
