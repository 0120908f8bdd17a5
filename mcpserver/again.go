package mcpserver

import "context"

type againIn struct {
	SessionID  string   `json:"sessionId"`
	Language   string   `json:"language,omitempty" jsonschema:"Default: as before" max:"35"`
	Provider   string   `json:"provider,omitempty" max:"64"`
	Model      string   `json:"model,omitempty" max:"100"`
	Vocabulary []string `json:"vocabulary,omitempty" jsonschema:"Names and terms to expect" max:"500"`
}

type againOut struct {
	SessionID string `json:"sessionId"`
	Language  string `json:"language"`
	Provider  string `json:"provider"`
}

func retranscribeSession() *tool {
	return define("retranscribe_session", "Transcribe again",
		"Transcribes a stopped session again, as a new session that stops when complete. Works only if the hub kept its audio (KEEP_AUDIO).",
		effect{openWorld: true},
		func(ctx context.Context, d *desk, in againIn) (againOut, error) {
			id, err := session(in.SessionID)
			if err != nil {
				return againOut{}, err
			}
			if err := checkVocabulary(in.Vocabulary); err != nil {
				return againOut{}, err
			}
			s, err := d.hub.Retranscribe(ctx, id, d.startRequest(startIn{
				Language: in.Language, Provider: in.Provider, Model: in.Model, Vocabulary: in.Vocabulary,
			}))
			if err != nil {
				return againOut{}, err
			}
			return againOut{s.ID, s.Language, s.Provider}, nil
		})
}
