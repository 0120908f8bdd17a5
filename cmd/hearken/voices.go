package main

import (
	"sync"

	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/stt/openai"
	"github.com/hearken-dev/hearken/vad"
)

// voices finds speech for engines that are asked utterance by utterance. Its
// model is loaded when it is first needed.
type voices struct {
	root string // of the models

	mu      sync.Mutex
	runtime *onnx.Runtime
	model   *vad.Model
}

// detector makes a detector for one stream.
func (v *voices) detector() (openai.Detector, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.model == nil {
		rt, err := onnx.Open(models.Library(v.root))
		if err != nil {
			return nil, err
		}
		m, err := vad.Load(rt, models.VAD(v.root))
		if err != nil {
			rt.Close()
			return nil, err
		}
		v.runtime, v.model = rt, m
	}
	return v.model.NewDetector()
}

func (v *voices) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.model != nil {
		v.model.Close()
		v.runtime.Close()
		v.model, v.runtime = nil, nil
	}
}
