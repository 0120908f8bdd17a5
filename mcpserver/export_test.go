package mcpserver

// Kept is how many servers are kept ready.
func (f *Factory) Kept() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recent.Len()
}
