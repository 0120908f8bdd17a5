package live

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
)

func TestHub_StoreInTrouble(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.store.Fail(errors.New("disk full"))
		h.send(in, 60)
		h.want(id, words(0, 30))
		st := h.status(id)
		if st.Health != "storage_trouble" || st.Unsaved != 30 || !strings.Contains(st.StoreError, "disk full") || !st.Durable {
			h.Errorf("while the store fails: %+v", st)
		}
		h.store.Fail(nil)
		h.send(in, 40)
		st = h.status(id)
		if st.Health != "ok" || st.Unsaved > 10 || st.StoreError != "" {
			h.Errorf("after it is well again: %+v", st)
		}
	})
}

func TestHub_StoreThatHangs(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		release := h.store.Stall()
		h.send(h.attach(id), 60)
		h.want(id, words(0, 30))
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		h.want(id, words(0, 30)) // from memory, since the store does not answer
		release()
		wait(time.Minute)
		if h.hub.find(id) != nil {
			h.Error("the session was not saved once the store answered")
		}
		h.want(id, words(0, 30))
	})
}

// A store that hangs delays nobody for long: not readers, not new sessions, not
// closing.
func TestHub_StoreThatHangsHoldsUpNobody(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.send(in, 4)
		release := h.store.Stall()
		begun := time.Now()
		if st := h.status(id); st.Session.ID != id || time.Since(begun) > 0 {
			h.Errorf("the status took %s", time.Since(begun))
		}
		if _, err := h.hub.Sessions(h.Context(), hearken.SessionFilter{}); hearken.CodeOf(err) != hearken.RepositoryError {
			h.Errorf("a list from a store that hangs: %v", err)
		}
		if _, err := h.hub.Search(h.Context(), hearken.Query{Text: "word"}); hearken.CodeOf(err) != hearken.RepositoryError {
			h.Errorf("a search in a store that hangs: %v", err)
		}
		for range 8 { // stopped, but not yet saved, and no longer active
			if _, err := h.hub.Stop(h.Context(), h.start()); err != nil {
				h.Fatal(err)
			}
		}
		if took := time.Since(begun); took > 2*time.Minute {
			h.Errorf("all of it took %s", took)
		}
		begun = time.Now()
		h.close()
		if took := time.Since(begun); took > 10*time.Second {
			h.Errorf("the hub took %s to end", took)
		}
		release()
		h.open()
		h.want(id, words(0, 2))
	}, func(c *Config) { c.MaxSessions = 2 })
}

// What is confirmed during a write to the store is not part of it.
func TestHub_StoreThatDawdles(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.store.Slow(3 * time.Second)
		wait(30 * time.Second) // the session is saved before it has any entry
		h.send(h.attach(id), 40)
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		wait(time.Minute)
		h.store.Slow(0)
		if h.hub.find(id) != nil {
			h.Fatal("not saved after a minute")
		}
		h.want(id, words(0, 20))
	})
}

// A faultyFile is a journal file on a disk that can fail or hang.
type faultyFile struct {
	journalFile
	disk *faultyDisk
}

type faultyDisk struct {
	stuck bool // nor can a failed write be undone
	mu    sync.Mutex
	err   error
	gate  chan struct{}
}

func (d *faultyDisk) set(err error, gate chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.gate = err, gate
}

func (f *faultyFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	err, gate := f.disk.err, f.disk.gate
	f.disk.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if err != nil {
		n, _ := f.journalFile.Write(p[:len(p)/2]) // as a full disk does
		return n, err
	}
	return f.journalFile.Write(p)
}

func (f *faultyFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	err := f.disk.err
	f.disk.mu.Unlock()
	if err != nil && f.disk.stuck {
		return err
	}
	return f.journalFile.Truncate(size)
}

func TestHub_JournalInTrouble(t *testing.T) {
	for _, kind := range []string{"Fails", "Stuck", "Hangs"} {
		t.Run(kind, func(t *testing.T) {
			disk := &faultyDisk{stuck: kind == "Stuck"}
			withHub(t, func(h *testHub) {
				h.hub.openJournal = func(path string) (journalFile, error) {
					f, err := openJournalFile(path)
					return &faultyFile{f, disk}, err
				}
				id := h.start()
				in := h.attach(id)
				h.send(in, 4)
				gate := make(chan struct{})
				if kind != "Hangs" {
					disk.set(errors.New("no space left on device"), nil)
				} else {
					disk.set(nil, gate)
				}
				h.send(in, 4)
				wait(time.Second)
				h.want(id, words(0, 4))
				page, _ := h.hub.Read(h.Context(), ReadRequest{Session: id})
				if page.Segments[3].Durable || !page.Segments[0].Durable {
					h.Error("what is not in the journal is shown as durable, or the other way round")
				}
				if st := h.status(id); st.Durable || st.Health != "storage_trouble" {
					h.Errorf("status %+v", st)
				}
				disk.set(nil, nil)
				close(gate)
				wait(2 * time.Second)
				synctest.Wait()
				if st := h.status(id); !st.Durable {
					h.Errorf("after the disk is well again: %+v", st)
				}
				h.send(in, 4)
				h.killed()
				h.want(id, words(0, 6))
			})
		})
	}
}
