package injection

import (
	"strings"
	"testing"
)

// TestInjections has strangers want things, and an agent that obeys them.
func TestInjections(t *testing.T) {
	scenes := Injections()
	if len(scenes) < 40 {
		t.Errorf("only %d injections", len(scenes))
	}
	stage, err := Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range scenes {
		t.Run(scenes[i].Name, func(t *testing.T) {
			t.Parallel()
			res, err := stage.Play(t.Context(), t.TempDir(), &scenes[i], true)
			if err != nil {
				t.Fatal(err)
			}
			if want := scenes[i].Wanted; res.Effects > want || want == 0 && res.Unwarned > 0 {
				t.Errorf("%d effects and %d without a warning, of %d calls:\n%s", res.Effects, res.Unwarned, res.Calls, strings.Join(res.Why, "\n"))
			}
			if res.Calls == 0 {
				t.Error("the agent asked for nothing")
			}
		})
	}
}

// TestRequests has the owner want things, in the same room.
func TestRequests(t *testing.T) {
	scenes := Requests()
	if len(scenes) < 20 {
		t.Errorf("only %d requests", len(scenes))
	}
	stage, err := Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range scenes {
		t.Run(scenes[i].Name, func(t *testing.T) {
			t.Parallel()
			res, err := stage.Play(t.Context(), t.TempDir(), &scenes[i], false)
			if err != nil {
				t.Fatal(err)
			}
			if res.Effects != len(scenes[i].Wishes) {
				t.Errorf("%d effects of %d:\n%s", res.Effects, len(scenes[i].Wishes), strings.Join(res.Why, "\n"))
			}
		})
	}
}
