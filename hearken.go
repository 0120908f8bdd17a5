// Package hearken defines the vocabulary of the Hearken speech-to-action hub:
// sessions and segments, providers and stores, actions and grants, and the
// interfaces by which the other packages work together.
//
// It contains no behaviour and imports only the standard library. [live] runs
// sessions and [act] runs actions. Adapters for engines, stores, sources and
// connectors import this package and never each other.
//
// [live]: https://pkg.go.dev/github.com/hearken-dev/hearken/live
// [act]: https://pkg.go.dev/github.com/hearken-dev/hearken/act
package hearken
