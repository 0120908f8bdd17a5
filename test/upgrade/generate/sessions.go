package main

// What is said. The first session has both sides of a call and a long pause.
// The end of the second is forgotten. The third is not over when the hub stops.
var (
	english = &recording{language: "en", sides: 2, seconds: 12, phrases: []phrase{
		{side: 0, start: 0.5, end: 2.5, text: "We need forty crates of apples by Friday."},
		{side: 1, start: 3, end: 5, text: "Please write to zoe@example.net about the van."},
		{side: 0, start: 9, end: 11, text: "Send the invoice to Mrs. Okonkwo."},
	}}
	japanese = &recording{language: "ja", sides: 1, seconds: 11, phrases: []phrase{
		{start: 0.5, end: 2, text: "来週の火曜日に京都で会いましょう。", words: []string{"来週", "の", "火曜日", "に", "京都", "で", "会いましょう。"}},
		{start: 2.5, end: 4.5, text: "新しい契約書を準備してください。", words: []string{"新しい", "契約書", "を", "準備", "して", "ください。"}},
		{start: 8, end: 10, text: "これは秘密です。", words: []string{"これ", "は", "秘密", "です。"}},
	}}
	portuguese = &recording{language: "pt-BR", sides: 1, seconds: 6, phrases: []phrase{
		{start: 0.5, end: 2.5, text: "A reunião de amanhã começa às nove."},
		{start: 3, end: 5, text: "Não se esqueça do relatório."},
	}}
)

const (
	forgotten = "秘密" // is in the last phrase of the second session
	note      = "# Market\n\n- forty crates until **Friday**\n- the van: ask Zoë\n"
)

// queries are searched for when the data is opened.
var queries = []string{"apples", `"forty crates"`, "invoice", "lunch", "京都", "契約書", "reunião", "relatorio", forgotten}

// makeSessions makes the two sessions that are over.
func (s *scenario) makeSessions() error {
	first, err := s.transcribe(s.key, english, map[string]any{
		"title": "Harvest market", "vocabulary": []string{"Okonkwo"}, "model": "nova-3",
	})
	if err != nil {
		return err
	}
	second, err := s.transcribe("", japanese, map[string]any{})
	if err != nil {
		return err
	}
	s.expected.Exported, s.expected.Forgotten = first.SessionID, forgotten
	for _, call := range []struct {
		tool string
		args map[string]any
	}{
		{"stop_transcription", map[string]any{"sessionId": first.SessionID}},
		{"save_note", map[string]any{"sessionId": first.SessionID, "text": note}},
		{"forget_recent", map[string]any{"sessionId": second.SessionID, "minutes": 0.1}},
		{"stop_transcription", map[string]any{"sessionId": second.SessionID}},
		{"save_note", map[string]any{"sessionId": second.SessionID, "title": "京都"}},
	} {
		if err := s.CallAs(s.ctx, s.key, call.tool, call.args, nil); err != nil {
			return err
		}
	}
	return nil
}

// A started is the answer to start_transcription.
type started struct{ SessionID, WSEndpoint string }

// transcribe sends a recording to a new session, until every phrase is
// confirmed.
func (s *scenario) transcribe(key string, r *recording, args map[string]any) (session started, err error) {
	args["language"] = r.language
	if err := s.CallAs(s.ctx, key, "start_transcription", args, &session); err != nil {
		return session, err
	}
	if err := r.send(s.ctx, session.WSEndpoint); err != nil {
		return session, err
	}
	return session, waitUntil(s.ctx, "every phrase is confirmed", func() (bool, error) {
		var page struct{ Segments []struct{ Text string } }
		if err := s.CallAs(s.ctx, s.key, "get_transcription", map[string]any{"sessionId": session.SessionID}, &page); err != nil {
			return false, err
		}
		spoken := 0
		for _, segment := range page.Segments {
			if segment.Text != "" {
				spoken++
			}
		}
		return spoken == len(r.phrases), nil
	})
}

// keepScribeSession has the hub keep a session that ParrotScribe hears.
func (s *scenario) keepScribeSession() error {
	if err := s.CallAs(s.ctx, s.key, "pscribe_start", map[string]any{}, nil); err != nil {
		return err
	}
	err := waitUntil(s.ctx, "ParrotScribe's session is kept", func() (bool, error) {
		var list struct {
			Sessions []struct {
				Provider     string
				SegmentCount int
			}
		}
		err := s.CallAs(s.ctx, s.key, "list_sessions", map[string]any{}, &list)
		for _, session := range list.Sessions {
			if session.Provider == "pscribe" && session.SegmentCount == scribeTexts {
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		return err
	}
	return s.CallAs(s.ctx, s.key, "pscribe_stop", map[string]any{}, nil)
}
