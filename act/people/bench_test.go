package people

import (
	"fmt"
	"testing"

	"github.com/hearken-dev/hearken"
)

// BenchmarkBook_Resolve looks for a name that nobody has, which is the
// longest search, in a large book.
func BenchmarkBook_Resolve(b *testing.B) {
	var big shelf
	for i := range 5000 {
		big = append(big, hearken.Contact{
			ID: fmt.Sprint(i), Name: fmt.Sprintf("Žaneta Nováková %d", i), Aliases: []string{fmt.Sprintf("Zani %d", i)}, Emails: []string{fmt.Sprintf("z%d@example.com", i)},
		})
	}
	book := New(big)
	for _, to := range []string{"Somebody Else", "new@examp1e.com"} {
		b.Run(to, func(b *testing.B) {
			for b.Loop() {
				if r, err := book.Resolve(b.Context(), to, "", everything); err == nil && r.Known {
					b.Fatal("found")
				}
			}
		})
	}
}
