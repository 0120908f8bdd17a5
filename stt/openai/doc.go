// Package openai transcribes sessions with OpenAI, and with every other server
// that has its transcription endpoint: Groq, speaches, whisper.cpp, vLLM.
//
//	p := openai.New(openai.Config{BaseURL: "http://localhost:8000/v1", Model: "whisper-large-v3"})
//	stream, err := p.Open(ctx, hearken.StreamConfig{Language: "sv"})
//
// The endpoint takes files, not streams. So a voice detector cuts the audio
// into utterances, in the speaker's pauses, and each is sent as a small WAV
// file. Audio without speech is never sent: it would cost money, and Whisper
// makes up words where there are none.
//
// A stream sends up to two requests at a time; their words come out in the
// order in which they were said. A request that fails temporarily is repeated
// twice. Then the stream fails, and its caller opens another from the end of
// the last final.
//
// There are no unconfirmed words while somebody speaks, because each look would
// cost another request. Models that send their text piece by piece (OpenAI's
// gpt-4o-transcribe and similar ones) show it once the utterance has ended.
// Word times are the server's if it has them, otherwise estimates.
package openai
