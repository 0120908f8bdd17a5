//go:build !windows

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/pipe"
)

// A request that makes no sense ends neither the hub nor the connection, and a
// contact book is not too long.
func TestControl(t *testing.T) {
	app := openApp(t, testConfig(t), Options{PINRounds: 1000})
	conn, err := app.connect(t.Context(), pipe.Hello{Hearken: pipe.Version, Want: pipe.WantControl})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := app.owner.SetPIN("", "482916"); err != nil {
		t.Fatal(err)
	}
	for op := range ownerOps {
		_, err := sendControl[any](t.Context(), conn, controlRequest{Op: op, PIN: "482916"})
		if hearken.CodeOf(err) == "internal" {
			t.Errorf("%s with nothing else: %v", op, err)
		}
	}
	var book []hearken.Contact
	for i := range 5000 {
		book = append(book, hearken.Contact{ID: fmt.Sprintf("c%d", i), Name: fmt.Sprintf("Person %d", i), Emails: []string{fmt.Sprintf("p%d@example.org", i)}})
	}
	if _, err := sendControl[string](t.Context(), conn, controlRequest{Op: "contacts.import", PIN: "482916", Contacts: book}); err != nil {
		t.Fatal(err)
	}
	if got, err := sendControl[[]hearken.Contact](t.Context(), conn, controlRequest{Op: "contacts.list"}); err != nil || len(got) != len(book) {
		t.Errorf("%d contacts, %v", len(got), err)
	}
}

func TestZoneOf(t *testing.T) {
	for _, bad := range []string{"Local", "Mars/Olympus", "../../etc/passwd"} {
		if _, err := zoneOf(bad); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
	t.Setenv("TZ", "Asia/Tokyo")
	if zone, err := zoneOf(""); err != nil || zone.String() != "Asia/Tokyo" {
		t.Errorf("TZ: %v, %v", zone, err)
	}
	if zone, err := zoneOf("Europe/Berlin"); err != nil || zone.String() != "Europe/Berlin" {
		t.Errorf("by name: %v, %v", zone, err)
	}
	if _, err := time.LoadLocation("Europe/Berlin"); err != nil {
		t.Error(err)
	}
}
