package storetest

import (
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

var auditHeadTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		equal(t, []hearken.AuditHead{}, auditHeads(t, store))
		first := hearken.AuditHead{Name: "audit", Key: "hearken-audit+1+AAAA", Checkpoint: "hearken audit\n7\n\n— 数据\n", SavedAt: noon}
		second := hearken.AuditHead{Name: "/home/ann/数据/audit", Key: "k", Checkpoint: "c", SavedAt: noon.Add(time.Hour)}
		for _, h := range []hearken.AuditHead{first, second} {
			saveAuditHead(t, store, &h)
		}
		equal(t, []hearken.AuditHead{second, first}, auditHeads(t, store))
		first.Key, first.Checkpoint, first.SavedAt = "another", "hearken audit\n8\n", noon.Add(time.Minute)
		saveAuditHead(t, store, &first)
		equal(t, []hearken.AuditHead{second, first}, auditHeads(t, store))
	}},
	{"TimesOfOtherZones", func(t *testing.T, store hearken.Store) {
		at := time.Date(2026, 3, 14, 21, 0, 0, 123456789, time.FixedZone("", 9*3600))
		saveAuditHead(t, store, &hearken.AuditHead{Name: "audit", SavedAt: at})
		if got, want := auditHeads(t, store)[0].SavedAt, at.Truncate(time.Microsecond).UTC(); got != want {
			t.Errorf("saved at %v, want %v", got, want)
		}
	}},
}

func saveAuditHead(t *testing.T, store hearken.Store, h *hearken.AuditHead) {
	t.Helper()
	if err := store.SaveAuditHead(t.Context(), h); err != nil {
		t.Fatalf("save audit head: %v", err)
	}
}

func auditHeads(t *testing.T, store hearken.Store) []hearken.AuditHead {
	t.Helper()
	heads, err := store.AuditHeads(t.Context())
	if err != nil {
		t.Fatalf("audit heads: %v", err)
	}
	return heads
}

// ReadsAuditHeads checks that the audit heads of a store can be read without
// opening it: before it exists, and beside a process that has it open.
func ReadsAuditHeads(t *testing.T, open func() hearken.Store, read func() ([]hearken.AuditHead, error)) {
	t.Helper()
	if heads, err := read(); err != nil || len(heads) != 0 {
		t.Errorf("before the store exists: %v, %v", heads, err)
	}
	store := open()
	if heads, err := read(); err != nil || len(heads) != 0 {
		t.Errorf("of an empty store: %v, %v", heads, err)
	}
	want := hearken.AuditHead{Name: "audit", Key: "k", Checkpoint: "c", SavedAt: noon}
	saveAuditHead(t, store, &want)
	heads, err := read()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, []hearken.AuditHead{want}, heads)
}
