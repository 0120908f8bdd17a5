package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
)

// page holds the files that the browser loads. There is no build step.
//
//go:embed page
var page embed.FS

// serveFiles registers the page and its files.
func (h *Handler) serveFiles() {
	list, err := fs.ReadDir(page, "page")
	if err != nil {
		panic(err) // the files are part of the binary
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
		kind := contentTypes[path.Ext(file.Name())]
		h.mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(content) // the browser may have gone
		})
	}
	h.mux.Handle("GET /approvals/{$}", http.RedirectHandler("/approvals", http.StatusMovedPermanently))
}

// contentTypes replaces the system's tables, which may be wrong: browsers run a
// script only if its type is right.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// policy lets the page load its own files and talk to its own hub. Trusted Types
// make the browser refuse to parse any text as HTML, whatever the page's code
// does. Without form-action, a page whose script did not load cannot put a PIN
// into a URL.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// setSecurityHeaders sets the headers of every response.
func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), clipboard-read=()")
}
