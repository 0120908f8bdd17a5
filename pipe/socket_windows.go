package pipe

// checkPrivate relies on the access list of the user's temporary directory.
func checkPrivate(string) error { return nil }
