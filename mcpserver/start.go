package mcpserver

import (
	"context"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

type startIn struct {
	Language   string   `json:"language,omitempty" jsonschema:"BCP 47 tag such as en or pt-BR. Default: the provider's" max:"35"`
	Provider   string   `json:"provider,omitempty" jsonschema:"Speech engine such as local or deepgram. Several, separated by commas, take over from each other on failure. Default: the hub's" max:"64"`
	Title      string   `json:"title,omitempty" max:"200"`
	Model      string   `json:"model,omitempty" jsonschema:"As the provider names it" max:"100"`
	Vocabulary []string `json:"vocabulary,omitempty" jsonschema:"Names and terms to expect" max:"500"`
	Translate  bool     `json:"translate,omitempty" jsonschema:"Add an English translation of each entry, if the engine can"`
}

type startOut struct {
	SessionID  string `json:"sessionId"`
	WSEndpoint string `json:"wsEndpoint"`
	Language   string `json:"language"`
	Provider   string `json:"provider"`
}

func startTranscription() *tool {
	return define("start_transcription", "Start a transcription",
		"Starts a session for audio that is sent over a WebSocket. Send PCM16, WAV, Ogg/Opus or WebM/Opus as binary frames to wsEndpoint, which is secret; read the text with get_transcription.",
		effect{openWorld: true},
		func(ctx context.Context, tc *toolContext, in startIn) (startOut, error) {
			if err := checkVocabulary(in.Vocabulary); err != nil {
				return startOut{}, err
			}
			s, err := tc.Hub.Start(ctx, startRequest(tc.caller, in))
			if err != nil {
				return startOut{}, err
			}
			ticket, err := tc.Hub.Ticket(s.ID)
			if err != nil {
				return startOut{}, err
			}
			return startOut{s.ID, tc.AudioURL(ctx, s.ID, ticket), s.Language, s.Provider}, nil
		})
}

func checkVocabulary(terms []string) error {
	for _, term := range terms {
		if n := utf8.RuneCountInString(term); n == 0 || n > 100 {
			return invalid("vocabulary must hold terms of 1 to 100 characters, got one of %d.", n)
		}
	}
	return nil
}

// startRequest adds the caller's defaults to a call. The caller's API key goes
// only to the caller's own provider. So does the language, because another
// engine may not know it.
func startRequest(caller hearken.Caller, in startIn) hearken.StartRequest {
	req := hearken.StartRequest{
		Provider:   in.Provider,
		Language:   in.Language,
		Title:      in.Title,
		Model:      in.Model,
		Vocabulary: in.Vocabulary,
		Translate:  in.Translate,
		Principal:  caller.Principal,
	}
	if req.Provider == "" {
		req.Provider = caller.Provider
	}
	if req.Provider == caller.Provider {
		if req.Language == "" {
			req.Language = caller.Language
		}
		if req.Provider != "" {
			req.APIKey = caller.APIKey
		}
	}
	return req
}

// sessionIn is the input of tools that need only a session.
type sessionIn struct {
	SessionID string `json:"sessionId"`
}

type stopOut struct {
	SessionID    string                `json:"sessionId"`
	Duration     float64               `json:"duration"`
	SegmentCount int                   `json:"segmentCount"`
	Status       hearken.SessionStatus `json:"status"`
}

func stopTranscription() *tool {
	return define("stop_transcription", "Stop a transcription",
		"Stops an active session once its remaining audio is transcribed. You can still read it.",
		effect{},
		func(ctx context.Context, tc *toolContext, in sessionIn) (stopOut, error) {
			s, err := tc.Hub.Stop(ctx, in.SessionID)
			if err != nil {
				return stopOut{}, err
			}
			return stopOut{s.ID, roundToMillis(s.Duration), s.SegmentCount, s.Status}, nil
		})
}

type retranscribeIn struct {
	SessionID  string   `json:"sessionId"`
	Language   string   `json:"language,omitempty" jsonschema:"Default: as before" max:"35"`
	Provider   string   `json:"provider,omitempty" max:"64"`
	Model      string   `json:"model,omitempty" max:"100"`
	Vocabulary []string `json:"vocabulary,omitempty" jsonschema:"Names and terms to expect" max:"500"`
}

type retranscribeOut struct {
	SessionID string `json:"sessionId"` // of the new session
	Language  string `json:"language"`
	Provider  string `json:"provider"`
}

func retranscribeSession() *tool {
	return define("retranscribe_session", "Transcribe again",
		"Transcribes a stopped session again, as a new session that stops when complete. Works only if the hub kept its audio (KEEP_AUDIO).",
		effect{openWorld: true},
		func(ctx context.Context, tc *toolContext, in retranscribeIn) (retranscribeOut, error) {
			if err := checkVocabulary(in.Vocabulary); err != nil {
				return retranscribeOut{}, err
			}
			old, err := tc.Hub.Session(ctx, in.SessionID)
			if err != nil {
				return retranscribeOut{}, err
			}
			caller := tc.caller
			if old.Config.Capture {
				caller = caller.ForCapture()
			}
			req := startRequest(caller, startIn{Language: in.Language, Provider: in.Provider, Model: in.Model, Vocabulary: in.Vocabulary})
			req.Named = caller.Provider
			s, err := tc.Hub.Retranscribe(ctx, in.SessionID, req)
			if err != nil {
				return retranscribeOut{}, err
			}
			return retranscribeOut{s.ID, s.Language, s.Provider}, nil
		})
}
