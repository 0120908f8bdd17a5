package mcpserver

import "context"

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
			id, err := parseSessionID(in.SessionID)
			if err != nil {
				return retranscribeOut{}, err
			}
			if err := checkVocabulary(in.Vocabulary); err != nil {
				return retranscribeOut{}, err
			}
			s, err := tc.hub.Retranscribe(ctx, id, tc.startRequest(startIn{
				Language: in.Language, Provider: in.Provider, Model: in.Model, Vocabulary: in.Vocabulary,
			}))
			if err != nil {
				return retranscribeOut{}, err
			}
			return retranscribeOut{s.ID, s.Language, s.Provider}, nil
		})
}
