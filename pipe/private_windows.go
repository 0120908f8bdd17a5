package pipe

// private is left to the access list of the user's own temporary directory.
func private(string) error { return nil }
