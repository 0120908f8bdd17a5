// Package stttest holds what the tests of engines and of their users share:
// one suite that every [hearken.Provider] must pass, and small providers that
// say what a script tells them to, fail when asked to, or say nothing.
//
// A provider's own test runs the suite over itself:
//
//	func TestProvider(t *testing.T) {
//		stttest.Run(t, func(t *testing.T) hearken.Provider {
//			return open(t)
//		}, stttest.Options{Speech: clips, Language: "en"})
//	}
package stttest
