// Package deepgram transcribes sessions with Deepgram's streaming API, or with
// any server that speaks it, over one WebSocket for each channel of audio.
//
//	p := deepgram.New(deepgram.Config{APIKey: key})
//	stream, err := p.Open(ctx, hearken.StreamConfig{Language: "pt-BR", Interim: true})
//
// A stream is one connection: it never reconnects. When the connection is lost
// the stream fails, and the caller opens another from the end of the last
// final. Deepgram counts time from the first audio of a connection; segments
// have times on the session's clock.
//
// Every result that Deepgram calls final becomes a final segment at once, or
// one for each speaker in it, without waiting for the end of the utterance
// (speech_final). Its words will not change, so they are safe at once, and
// after a loss only what came later has to be transcribed again. Waiting would
// put everything that somebody says in one breath at risk.
//
// The package follows Deepgram's rules for clients: audio within ten seconds of
// opening, KeepAlive as a text message while there is none, no empty binary
// message, audio no faster than 1.25 times real time.
package deepgram
