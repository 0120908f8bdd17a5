package mcpserver

import "context"

type againIn struct {
	SessionID  string   `json:"sessionId" jsonschema:"UUID of the session"`
	Language   string   `json:"language,omitempty" jsonschema:"left out: as before" max:"35"`
	Provider   string   `json:"provider,omitempty" max:"64"`
	Model      string   `json:"model,omitempty" max:"100"`
	Vocabulary []string `json:"vocabulary,omitempty" jsonschema:"names and terms to expect" max:"500"`
}

type againOut struct {
	SessionID string `json:"sessionId" jsonschema:"the new session; it stops when it is complete"`
	Language  string `json:"language"`
	Provider  string `json:"provider"`
}

func retranscribeSession() *tool {
	return define("retranscribe_session", "Transcribe again",
		"Transcribes the kept sound of a stopped session anew, as a session of its own. Works for sessions whose sound was kept (KEEP_AUDIO).",
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
