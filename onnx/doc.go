// Package onnx runs neural networks with ONNX Runtime without cgo, so that
// every cross-built release can transcribe.
//
// It is a small binding to the C API of a library that is loaded when the
// program runs:
//
//	rt, err := onnx.Open("libonnxruntime.so")
//	session, err := rt.Open("model.onnx")
//	x, err := onnx.NewTensor[float32](rt, 1, 512)
//	copy(onnx.Data[float32](x), samples)
//	call, err := session.NewCall([]string{"input"}, []string{"output"})
//	call.SetInput(0, x)
//	err = call.Run()
//	y := call.Take(0)
//
// A [Runtime] and a [Session] may be used by several goroutines at once; a
// [Call] and a [Value] are used by one goroutine at a time. Tensors are in the
// library's memory, which the garbage collector does not free: what is opened
// or made must be closed.
package onnx
