package moonshine

import "testing"

func TestPlausibility(t *testing.T) {
	g := plausibilityFor("en")
	for _, tt := range []struct {
		name string
		f    features
		want bool
	}{
		{"Clear", features{tokens: 20, sure: -0.05, weak: -0.3}, false},
		{"Mumbled", features{tokens: 20, sure: -0.4, weak: -1, second: true, sure2: -0.5, disagree: 0.4}, false},
		{"ForeignToBoth", features{tokens: 20, sure: -0.95, weak: -1.8, second: true, sure2: -1.1, disagree: 0.9}, true},
		{"ForeignToOne", features{tokens: 20, sure: -1, weak: -2}, true},
		{"OneUnsureName", features{tokens: 5, sure: -0.52, weak: -1.1, second: true, sure2: -0.88, disagree: 1}, false},
		{"LoopOfDoubt", features{tokens: 20, sure: -0.4, weak: -0.8, broken: true}, true},
		{"RefrainThatIsClear", features{tokens: 20, sure: -0.02, weak: -0.1, broken: true}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := g.implausible(tt.f); got != tt.want {
				t.Errorf("strange is %v", got)
			}
			if (&plausibility{}).implausible(tt.f) {
				t.Error("the zero plausibility marks")
			}
		})
	}
}

func TestConfidence(t *testing.T) {
	clear := confidence(features{tokens: 20, sure: -0.05, weak: -0.2})
	unsure := confidence(features{tokens: 20, sure: -0.8, weak: -1.8})
	if clear < 0.9 || clear > 1 || unsure > 0.6 || unsure < 0 {
		t.Errorf("confidence %.2f for clear and %.2f for unsure speech", clear, unsure)
	}
}
