// Package vad detects speech in audio, so that engines work only when somebody
// speaks. It runs the Silero model, version 5 or 6.
package vad

import (
	"cmp"
	"fmt"
	"os"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/onnx"
)

// FrameSize is the number of samples at [hearken.SampleRate] that a detector
// takes at a time: 32 ms.
const FrameSize = 512

// context is how many samples of the last frame the model sees once more.
// Without them the probabilities are wrong.
const context = 64

// A Model is the loaded network, shared by all detectors. It may be used by
// several goroutines at once.
type Model struct {
	rt      *onnx.Runtime
	session *onnx.Session
}

// Load loads the model file.
func Load(rt *onnx.Runtime, path string) (*Model, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, hearken.Errorf(hearken.ProviderNotConfigured, "The voice detector's file %s cannot be read: %w.", path, err).
			WithTry("hearken models pull")
	}
	s, err := rt.Open(path)
	if err != nil {
		return nil, damagedError(path, err)
	}
	m := &Model{rt: rt, session: s}
	// Find out now if the file is not Silero, not in the first stream.
	d, err := m.NewDetector()
	if err == nil {
		_, err = d.Feed(make([]float32, FrameSize))
		d.Close()
	}
	if err != nil {
		s.Close()
		return nil, damagedError(path, err)
	}
	return m, nil
}

func damagedError(path string, err error) error {
	return hearken.Errorf(hearken.ProviderNotConfigured, "The voice detector's file %s is damaged or of another kind: %w.", path, err).
		WithTry("hearken models pull")
}

// Close frees the model. All detectors must have been closed.
func (m *Model) Close() { m.session.Close() }

// A Detector follows one stream of audio. It is used by one goroutine at a time
// and must be closed.
type Detector struct {
	call   *onnx.Call
	window *onnx.Value    // the input: context and frame
	rate   *onnx.Value    // samples per second
	prob   *onnx.Value    // the output
	state  [2]*onnx.Value // the model's memory, before and after a frame
	now    int            // which of the two is before
	frame  []float32      // the window's memory
	answer []float32      // the probability's memory
}

// NewDetector makes a detector for a new stream.
func (m *Model) NewDetector() (*Detector, error) {
	d := new(Detector)
	var errs [6]error
	d.call, errs[0] = m.session.NewCall([]string{"input", "state", "sr"}, []string{"output", "stateN"})
	d.window, errs[1] = onnx.NewTensor[float32](m.rt, 1, context+FrameSize)
	d.rate, errs[2] = onnx.NewTensor[int64](m.rt)
	d.prob, errs[3] = onnx.NewTensor[float32](m.rt, 1, 1)
	for i := range d.state {
		d.state[i], errs[4+i] = onnx.NewTensor[float32](m.rt, 2, 1, 128)
	}
	if err := cmp.Or(errs[:]...); err != nil {
		d.Close()
		return nil, err
	}
	onnx.Data[int64](d.rate)[0] = hearken.SampleRate
	d.frame, d.answer = onnx.Data[float32](d.window), onnx.Data[float32](d.prob)
	d.call.SetInput(0, d.window)
	d.call.SetInput(2, d.rate)
	d.call.SetOutput(0, d.prob)
	return d, nil
}

// Feed takes the next [FrameSize] samples, in -1 to 1, and returns the
// probability that they hold speech.
func (d *Detector) Feed(samples []float32) (float32, error) {
	if len(samples) != FrameSize {
		return 0, fmt.Errorf("detect voice: %d samples, not %d", len(samples), FrameSize)
	}
	copy(d.frame, d.frame[FrameSize:])
	copy(d.frame[context:], samples)
	d.call.SetInput(1, d.state[d.now])
	d.call.SetOutput(1, d.state[1-d.now])
	if err := d.call.Run(); err != nil {
		return 0, fmt.Errorf("detect voice: %w", err)
	}
	d.now = 1 - d.now
	return d.answer[0], nil
}

// Reset forgets all earlier audio.
func (d *Detector) Reset() {
	clear(d.frame)
	for _, s := range d.state {
		clear(onnx.Data[float32](s))
	}
}

// Close frees the detector. It may be called more than once.
func (d *Detector) Close() {
	d.call.Close()
	for _, v := range []*onnx.Value{d.window, d.rate, d.prob, d.state[0], d.state[1]} {
		v.Close()
	}
	d.call, d.frame, d.answer = nil, nil, nil
}
