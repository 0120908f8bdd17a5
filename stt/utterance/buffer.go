package utterance

import "github.com/hearken-dev/hearken"

// A Buffer holds the audio that may still be needed.
type Buffer[T int16 | float32] struct {
	Base int64 // position of the first sample
	PCM  []T
}

// End is the position after the last sample.
func (b *Buffer[T]) End() int64 { return b.Base + int64(len(b.PCM)) }

// Append adds samples at the end.
func (b *Buffer[T]) Append(pcm ...T) { b.PCM = append(b.PCM, pcm...) }

// Copy returns the audio between two positions.
func (b *Buffer[T]) Copy(from, to int64) []T {
	return append([]T(nil), b.PCM[from-b.Base:to-b.Base]...)
}

// Forget drops the audio before a position, in batches of a second and more so
// that the cost of moving the rest does not matter.
func (b *Buffer[T]) Forget(before int64) {
	drop := min(before, b.End()) - b.Base
	if drop < hearken.SampleRate {
		return
	}
	n := copy(b.PCM, b.PCM[drop:])
	b.PCM, b.Base = b.PCM[:n], b.Base+drop
}
