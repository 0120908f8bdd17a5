//go:build accept

package models

import "testing"

// TestPull_Real fetches everything from the real registry, also for the other
// platforms, about 200 MB.
func TestPull_Real(t *testing.T) {
	root := t.TempDir()
	if err := Pull(t.Context(), Options{Root: root, Names: []string{"tiny-en", "base-en", "base-es"}, Progress: Printer(t.Output())}); err != nil {
		t.Fatal(err)
	}
	entries, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.State != Ok {
			t.Errorf("%s is %s: %s", e.Name, e.State, e.Problem)
		}
	}
	if err := Ready(root); err != nil {
		t.Error(err)
	}
	for _, platform := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"darwin", "amd64"}, {"windows", "amd64"}} {
		c, ok := runtimeComponent(platform[0], platform[1])
		if !ok {
			t.Errorf("no runtime for %v", platform)
			continue
		}
		if err := Pull(t.Context(), Options{Root: t.TempDir(), components: []component{c}}); err != nil {
			t.Errorf("%v: %v", platform, err)
		}
	}
}
