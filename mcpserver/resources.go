package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/toon"
)

const (
	// currentURI is the transcript of the running capture, or else of the last.
	currentURI     = "pscribe://current/transcript"
	currentEntries = 100

	sessionPrefix, sessionSuffix = "hearken://sessions/", "/transcript"
	sessionTemplate              = sessionPrefix + "{id}" + sessionSuffix
	// sessionEntries bounds how many of a session's newest entries are shown.
	sessionEntries = 1000

	transcriptType = "text/plain" // TOON has no registered type yet
)

// addResources offers transcripts to clients that show resources to people.
func (tc *toolContext) addResources(s *mcp.Server) {
	if tc.mayRead(Scribe) {
		s.AddResource(&mcp.Resource{
			URI: currentURI, Name: "current-transcript", Title: "Live transcript", MIMEType: transcriptType,
			Description: "The live transcript of this computer's current session: the last 100 entries in TOON format.",
		}, tc.readCurrent)
	}
	if tc.mayRead(Transcription) {
		s.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: sessionTemplate, Name: "session-transcript", Title: "Transcript of a session", MIMEType: transcriptType,
			Description: "A session's transcript: its newest entries, at most 1,000, in TOON format.",
		}, tc.readSession)
	}
}

func (tc *toolContext) readCurrent(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	page, err := tc.Scribe.Tail(ctx, hearken.TailRequest{N: currentEntries, Filter: hearken.AllEntries})
	if hearken.CodeOf(err) == hearken.SessionNotFound {
		page, err = &hearken.ScribePage{Next: 1}, nil // no session yet: an empty transcript
	}
	if err != nil {
		return nil, rpcFailure(tc.errorForCaller(ctx, req.Params.URI, err))
	}
	return transcriptResource(req.Params.URI, pageObject(page, "toon")), nil
}

func (tc *toolContext) readSession(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id, ok := sessionOf(req.Params.URI)
	if !ok {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	page, err := tc.Hub.Read(ctx, live.ReadRequest{Session: id, From: -sessionEntries, Limit: sessionEntries})
	if hearken.CodeOf(err) == hearken.SessionNotFound {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, rpcFailure(tc.errorForCaller(ctx, req.Params.URI, err))
	}
	shown := &hearken.ScribePage{Session: id, Next: page.Total + 1}
	for _, seg := range page.Segments {
		if !seg.Echo {
			shown.Entries = append(shown.Entries, seg)
		}
	}
	return transcriptResource(req.Params.URI, pageObject(shown, "toon")), nil
}

// sessionOf is the session whose transcript a resource is.
func sessionOf(uri string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(uri, sessionPrefix)
	id, ok2 := strings.CutSuffix(rest, sessionSuffix)
	id = strings.ToLower(id)
	return id, ok && ok2 && hearken.ValidID(id)
}

func transcriptResource(uri string, o toon.Object) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI: uri, MIMEType: transcriptType, Text: string(toon.Encode(o)),
	}}}
}

// completions is how many sessions are offered; the protocol allows 100.
const completions = 20

// complete offers the newest sessions wherever a session's id is wanted, and
// nothing elsewhere.
func (tc *toolContext) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	switch req.Params.Argument.Name {
	case "sessionId", "session_id", "id":
	default:
		return res, nil
	}
	if !tc.mayRead(Transcription) && !tc.mayRead(Scribe) {
		return res, nil
	}
	sessions, err := tc.Hub.Sessions(ctx, hearken.SessionFilter{Limit: 10 * completions})
	if err != nil {
		tc.Log.Warn("completion failed", "error", err)
		return res, nil
	}
	prefix := strings.ToLower(req.Params.Argument.Value)
	for i := range sessions {
		if !strings.HasPrefix(sessions[i].ID, prefix) {
			continue
		}
		if len(res.Completion.Values) == completions {
			res.Completion.HasMore = true
			break
		}
		res.Completion.Values = append(res.Completion.Values, sessions[i].ID)
	}
	return res, nil
}
