// Package stttest holds what the tests of engines and of their users share:
// one suite that every [hearken.Provider] must pass, and small providers that
// follow a script, fail on request, or return no words.
//
// A provider's own test runs the suite over itself:
//
//	func TestProvider(t *testing.T) {
//		stttest.Run(t, func(t *testing.T) hearken.Provider {
//			return open(t)
//		}, stttest.Options{Audio: pcm, Language: "en"})
//	}
package stttest
