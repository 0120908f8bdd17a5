package schedule

import (
	"math"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/hearken-dev/hearken"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// moment reads a time that the test knows to be right.
func moment(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestLength(t *testing.T) {
	for _, tt := range []struct {
		minutes float64
		want    time.Duration
	}{
		{1, time.Minute}, {30, 30 * time.Minute}, {10080, 7 * 24 * time.Hour},
		{1.01, 61 * time.Second}, {22.5, 22*time.Minute + 30*time.Second},
		{0, 0}, {-5, 0}, {0.5, 0}, {10081, 0}, {1e300, 0}, {math.NaN(), 0}, {math.Inf(1), 0}, {math.Inf(-1), 0},
	} {
		got, err := Length(tt.minutes)
		if got != tt.want {
			t.Errorf("%v minutes: %v", tt.minutes, got)
		}
		if code := hearken.CodeOf(err); (tt.want == 0) != (code == hearken.DurationOutOfRange) {
			t.Errorf("%v minutes: error %v", tt.minutes, err)
		}
	}
}
