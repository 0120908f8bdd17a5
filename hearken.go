// Package hearken holds the words of the Hearken speech-to-action hub: what a
// session is, what a segment is, and what the parts that hear, remember and
// act promise each other.
//
// The package has no behaviour of its own and imports only the standard
// library. Behaviour lives in the verb packages ([live] hears and remembers);
// everything that talks to the world (engines, stores, sources) lives in leaf
// packages that import this one and never each other.
//
// [live]: https://pkg.go.dev/github.com/hearken-dev/hearken/live
package hearken
