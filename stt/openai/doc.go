// Package openai lets sessions be heard by OpenAI, and by every other server
// that has its transcription endpoint: Groq, speaches, whisper.cpp, vLLM.
//
//	p := openai.New(openai.Config{BaseURL: "http://localhost:8000/v1", Model: "whisper-large-v3"})
//	stream, err := p.Open(ctx, hearken.StreamConfig{Language: "sv"})
//
// The endpoint takes files, not streams. So a voice detector stands in front
// and cuts the sound into utterances, in the speaker's pauses, and each goes
// out as a small WAV file of its own. Sound without speech is never sent: it
// would cost money, and Whisper makes up words where there are none.
//
// Up to two requests of a stream are under way at a time; their words come out
// in the order in which they were said. A request that fails for the moment is
// repeated twice; then the stream fails, and whoever opened it opens another
// from the end of the last final on.
//
// There are no unconfirmed words while somebody speaks, for each look would
// cost another request. Models that tell their text piece by piece (OpenAI's
// gpt-4o-transcribe and its kin) show it once the utterance has ended. Word
// times are used where a server gives them; else they are estimates.
package openai
