// Package storetest holds every store to the same promises: one suite that
// all of them pass, and a store that misbehaves on demand for the tests of
// those who use one.
package storetest
