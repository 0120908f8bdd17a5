// Package moonshine is the engine that hears without a network: it turns live
// sound into text on the processor, with the Moonshine models for speech and
// Silero for telling speech from other sound.
//
// A [Provider] owns the loaded models and a scheduler with one inference for
// each core; every stream shares them. Sound goes through these steps:
//
//   - The stream cuts frames of any size into windows of 32 ms, removes a
//     constant offset, and asks the voice detector how likely each is speech.
//   - The segmenter turns those numbers into stretches of speech, cut at pauses
//     and, where nobody pauses, at the quietest place before twelve seconds.
//     Recordings, for which nobody waits, are cut as rarely as possible: in the
//     longest pause of every twenty seconds.
//   - The scheduler decodes: stretches that ended first, then those that
//     probably ended (so that the wait for the pause is not lost), then
//     unconfirmed text for those who are still speaking.
//   - A stretch that follows closely on others is heard together with them, up
//     to twelve seconds, and goes on from their text. One whose text the model
//     is unsure of is mostly half a sentence and gets more time to go on.
//   - The gate decides whether the text is what was said, or what the model
//     made up for speech that it does not know; the latter is marked and never
//     shown as text.
//   - The vocabulary mends names, words get their estimated times, and the
//     segment gets a confidence that means expected word accuracy.
//
// What a stream says depends only on its sound, not on how the sound was cut
// into frames nor on how busy the machine is: load delays finals and thins out
// unconfirmed text, but changes no confirmed word.
package moonshine
