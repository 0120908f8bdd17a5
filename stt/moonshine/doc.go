// Package moonshine is the offline engine: it turns live audio into text on
// this computer's processor, with the Moonshine models for speech and Silero
// for voice detection.
//
// A [Provider] owns the loaded models and a scheduler with one inference for
// each core; all streams share them. Audio goes through these steps:
//
//   - The stream cuts frames of any size into windows of 32 ms, removes a
//     constant offset, and asks the voice detector how likely each is speech.
//   - Package utterance turns those numbers into utterances, cut at pauses and,
//     if nobody pauses, at the quietest window before twelve seconds.
//     Recordings, for which nobody waits, are cut as rarely as possible: in the
//     longest pause of every twenty seconds.
//   - The scheduler decodes: first utterances that ended, then those that
//     probably ended (so that the wait for the pause is not lost), then
//     unconfirmed text for those who are still speaking.
//   - An utterance that follows closely on others is decoded together with
//     them, up to twelve seconds, and continues their text. If the model is
//     unsure of its text, it is mostly half a sentence and gets more time.
//   - The plausibility decides whether the text is what was said, or what the
//     model made up for speech that it does not know. The latter is marked and
//     never shown as text.
//   - The vocabulary corrects names, words get estimated times, and the segment
//     gets a confidence that means expected word accuracy.
//
// What a stream transcribes depends only on its audio, not on how the audio was
// cut into frames nor on how busy the computer is: load delays finals and
// reduces unconfirmed text, but changes no confirmed word.
package moonshine
