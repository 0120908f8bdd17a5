package pscribe

import (
	"context"
	"regexp"
	"slices"

	"github.com/hearken-dev/hearken"
)

// Cat returns whole sessions. ParrotScribe does not always say which session is
// which; unknown ids are empty.
func (s *Scribe) Cat(ctx context.Context, req hearken.CatRequest) ([]hearken.ScribePage, error) {
	args, err := catArgs(req)
	if err != nil {
		return nil, err
	}
	found, err := s.pages(ctx, args, req.Filter)
	if err == nil && len(req.Sessions) == 1 && len(found) == 1 && found[0].Session == "" {
		found[0].Session = req.Sessions[0]
	}
	return found, err
}

// Grep returns what ParrotScribe finds, in pages by session. The dialect of
// the regular expression is ParrotScribe's.
func (s *Scribe) Grep(ctx context.Context, req hearken.GrepRequest) ([]hearken.ScribePage, error) {
	args, err := grepArgs(req)
	if err != nil {
		return nil, err
	}
	found, err := s.pages(ctx, args, req.Filter)
	if err != nil || req.Limit == 0 {
		return found, err
	}
	return newestMatches(found, req), nil
}

func (s *Scribe) pages(ctx context.Context, args []string, f hearken.StatusFilter) ([]hearken.ScribePage, error) {
	out, err := s.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	found := pages(readLines(out.stdout))
	for i := range found {
		found[i].Entries = filter(found[i].Entries, f)
	}
	found = slices.DeleteFunc(found, empty)
	if !slices.ContainsFunc(found, func(p hearken.ScribePage) bool { return len(p.Entries) == 0 }) {
		slices.SortStableFunc(found, func(a, b hearken.ScribePage) int {
			return a.Entries[0].Timestamp.Compare(b.Entries[0].Timestamp)
		})
	}
	return found, nil
}

// newestMatches keeps as many matches as requested, from the newest sessions first,
// with the entries around them. If the pattern is not valid here, it keeps that
// many entries.
func newestMatches(found []hearken.ScribePage, req hearken.GrepRequest) []hearken.ScribePage {
	pattern := req.Pattern
	if req.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	expr, err := regexp.Compile(pattern)
	around := req.Before > 0 || req.After > 0
	matches := 0
	for i := range slices.Backward(found) {
		kept, after := 0, 0
		for _, e := range found[i].Entries {
			hit := !around || err != nil || expr.MatchString(e.Text)
			if matches == req.Limit && (hit || after == 0) {
				break
			}
			if hit {
				matches, after = matches+1, req.After
			} else {
				after = max(after-1, 0)
			}
			kept++
		}
		found[i].Entries = found[i].Entries[:kept]
	}
	return slices.DeleteFunc(found, empty)
}

func empty(p hearken.ScribePage) bool { return len(p.Entries) == 0 && p.Raw == "" }
