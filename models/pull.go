package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Options say what [Pull] fetches and how.
type Options struct {
	Root  string   // where to; empty for [Root]
	Names []string // what, as [List] names it; empty for the English default
	From  string   // a directory, an archive or a URL instead of npm

	Progress func(Step) // may be nil; called from one goroutine at a time

	// After is called with the directory of each requested speech model once
	// its files are complete, even if they were before. It makes the files that
	// are derived from them, and should return at once if they exist.
	After func(dir string) error

	components []component // for tests; the registry otherwise
}

// Pull fetches what is missing. It may be interrupted at any time: each file is
// complete and verified or absent, and the next pull continues from there.
func Pull(ctx context.Context, o Options) error {
	if o.Root == "" {
		var err error
		if o.Root, err = Root(); err != nil {
			return err
		}
	}
	if o.Progress == nil {
		o.Progress = func(Step) {}
	}
	if o.components == nil {
		o.components = registry()
	}
	chosen, err := chooseComponents(o.components, o.Names)
	if err != nil {
		return err
	}
	release, err := lock(ctx, o.Root, func() { o.Progress(Step{Name: "another pull is running", State: Waiting}) })
	if err != nil {
		return err
	}
	defer release()

	work, err := o.workDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := o.fetchComponents(ctx, work, chosen); err != nil {
		return err
	}
	return o.prepare(ctx, chosen)
}

// chooseComponents finds the named components, and those that every model needs.
func chooseComponents(all []component, names []string) ([]component, error) {
	for _, name := range names {
		if !slices.ContainsFunc(all, func(c component) bool { return c.name == name }) {
			var known []string
			for _, c := range all {
				known = append(known, c.name)
			}
			return nil, hearken.Errorf(hearken.Invalid, "There is no %q; there are %s.", name, strings.Join(known, ", "))
		}
	}
	var chosen []component
	for _, c := range all {
		if !c.isMoonshine() || slices.Contains(names, c.name) || len(names) == 0 && !c.optional {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// workDir is an empty directory beside the models. It removes what an
// interrupted pull left; the lock says that nobody uses it.
func (o Options) workDir() (string, error) {
	for _, pattern := range []string{".pull-*", "*/.new-*", "*/*/.new-*"} {
		old, _ := filepath.Glob(filepath.Join(o.Root, filepath.FromSlash(pattern)))
		for _, path := range old {
			os.RemoveAll(path)
		}
	}
	dir, err := os.MkdirTemp(o.Root, ".pull-*")
	if err != nil {
		return "", fmt.Errorf("make work directory: %w", err)
	}
	return dir, nil
}

func (o Options) fetchComponents(ctx context.Context, work string, chosen []component) error {
	var want []file
	var packages []pkg
	for _, c := range chosen {
		for _, f := range c.files {
			if verifyFile(o.Root, f) == nil {
				continue
			}
			want = append(want, f)
			if !slices.Contains(packages, f.pkg) {
				packages = append(packages, f.pkg)
			}
		}
	}
	if len(want) == 0 {
		o.Progress(Step{Name: "models", State: Present})
		return nil
	}
	if o.From != "" {
		return o.fetchFrom(ctx, work, want)
	}
	for i, p := range packages {
		files := slices.DeleteFunc(slices.Clone(want), func(f file) bool { return f.pkg != p })
		if err := o.fetchPackage(ctx, filepath.Join(work, fmt.Sprint(i)), p, files); err != nil {
			return err
		}
	}
	return nil
}

func (o Options) fetchPackage(ctx context.Context, dir string, p pkg, want []file) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make work directory: %w", err)
	}
	defer os.RemoveAll(dir) // npm's cache is as large as the package
	step := Step{Name: p.spec(), Total: p.size, State: Started}
	o.Progress(step)
	step.State = Moving
	tarball, err := npmPack(ctx, dir, p, func(n int64) {
		step.Done = min(n, p.size)
		o.Progress(step)
	})
	if err == nil {
		err = install(o.Root, want, tarball, p.spec())
	}
	return o.reportEnd(step, err)
}

// reportEnd reports the end of a step and returns its error.
func (o Options) reportEnd(step Step, err error) error {
	step.Done, step.State = step.Total, Finished
	if err != nil {
		step.State = Failed
	}
	o.Progress(step)
	return err
}

func (o Options) fetchFrom(ctx context.Context, work string, want []file) error {
	step := Step{Name: o.From, State: Started}
	for _, f := range want {
		step.Total += f.size
	}
	o.Progress(step)
	name, err := o.From, error(nil)
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		name, err = downloadFile(ctx, work, o.From, func(done, total int64) {
			o.Progress(Step{Name: o.From, Done: done, Total: total, State: Moving})
		})
	}
	if err == nil {
		err = install(o.Root, want, name, o.From)
	}
	return o.reportEnd(step, err)
}

// downloadFile saves the body to a file in an empty directory. Its content is
// verified like any other.
func downloadFile(ctx context.Context, dir, url string, moved func(done, total int64)) (string, error) {
	failed := func(err error) error {
		return hearken.Errorf(hearken.NotFound, "%s cannot be fetched: %w.", url, err).
			WithTry("fetch it by other means and give the file: hearken models pull --from FILE")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", failed(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", failed(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", failed(errors.New(resp.Status))
	}
	f, err := os.Create(filepath.Join(dir, "download"))
	if err != nil {
		return "", fmt.Errorf("save download: %w", err)
	}
	defer f.Close()
	stop := watchSize(dir, func(n int64) { moved(n, max(resp.ContentLength, n)) })
	_, err = io.Copy(f, io.LimitReader(resp.Body, maxUnpacked))
	stop()
	if err != nil {
		return "", failed(err)
	}
	return f.Name(), f.Close()
}

// prepare calls After for each speech model.
func (o Options) prepare(ctx context.Context, chosen []component) error {
	if o.After == nil {
		return nil
	}
	for _, c := range chosen {
		if !c.isMoonshine() {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		step := Step{Name: "prepare " + c.name, State: Started}
		o.Progress(step)
		if err := o.reportEnd(step, o.After(Moonshine(o.Root, c.name))); err != nil {
			return fmt.Errorf("prepare %s: %w", c.name, err)
		}
	}
	return nil
}
