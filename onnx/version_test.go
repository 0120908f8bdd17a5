package onnx

import "testing"

func TestSupported(t *testing.T) {
	for version, want := range map[string]bool{
		"1.24.0": true, "1.28.2": true, "1.100.0": true,
		"1.23.9": false, "1.9": false, "2.0.0": false, "": false, "1": false, "1.x.2": false,
	} {
		if got := supported(version); got != want {
			t.Errorf("supported(%q) = %v", version, got)
		}
	}
}
