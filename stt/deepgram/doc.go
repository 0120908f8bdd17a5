// Package deepgram lets sessions be heard by Deepgram's streaming API, or by
// any server that speaks it, over one WebSocket for each channel of sound.
//
//	p := deepgram.New(deepgram.Config{APIKey: key})
//	stream, err := p.Open(ctx, hearken.StreamConfig{Language: "pt-BR", Interim: true})
//
// A stream is one connection: it never reconnects. When the connection is lost
// the stream fails, and whoever opened it opens another from the end of the
// last final on. Deepgram counts time from the first sound of a connection;
// segments are told on the session's clock.
//
// Every result that Deepgram calls final becomes a final segment at once, or
// one for each speaker in it, and does not wait for the end of the utterance
// (speech_final): its words will not change, so they are safe as soon as they
// are told, and after a loss only what came later has to be heard again.
// Waiting would put at risk everything that somebody says in one breath.
//
// What Deepgram asks of its clients is kept here: sound within ten seconds of
// opening, KeepAlive as a text message while there is none, no empty binary
// message, sound no faster than 1.25 times real time.
package deepgram
